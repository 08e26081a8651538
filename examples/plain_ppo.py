"""An algorithm of your own on many games at once: plain PPO of Stable-Baselines3, then matches.

Plain PPO knows no masks. Attack and Defence needs none: both actions are legal in every turn.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3 import PPO

from war_agents.arena import play_match
from war_envs.variant import make_variant
from war_train.vec_env import SelfPlayVecEnv

GAME = "attack-defence"
VARIANT = make_variant(GAME, "minimal", num_ranks=5)  # ten cards: games of some ten turns


class PlainPPO:
    """The trained policy as an agent: the likelier action."""

    name = "plain-ppo"
    encoding = "vector"
    memory = "perfect"

    def __init__(self, model: PPO) -> None:
        self._model = model

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """Chooses for many positions at once: a row of ``observation`` is a position."""
        actions, _ = self._model.predict(observation, deterministic=True)
        return actions, None


def main(steps: int) -> None:
    """Trains for ``steps`` decisions and prints the scores."""
    env = SelfPlayVecEnv(GAME, 64, VARIANT, opponents={"random": 1.0}, seed=1)
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=512,
        learning_rate=1e-3,
        gamma=1.0,
        gae_lambda=0.8,
        device="cpu",
        seed=1,
        verbose=1,
    )
    model.learn(steps)
    env.close()
    for name in ("memory", "random"):
        result = play_match(PlainPPO(model), name, game=GAME, variant=VARIANT, deals=200, seed=1)
        print(f"against {name:6} {result.score:.3f} [{result.low:.3f}, {result.high:.3f}]")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 80_000)
