"""Which sums of strengths can grow without end while the likelihood does not fall.

Where none can, there is one greatest point. Along such a direction no observed result ever becomes
less likely than another of the same cell, which makes linear constraints: the directions form a
cone, and each question is a linear program. Most need none. Where a cell has wins and losses, its
sides keep their distance, so only what such cells leave open is a variable. A direction that has
been found answers for all that rise along it, and what cannot rise over another cannot over those
below either.
"""

from itertools import permutations
from typing import Final, NamedTuple

import numpy as np
import scipy  # its modules are loaded when they are first used, which workers never do
from numpy.linalg import matrix_rank
from numpy.typing import NDArray

from war_agents.arena.stats.tallies import DRAWN, LOST, WON, Floats

SLACK: Final = 1e-6  # of a linear program
DIGITS: Final = 12  # of its coefficients


class Unbounded(NamedTuple):
    """What the games set no bound to.

    Attributes:
        over: bool (n, n): can the strength of a row rise over that of a column?
        first_rises, first_falls: can what the seat is worth?
    """

    over: NDArray[np.bool_]
    first_rises: bool
    first_falls: bool


def unbounded(columns: Floats, tallies: Floats, num_agents: int) -> Unbounded:
    """What can grow without end.

    Args:
        columns: (cells, n + 1), or (cells, n) where the games do not tell what the seat is worth,
            which then can rise and fall: what each parameter adds to the 2 h of a cell.
        tallies: (cells, 3), how much was won, drawn and lost.
        num_agents: n.
    """
    cone = _Cone(columns[:, 1:], tallies)
    units = np.eye(columns.shape[1])[:, 1:]  # the first strength is 0
    seat = units[num_agents:]
    over = _over(cone, units[:num_agents])
    if not len(seat):
        return Unbounded(over, True, True)
    rises, falls = (bool(each @ cone.furthest(each) > SLACK) for each in (seat[0], -seat[0]))
    return Unbounded(over, rises, falls)


def _over(cone: "_Cone", agents: Floats) -> NDArray[np.bool_]:
    """`Unbounded.over`."""
    over = np.zeros((len(agents), len(agents)), np.bool_)
    below = np.eye(len(agents), dtype=np.bool_)  # a row cannot rise over that column
    direction, place = cone.inward(), np.zeros(len(agents))
    while direction is not None:
        for found in (agents @ direction, place):  # sums of directions are directions
            over |= found[:, None] - found > SLACK
        place += agents @ direction
        unknown = ~(over | below)
        if not unknown.any():
            break
        # Neighbours first: from these the others follow.
        gaps = np.where(unknown, np.abs(place[:, None] - place), np.inf)
        i, j = np.unravel_index(np.argmin(gaps), gaps.shape)
        direction = cone.furthest(agents[i] - agents[j])
        if (agents[i] - agents[j]) @ direction <= SLACK:
            below |= np.outer(below[:, i], below[j])
    return over


class _Cone:
    """All directions along which no observed result becomes less likely than another.

    Args:
        design: (cells, parameters), without t.
        tallies: (cells, 3).
    """

    def __init__(self, design: Floats, tallies: Floats) -> None:
        held = (tallies[:, WON] > 0) & (tallies[:, LOST] > 0)
        # What these cells leave open, as combinations of parameters.
        self._open: Floats = scipy.linalg.null_space(design[held].T @ design[held])
        self._told = bool(matrix_rank(design[tallies.any(axis=1)]) == design.shape[1])
        wins = np.array([1.0, 0, -1])  # what h adds to the logarithms of the three chances
        ties = np.array([0.0, 1, 0])  # and t
        results = [WON, DRAWN, LOST] if tallies[:, DRAWN].any() else [WON, LOST]
        rows = [np.zeros((0, self._open.shape[1] + 1))]
        for seen, other in permutations(results, 2):
            half = design[tallies[:, seen] > 0] @ self._open / 2
            tie = np.full((len(half), 1), ties[seen] - ties[other])
            rows.append(np.hstack([half * (wins[seen] - wins[other]), tie]))
        self._rows: Floats = np.unique(np.concatenate(rows).round(DIGITS), axis=0)

    def inward(self) -> Floats | None:
        """A direction (parameters,) along which results become likelier; None if there is none."""
        if not self._open.size:
            return None
        direction, gain = self._most(self._rows.sum(axis=0))
        return None if self._told and gain <= SLACK else direction

    def furthest(self, sums: Floats) -> Floats:
        """The direction along which ``sums`` of parameters rise most; standing still if none."""
        wanted = np.append(sums @ self._open, 0.0)
        return self._most(wanted)[0] if np.abs(wanted).max(initial=0) > SLACK else 0 * sums

    def _most(self, wanted: Floats) -> tuple[Floats, float]:
        zeros = np.zeros(len(self._rows))
        best = scipy.optimize.linprog(-wanted, A_ub=-self._rows, b_ub=zeros, bounds=(-1, 1))
        found = np.asarray(best.x)
        return self._open @ found[:-1], float(wanted @ found)
