"""Self-play without games: an environment that hands out what it recorded beforehand.

Needs the extra ``train``.
"""

from typing import Any, Final
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.bench.choose import Choices
from war_train.league.league import League
from war_train.vec_env import SelfPlayVecEnv, StepReturn

STEPS: Final = 64
_BEFORE: Final = 300  # steps that are played first, so that games are anywhere

Question = tuple[Any, ...]  # an agent, and what it was asked


class RecordedVecEnv(SelfPlayVecEnv):
    """Hands out `STEPS` steps of random play over and over, whatever the learner does.

    Each step asks the opponents again what they were asked when it was recorded.
    """

    def reset(self) -> NDArray[Any]:
        """Records."""
        super().reset()
        choose = Choices(super().action_masks().shape)
        for _ in range(_BEFORE):
            self.step_async(choose(super().action_masks()))
            super().step_wait()
        self._tape: list[tuple[StepReturn, NDArray[np.int8], list[Question]]] = []
        for _ in range(STEPS):
            asked = _Asked(self.league)
            self.step_async(choose(super().action_masks()))
            with mock.patch.object(self.league, "parts", asked):
                step = super().step_wait()
            self._tape.append((step, super().action_masks(), asked.questions))
        self._at = STEPS - 1
        return self._tape[self._at][0][0]

    def action_masks(self) -> NDArray[np.int8]:
        """Those that belong to the last observation."""
        return self._tape[self._at][1].copy()

    def step_wait(self) -> StepReturn:
        """The next step of the tape."""
        self._at = (self._at + 1) % STEPS
        (observation, rewards, dones, infos), _, questions = self._tape[self._at]
        for agent, *asked in questions:
            agent.act(*asked)
        return observation, rewards.copy(), dones, infos


class _Asked:
    """Stands for ``League.parts``, and notes what its agents are asked."""

    def __init__(self, league: League) -> None:
        self.questions: list[Question] = []
        self._parts = league.parts

    def __call__(self, *numbers: NDArray[np.int64]) -> Any:
        for agent, places in self._parts(*numbers):
            yield self._noting(agent), places

    def _noting(self, agent: Agent) -> Any:
        def act(*asked: NDArray[Any]) -> Any:
            self.questions.append((agent, *(array.copy() for array in asked)))
            return agent.act(*asked)

        return mock.Mock(
            spec=["name", "encoding", "memory", "act"],
            encoding=agent.encoding,
            memory=agent.memory,
            act=act,
        )
