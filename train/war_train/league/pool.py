"""A prioritised pool of opponents: those that beat the learner are sampled more often."""

from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

LEAST_WEIGHT: Final = 0.01


class OpponentPool:
    """Numbers of opponents, with the learner's score against each.

    Prioritised fictitious self-play: an opponent is sampled with a weight of ``(1 - score)**2``, at
    least `LEAST_WEIGHT`. An opponent's score starts at 1/2, as if there had been one win and one
    loss; all counts are halved whenever another joins, since the learner has changed by then.

    A pool holds at most ``size``: when one joins a full pool, the one that the learner scores most
    against leaves it, of equals the oldest.

    Args:
        size: numbers in the pool, at least 1.

    Attributes:
        numbers: those in the pool, the oldest first.
        joined: the learner's games and points, a draw being half, against these and against those
            that have left but still play.
    """

    def __init__(self, size: int) -> None:
        self.size: Final = size
        self.numbers: list[int] = []
        self.joined: dict[int, list[float]] = {}

    def score(self, number: int) -> float:
        """The learner's score against an opponent, 0 to 1."""
        games, points = self.joined[number]
        return (points + 1.0) / (games + 2.0)

    def add(self, number: int) -> None:
        """A new opponent; another leaves if there are too many."""
        for counts in self.joined.values():
            counts[:] = [count / 2.0 for count in counts]
        if len(self.numbers) >= self.size:
            self.numbers.remove(max(self.numbers, key=self.score))
        self.numbers.append(number)
        self.joined[number] = [0.0, 0.0]

    def forget(self, keep: set[int]) -> None:
        """Drops the counts of all that are not in ``keep``."""
        self.joined = {number: found for number, found in self.joined.items() if number in keep}

    def book(self, numbers: NDArray[np.int64], rewards: NDArray[np.int64]) -> None:
        """Notes games against ``numbers``, which ended with the learner's ``rewards``."""
        for number, reward in zip(numbers.tolist(), rewards.tolist(), strict=True):
            if number in self.joined:
                counts = self.joined[number]
                counts[0] += 1.0
                counts[1] += (1.0 + reward) / 2.0

    def draw(self, uniform: NDArray[np.floating]) -> NDArray[np.int64]:
        """Samples opponents, int64 (K,), with numbers (K,) that are uniform in [0, 1)."""
        scores = np.array([self.score(number) for number in self.numbers])
        sums = np.maximum((1.0 - scores) ** 2, LEAST_WEIGHT).cumsum()
        places = np.searchsorted(sums / sums[-1], uniform, side="right")
        drawn: NDArray[np.int64] = np.array(self.numbers)[places.clip(0, len(self.numbers) - 1)]
        return drawn

    def get_state(self) -> dict[str, Any]:
        """All there is, as JSON has it."""
        return {
            "numbers": list(self.numbers),
            "joined": {str(number): list(counts) for number, counts in self.joined.items()},
        }

    @classmethod
    def restored(cls, size: int, state: Any) -> Self:
        """The pool that `get_state` told of.

        Raises:
            ValueError, TypeError, LookupError, AttributeError: it told of none.
        """
        pool = cls(size)
        pool.numbers = list(state["numbers"])
        for number, counts in state["joined"].items():
            games, points = float(counts[0]), float(counts[1])
            if not 0.0 <= points <= games < float("inf"):
                raise ValueError(f"league: {points} points in {games} games against {number}")
            pool.joined[int(number)] = [games, points]
        if len(pool.numbers) > size or not set(pool.numbers) <= set(pool.joined):
            raise ValueError(f"league: pool {pool.numbers} cannot be")
        return pool
