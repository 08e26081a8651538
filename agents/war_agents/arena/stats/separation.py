"""A sequential test that orders agents by their mean scores: it says when enough was played."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

BETS: Final = np.geomspace(0.001, 0.99, 16)
CHUNK_VALUES: Final = 1 << 20


class SeparationTest:
    """Decides for every pair of agents which has the greater expected score on a deal.

    It may be looked at after every deal, and playing may stop at any time: if deals are independent
    and identically distributed, the probability that *any* decision is ever wrong (the family-wise
    error rate) is at most 1 - confidence. Nothing else is assumed: the games of a deal may depend
    on each other, and scores may have any distribution on [0, 1].

    *Test by betting.* The null hypothesis "i does not score more than j" is tested for each ordered
    pair. Its test statistic is a wealth, 1 at the start, of which a fraction b is bet on each deal:
    with D = S_i - S_j it is multiplied by 1 + b D. Under the null hypothesis the mean of the
    wealths for 16 fixed fractions b, from 0.001 to 0.99, is a non-negative supermartingale, so that
    by Ville's inequality it ever reaches w with probability at most 1 / w. The hypothesis is
    rejected, for good, when it reaches n (n - 1) / (1 - confidence): Bonferroni's correction for
    the n (n - 1) hypotheses.

    Sources: J. Ville, "Etude critique de la notion de collectif" (1939); I. Waudby-Smith and A.
    Ramdas, "Estimating means of bounded random variables by betting", Journal of the Royal
    Statistical Society B 86 (2024); for the mean over bets H. Robbins, "Statistical methods related
    to the law of the iterated logarithm", Annals of Mathematical Statistics 41 (1970).

    Args:
        num_agents: n, at least 2.
        confidence: between 0.5 and 1, exclusive.

    Raises:
        ValueError: an argument is out of range.
    """

    def __init__(self, num_agents: int, confidence: float) -> None:
        if num_agents < 2:
            raise ValueError(f"num_agents={num_agents}; it must be at least 2")
        if not 0.5 < confidence < 1:
            raise ValueError(f"confidence={confidence}; it must be between 0.5 and 1, exclusive")
        self._above = np.zeros((num_agents, num_agents), np.bool_)
        # The pairs that are not decided, and the log wealth of their bets: (pairs, 2, bets), first
        # for "the first is above the second", then for the opposite.
        self._first, self._second = np.triu_indices(num_agents, 1)
        self._log_wealth = np.zeros((len(self._first), 2, len(BETS)))
        claims = num_agents * (num_agents - 1)
        self._log_goal = float(np.log(claims / (1 - confidence) * len(BETS)))

    @property
    def above(self) -> NDArray[np.bool_]:
        """bool (n, n): the agent of the row is decided to be above that of the column."""
        return self._above.copy()

    @property
    def separated(self) -> bool:
        """Whether every pair is decided."""
        return not len(self._first)

    def update(self, scores: NDArray[np.float64]) -> None:
        """Take in further deals; how they are divided into updates makes no difference.

        Args:
            scores: (deals, n), the mean score of each agent on each deal, in [0, 1], in the order
                the deals were played.

        Raises:
            ValueError: something else.
        """
        given = np.asarray(scores, np.float64)
        number = len(self._above)
        if given.ndim != 2 or given.shape[1] != number:
            raise ValueError(f"scores has shape {given.shape}; it must be (deals, {number})")
        if not np.all((given >= 0) & (given <= 1)):
            raise ValueError("scores must be numbers from 0 to 1")
        start = 0
        while start < len(given) and not self.separated:
            stop = start + max(1, CHUNK_VALUES // self._log_wealth.size)
            self._bet(given[start:stop])
            start = stop

    def _bet(self, scores: NDArray[np.float64]) -> None:
        gaps = (scores[:, self._first] - scores[:, self._second]).T
        both = np.stack([gaps, -gaps], axis=1)
        log_wealth = np.log1p(BETS[:, None] * both[:, :, None, :])
        # Summed in the order of deals from what there was, so that even rounding knows no updates.
        log_wealth[..., 0] += self._log_wealth
        np.cumsum(log_wealth, axis=-1, out=log_wealth)
        reached = np.logaddexp.reduce(log_wealth, axis=2) >= self._log_goal
        never = len(scores)
        first_up, first_down = np.where(reached.any(axis=-1), reached.argmax(axis=-1), never).T
        up, down = first_up < first_down, first_down < first_up
        self._above[self._first[up], self._second[up]] = True
        self._above[self._second[down], self._first[down]] = True
        # A pair is decided once: there can be no claim for both directions.
        open_ = ~(up | down)
        self._first, self._second = self._first[open_], self._second[open_]
        self._log_wealth = log_wealth[open_, :, :, -1]
