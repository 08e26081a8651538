"""A policy that has to remember for itself: RecurrentPPO of sb3-contrib, which sees the table only.

With ``memory="table"`` an observation holds what lies in view, and nothing that was seen before:
whatever the player knows of earlier turns is in the state of its LSTM. A second match, in which the
state is thrown away after every turn, shows how much that is worth.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import RecurrentPPO

from war_agents.arena import play_match
from war_envs.variant import make_variant
from war_train.vec_env import SelfPlayVecEnv

GAME = "attack-defence"
VARIANT = make_variant(GAME, "minimal", num_ranks=3)  # six cards: short games, soon learnt


class Remembering:
    """The trained policy as an agent that carries a state from turn to turn."""

    name = "remembering"
    encoding = "vector"
    memory = "table"

    def __init__(self, model: RecurrentPPO) -> None:
        self._model = model

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """Chooses for B positions; the state is the LSTM's, two arrays (B, layers, units).

        The LSTM has its layers on the first axis. An agent has the games there, so that those which
        are over can be left out.
        """
        if state is not None:
            state = tuple(part.swapaxes(0, 1) for part in state)
        actions, after = self._model.predict(observation, state, starts, deterministic=True)
        assert after is not None  # a recurrent policy always has a state
        return actions, tuple(part.swapaxes(0, 1) for part in after)


class Forgetting(Remembering):
    """The same policy, which begins anew in every turn."""

    name = "forgetting"

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """Chooses from what lies in view, and keeps nothing."""
        actions, _ = super().act(observation, action_mask, seeds)
        return actions, None


def main(steps: int) -> None:
    """Trains for ``steps`` decisions and prints the scores."""
    env = SelfPlayVecEnv(GAME, 128, VARIANT, opponents={"attack": 1.0}, memory="table", seed=1)
    model = RecurrentPPO(
        "MlpLstmPolicy",
        env,
        n_steps=16,
        batch_size=512,
        learning_rate=3e-3,
        gamma=1.0,
        gae_lambda=0.8,
        policy_kwargs={"lstm_hidden_size": 32, "shared_lstm": True, "enable_critic_lstm": False},
        device="cpu",
        seed=1,
        verbose=1,
    )
    model.learn(steps)
    env.close()
    for player in (Remembering(model), Forgetting(model)):
        result = play_match(player, "attack", game=GAME, variant=VARIANT, deals=500, seed=1)
        print(f"{player.name:11} {result.score:.3f} [{result.low:.3f}, {result.high:.3f}]")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)
