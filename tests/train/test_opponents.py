"""An opponent of the user's that answers wrongly is named, whatever is wrong."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from war_agents.versus import OpponentFailedError
from war_envs.variant import make_variant
from war_train.league.league import League
from war_train.vec_env import SelfPlayVecEnv

NUM_ENVS = 4


class Answering:
    """Gives one answer, whatever the question."""

    name, encoding, memory = "answering", "tokens", "perfect"

    def __init__(self, answer: NDArray[Any]) -> None:
        self._answer = answer

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        return self._answer, None


@pytest.mark.parametrize(
    "answer",
    [
        np.full(NUM_ENVS, -1),
        np.full(NUM_ENVS, 7),
        np.zeros(NUM_ENVS),
        np.zeros(NUM_ENVS, np.bool_),
        np.zeros(1, np.int64),
        np.zeros((NUM_ENVS, 1), np.int64),
    ],
    ids=["below", "above", "floats", "bools", "one for all", "a column"],
)
def test_an_opponent_that_answers_wrongly_is_named(answer: NDArray[Any]) -> None:
    variant = make_variant("attack-defence", "minimal")
    league = League(variant, {"self": 1.0}, learner=Answering(answer))
    env = SelfPlayVecEnv("attack-defence", NUM_ENVS, variant, opponents=league, seed=1)
    env.reset()
    with pytest.raises(OpponentFailedError, match="agent 'answering', has failed: it "):
        env.step(np.zeros(NUM_ENVS, np.int64))
    env.close()
