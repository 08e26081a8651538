"""Pgx's games on JAX, pinned to one core, many at once at random play."""

import os

if hasattr(os, "sched_setaffinity"):  # before JAX counts the cores
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import pgx
from common import measure
from pgx.experimental import auto_reset

BATCH = 8192
STEPS = 16


class Games:
    """`BATCH` games; a call of the compiled function makes `STEPS` steps in each."""

    def __init__(self, game):
        env = pgx.make(game)
        step = jax.vmap(auto_reset(env.step, env.init))
        self._key, first = jax.random.split(jax.random.PRNGKey(1))
        self._state = jax.jit(jax.vmap(env.init))(jax.random.split(first, BATCH))

        def one(state, key):
            chosen, stepped = jax.random.split(key)
            logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
            action = jax.random.categorical(chosen, logits, axis=-1)
            state = step(state, action, jax.random.split(stepped, BATCH))
            # Observations are summed, so that the compiler cannot leave them out.
            return state, state.observation.sum()

        self._steps = jax.jit(
            lambda state, key: jax.lax.scan(one, state, jax.random.split(key, STEPS))
        )

    def work(self):
        """Some steps; the number of choices in them."""
        self._key, key = jax.random.split(self._key)
        self._state, seen = self._steps(self._state, key)
        jax.block_until_ready((self._state, seen))
        return BATCH * STEPS


for game in ("kuhn_poker", "leduc_holdem", "connect_four"):
    measure(
        f"pgx/{game}",
        Games(game).work,
        includes=f"compiled steps of JAX on one core, {STEPS} a call: observations (added "
        "up, not stored) and masks, "
        "rewards, ends, auto-reset, the random legal choice too",
        packages=("pgx", "jax", "numpy"),
        batch=BATCH,
    )
