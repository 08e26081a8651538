"""Self-play without games: an environment that hands out what it recorded beforehand.

Needs the extra ``train``.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.bench.choose import Choices
from war_agents.versus.opponents import Places
from war_agents.versus.seats import SeatGames
from war_train.league.league import League
from war_train.vec_env import SelfPlayVecEnv, StepReturn

STEPS: Final = 64
_BEFORE: Final = 300  # steps that are played first, so that games are anywhere

Question = tuple[Any, ...]  # an agent, and what it was asked


class RecordedVecEnv(SelfPlayVecEnv):
    """Hands out `STEPS` steps of random play over and over, whatever the learner does.

    Each step asks the opponents again what they were asked when it was recorded.
    """

    def __init__(self, *args: Any, encoding: str, memory: str, **options: Any) -> None:
        super().__init__(*args, encoding=encoding, memory=memory, **options)
        self._recorder = _Recorder(self.league)
        self._games = SeatGames(
            self.variants, self.num_envs, self._recorder, encoding=encoding, memory=memory
        )

    def reset(self) -> NDArray[Any]:
        """Records."""
        super().reset()
        choose = Choices(super().action_masks().shape)
        for _ in range(_BEFORE):
            self.step_async(choose(super().action_masks()))
            super().step_wait()
        self._tape: list[tuple[StepReturn, NDArray[np.int8], list[Question]]] = []
        for _ in range(STEPS):
            self._recorder.questions = []
            self.step_async(choose(super().action_masks()))
            step = super().step_wait()
            self._tape.append((step, super().action_masks(), self._recorder.questions))
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


class _Recorder:
    """The opponents of a league, who note what they are asked.

    Attributes:
        questions: what they have been asked; whoever has read it puts an empty list there.
    """

    def __init__(self, league: League) -> None:
        self._league = league
        self.questions: list[Question] = []

    def draw(self, uniform: NDArray[np.floating]) -> NDArray[np.int64]:
        """See `war_agents.versus.opponents.Opponents`."""
        return self._league.draw(uniform)

    def parts(
        self, numbers: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> Iterator[tuple[Agent, Places]]:
        """See `war_agents.versus.opponents.Opponents`."""
        for agent, places in self._league.parts(numbers, kinds):
            yield _Noting(agent, self.questions), places


class _Noting:
    """An agent that notes what it is asked."""

    def __init__(self, agent: Agent, questions: list[Question]) -> None:
        self.name, self.encoding, self.memory = agent.name, agent.encoding, agent.memory
        self._agent = agent
        self._questions = questions

    def act(self, *asked: Any) -> tuple[NDArray[np.int64], Any]:
        """See `war_agents.agent.Agent`."""
        self._questions.append((self._agent, *(array.copy() for array in asked)))
        return self._agent.act(*asked)
