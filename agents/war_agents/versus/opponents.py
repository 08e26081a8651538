"""Who plays in the other seats of many games at once."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent

Places = NDArray[np.int64] | slice


class Opponents(Protocol):
    """Who plays in the other seats; every opponent has a number."""

    def draw(self, uniform: NDArray[np.floating]) -> NDArray[np.int64]:
        """The opponents of new games, from numbers (K,) that are uniform in [0, 1)."""
        ...

    def parts(
        self, numbers: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> Iterable[tuple[Agent, Places]]:
        """Who chooses where, each place once.

        Args:
            numbers: int64 (K,): the opponents that shall choose.
            kinds: int64 (K,): which of the variants they play.

        Returns:
            Agents, each with the places 0 to K - 1 that it chooses for, int64 or a slice.
        """
        ...


class OneOpponent:
    """The same agent for every game."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def draw(self, uniform: NDArray[np.floating]) -> NDArray[np.int64]:
        """It is number 0 everywhere."""
        return np.zeros(len(uniform), np.int64)

    def parts(
        self, numbers: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> Iterable[tuple[Agent, Places]]:
        """It chooses everywhere."""
        return [(self._agent, slice(None))]
