"""Environments in the middle of a game, and all that can be read of one."""

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.reference.cards import Game
from tests.support.envs import AGENTS, parallel_env, raw_env, wrapped_env

# The kinds of environment, and the games that have them.
MAKERS: dict[str, Callable[..., Any]] = {
    "raw_env": raw_env,
    "env": wrapped_env,
    "parallel_env": lambda game, **options: parallel_env(**options),
}
GAME_KINDS: list[tuple[Game, str]] = [
    ("attack-defence", "raw_env"),
    ("attack-defence", "env"),
    ("attack-defence", "parallel_env"),
    ("strategic-war", "raw_env"),
    ("strategic-war", "env"),
]


def make(game: Game, kind: str, **options: Any) -> Any:
    """A new environment of a kind."""
    return MAKERS[kind](game, **options)


def is_parallel(env: Any) -> bool:
    """Does the environment take both choices at once?"""
    return not hasattr(env, "agent_iter")


def legal_choice(env: Any, agent: str, rng: random.Random) -> int:
    """One of the actions that the mask allows."""
    allowed = np.flatnonzero(env.observe(agent)["action_mask"]).tolist()
    assert allowed, "a live mover has no legal action"
    return int(rng.choice(allowed))


def advance(env: Any, rng: random.Random) -> None:
    """One step: a legal choice (or both), None for an agent whose game is over, else a new deal."""
    if not env.agents:
        env.reset()
    elif is_parallel(env):
        env.step({agent: legal_choice(env, agent, rng) for agent in AGENTS})
    elif env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
        env.step(None)
    else:
        env.step(legal_choice(env, env.agent_selection, rng))


def all_of(env: Any) -> tuple[Any, ...]:
    """All that can be read of an environment, to be compared."""
    raw = env.unwrapped
    observed = [env.observe(agent) for agent in AGENTS]
    books = [raw.rewards, raw.terminations, raw.truncations, raw.infos, raw.agents]
    if not is_parallel(env):
        books += [env.agent_selection, raw.agent_selection]
        if env.agents:
            books.append(env.last(observe=False))
    return (
        [(o["observation"].tobytes(), o["action_mask"].tobytes()) for o in observed],
        json.dumps(books),
        raw.hands,
        [raw.known(agent) for agent in AGENTS],
        env.render() if env.render_mode else None,
        raw.get_state(),
    )


def trace(env: Any, steps: int, seed: int) -> list[tuple[Any, ...]]:
    """What an environment shows in its next steps, later deals included."""
    rng = random.Random(seed)
    found = [all_of(env)]
    for _ in range(steps):
        advance(env, rng)
        found.append(all_of(env))
    return found
