"""The likelihood of wins, draws and losses between agents, and its greatest point.

The model of Davidson for draws with an order effect, as that of Davidson and Beaver: if agent a
plays b, and s is +1 where a has the first seat and -1 where b has it, then

    P(a wins) : P(draw) : P(b wins) = exp(h) : nu : exp(-h),   2 h = r_a - r_b + s f,

where r are the strengths, f is what the first seat is worth, and nu the draw parameter. (Davidson
and Beaver let the order act on the second agent alone, which makes draws likelier for one order;
here it acts on both, so that a draw is as the geometric mean of the two wins.) Without draws, nu is
0 and the model that of Bradley and Terry. Its logarithm is concave in r, f and t = log nu.

A *point* is all r, then f, then t: float64 (n + 2,). The first strength stays where it is, as only
differences tell; f too where the games do not; and t is minus infinity where nothing was drawn.

Sources: R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments", JASA 65 (1970); R. R. Davidson and R. J. Beaver, "On extending the
Bradley-Terry model to incorporate within-pair order effects", Biometrics 33 (1977).
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from war_agents.arena.playing.pool import num_cores
from war_agents.arena.stats import climbing
from war_agents.arena.stats.tallies import DRAWN, Floats, cells

TOLERANCE: Final = 1e-10  # of the step that would be the next, in logits

ENTRIES: Final = 1_000_000  # of tallies, that are worth a thread


class Fits(NamedTuple):
    """The greatest points of many likelihoods.

    Attributes:
        points: float64 (batch, n + 2).
        factors: float64 (batch, n + 2, n + 2): of each, the upper Cholesky factor of its negated
            Hessian there.
    """

    points: Floats
    factors: Floats


class Model:
    """The model for n agents.

    Args:
        num_agents: n.
        seated: do the games tell what the seat is worth? If not, that is 0.
    """

    def __init__(self, num_agents: int, seated: bool) -> None:
        self.num_agents = num_agents
        self.seated = seated
        self._columns = cells(num_agents)
        self._who = np.stack(
            [
                np.argmax(self._columns[:, :-1], axis=1),
                np.argmin(self._columns[:, :-1], axis=1),
                self._columns[:, -1].astype(np.intp),
            ],
            axis=1,
        )

    def fit(self, tallies: Floats, start: Floats, *, tolerance: float = TOLERANCE) -> Fits:
        """The parameters of the greatest likelihood, for many tallies at once.

        Args:
            tallies: (batch, cells, 3), how much was won, drawn and lost. The cells with games must
                tell all parameters apart, and there must be a greatest point but for t (see
                `war_agents.arena.stats.unbounded`).
            start: (n + 2,), where to begin.
            tolerance: of the step that would be the next, in logits.

        Raises:
            RuntimeError: no convergence.
        """
        points = np.tile(start, (len(tallies), 1))
        factors = np.empty((*points.shape, points.shape[1]))
        nothing = np.zeros(0, np.intp), np.zeros(tallies.shape[1:]), np.zeros(len(tallies))
        self._climb(tallies, *nothing, points, factors, False, tolerance)
        return Fits(points, factors)

    def refit(
        self, tallies: Floats, fits: Fits, more: Floats, sizes: Floats, *, tolerance: float
    ) -> Floats:
        """The greatest points with some games more, from those without them: (batch, n + 2).

        Args:
            tallies, fits: as given to `fit`, and what it found.
            more: (cells, 3), the games more, none of them a draw.
            sizes: (batch,), how often each of the tallies gets them.
            tolerance: as in `fit`.

        Raises:
            RuntimeError: no convergence.
        """
        points = fits.points.copy()
        more = np.ascontiguousarray(more)  # kernels are compiled anew for another layout
        where = np.flatnonzero(more.any(axis=1))
        self._climb(tallies, where, more, sizes, points, fits.factors, True, tolerance)
        return points

    def _climb(
        self,
        tallies: Floats,
        where: NDArray[np.intp],
        more: Floats,
        sizes: Floats,
        points: Floats,
        factors: Floats,
        begun: bool,
        tolerance: float,
    ) -> None:
        free = np.ones(points.shape, np.bool_)
        free[:, 0] = False
        free[:, -2] = self.seated
        free[:, -1] = tallies[:, :, DRAWN].any(axis=1)
        points[~free[:, -1], -1] = -np.inf

        def work(span: slice) -> bool:
            part = tallies[span], where, more, sizes[span], free[span], points[span], factors[span]
            return bool(climbing.climb(self._who, *part, begun, tolerance))

        threads = min(num_cores(), 1 + tallies.size // ENTRIES)
        size = -(-len(points) // threads)
        with ThreadPoolExecutor(threads) as pool:
            spans = [slice(first, first + size) for first in range(0, len(points), size)]
            if not all(pool.map(work, spans)):
                raise RuntimeError("the ratings did not converge")

    def influences(self, fits: Fits, parts: Floats) -> Floats:
        """How far each part of the games moves the parameters, to first order: a Newton step.

        Args:
            fits: a batch of one, with the factor at its point.
            parts: (parts, cells, 3), tallies of a part each.

        Returns:
            (parts, n + 2).
        """
        (point,), (factor,) = fits
        h = self._columns @ point[:-1] / 2
        t = point[-1]
        top = np.maximum(np.abs(h), t)
        won, drawn, lost = np.exp(h - top), np.exp(t - top), np.exp(-h - top)
        total = won + drawn + lost
        # Every 1 - x is written as a sum, so that nothing cancels where one side nearly always
        # wins.
        slopes = np.stack([drawn + 2 * lost, lost - won, -drawn - 2 * won], axis=1) / total[:, None]
        ties = np.stack([-drawn, won + lost, -drawn], axis=1) / total[:, None]
        each = np.concatenate(
            [slopes[:, :, None] * self._columns[:, None] / 2, ties[:, :, None]], axis=2
        )
        gradients = np.tensordot(parts, each, axes=2)
        gradients[:, ~self._free(point)] = 0
        half = np.linalg.solve(factor.T, gradients.T)
        return np.linalg.solve(factor, half).T

    def _free(self, point: Floats) -> NDArray[np.bool_]:
        free = np.ones(len(point), np.bool_)
        free[[0, -2, -1]] = False, self.seated, bool(np.isfinite(point[-1]))
        return free
