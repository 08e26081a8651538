"""Who plays against the learner: itself, copies of its past, and agents by name."""

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from war_agents import Agent, make
from war_envs.variant import Variant
from war_train.config import PAST, SELF, checked_shares


class League:
    """The opponents, and how often each is met.

    Every opponent has a number that never means anybody else: each past self gets a new one. A past
    self that has left the pool still finishes the games it plays, and is then let go.

    Args:
        variant: what is played.
        shares: the share of games of each opponent, by name; they need not add up to 1. ``"self"``
            is the learner as it is now (it learns on during a game), ``"past"`` one of its past
            selves, each equally likely; other names are given to `war_agents.make`. Until there is
            a past self, the learner takes its games.
        learner: the learner as an agent; needed for shares of ``"self"`` and ``"past"``.
        past_size: past selves kept; the oldest leaves first.

    Attributes:
        names: the opponents' names, in the order of the shares.

    Raises:
        ValueError: an unknown agent, shares that are none, or no learner where one is needed.
    """

    def __init__(
        self,
        variant: Variant,
        shares: Mapping[str, float],
        *,
        learner: Agent | None = None,
        past_size: int = 8,
    ) -> None:
        checked = checked_shares(shares)
        self.names: Final = tuple(checked)
        self._past_size = past_size
        self._edges = np.cumsum(list(checked.values()))
        self._edges /= self._edges[-1]
        self._agents: dict[int, Agent] = {}
        for number, name in enumerate(self.names):
            if name in (SELF, PAST):
                if learner is None:
                    raise ValueError(f"opponents: {name!r} needs a learner, and there is none")
                self._agents[number] = learner
            else:
                self._agents[number] = make(name, game=variant.game, variant=variant)
        self._past_number = self.names.index(PAST) if PAST in checked else None
        self._pool: list[int] = []
        self._next_number = len(self.names)

    def agent(self, number: int) -> Agent:
        """The opponent with a number."""
        return self._agents[number]

    @property
    def numbers(self) -> list[int]:
        """The numbers of all opponents, past selves that only finish their games among them."""
        return list(self._agents)

    @property
    def pool(self) -> list[int]:
        """The numbers of the past selves that new games may be against, the oldest first."""
        return list(self._pool)

    @property
    def next_number(self) -> int:
        """The number that the next past self will get."""
        return self._next_number

    def past(self) -> dict[int, Agent]:
        """All past selves by number."""
        return {n: agent for n, agent in self._agents.items() if n >= len(self.names)}

    def set_past(self, agents: Mapping[int, Agent], pool: list[int], next_number: int) -> None:
        """Puts the past selves of another league in place of its own.

        Raises:
            ValueError: numbers that no league can have come to.
        """
        first = len(self.names)
        if not all(first <= number < next_number for number in agents) or not set(pool) <= set(
            agents
        ):
            raise ValueError(f"past selves {sorted(agents)}, {pool} of them in the pool, cannot be")
        own = {number: self._agents[number] for number in range(first)}
        self._agents = {**own, **agents}
        self._pool, self._next_number = list(pool), next_number

    def share_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each opponent's number, the index in `names` of the share that it belongs to."""
        past = len(self.names) if self._past_number is None else self._past_number
        return np.where(numbers < len(self.names), numbers, past)

    def draw(self, uniform: NDArray[np.floating]) -> NDArray[np.int64]:
        """The numbers of opponents for new games.

        Args:
            uniform: (K,), from 0 to below 1: all the randomness there is.
        """
        numbers = np.searchsorted(self._edges, uniform, side="right")
        if self._pool and self._past_number is not None:
            past = numbers == self._past_number
            low = self._edges[self._past_number - 1] if self._past_number else 0.0
            width = self._edges[self._past_number] - low
            place = ((uniform[past] - low) / width * len(self._pool)).astype(np.int64)
            numbers[past] = np.array(self._pool)[place.clip(0, len(self._pool) - 1)]
        return numbers

    def add_past(self, agent: Agent, playing: NDArray[np.int64]) -> int:
        """Takes in a copy of the learner and lets go those that have left the pool.

        Args:
            agent: the copy; it must not share weights with the learner.
            playing: numbers of the opponents in games that still run; they are kept.

        Returns:
            The copy's number.
        """
        number = self._next_number
        self._next_number += 1
        self._agents[number] = agent
        self._pool = [*self._pool, number][-self._past_size :]
        keep = {*range(len(self.names)), *self._pool, *playing.tolist()}
        self._agents = {n: a for n, a in self._agents.items() if n in keep}
        return number
