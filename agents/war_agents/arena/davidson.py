"""The likelihood of wins, draws and losses between agents: its greatest point, if there is one.

The model of Davidson for draws with an order effect, as that of Davidson and Beaver: if agent a
plays b, and s is +1 where a has the first seat and -1 where b has it, then

    P(a wins) : P(draw) : P(b wins) = exp(h) : nu : exp(-h),   2 h = r_a - r_b + s f,

where r are the strengths, f is what the first seat is worth, and nu the draw parameter. (Davidson
and Beaver let the order act on the second agent alone, which makes draws likelier for one order;
here it acts on both, so that a draw is as the geometric mean of the two wins.) Without draws, nu is
0 and the model that of Bradley and Terry. Its logarithm is concave in r, f and t = log nu.

Sources: R. R. Davidson, "On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments", JASA 65 (1970); R. R. Davidson and R. J. Beaver, "On extending the
Bradley-Terry model to incorporate within-pair order effects", Biometrics 33 (1977).
"""

from itertools import permutations
from typing import Final

import numpy as np
from numpy.linalg import matrix_rank
from numpy.typing import NDArray
from scipy.optimize import linprog

from war_agents.arena.tallies import DRAWN, LOST, WON, Floats

MAX_STEPS: Final = 500
TOLERANCE: Final = 1e-8  # of a step, in logits; the next would be its square
SLACK: Final = 1e-6  # of a linear program


def fit(design: Floats, tallies: Floats, start: Floats, *, tolerance: float = TOLERANCE) -> Floats:
    """The parameters of the greatest likelihood, for many tallies at once, by Newton's method.

    The steps are damped as in T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions: a
    recipe for Newton-type methods", Mathematical Programming 178 (2019), and so lead there from
    anywhere.

    Args:
        design: (cells, parameters), what each parameter but t adds to the 2 h of each cell; of full
            rank in the cells with games.
        tallies: (batch, cells, 3), how much was won, drawn and lost. There must be a greatest
            point (see `can_rise`), but for t, which is minus infinity where nothing was drawn.
        start: (batch, parameters + 1), where to begin; t is the last.
        tolerance: of the last step, in logits.

    Returns:
        (batch, parameters + 1).

    Raises:
        RuntimeError: no convergence.
    """
    point = start.copy()
    drawn = tallies[:, :, DRAWN].sum(axis=1) > 0
    point[~drawn, -1] = -np.inf
    half = design / 2
    left = np.arange(len(point))  # those that still move
    for _ in range(MAX_STEPS):
        gradient, hessian = _slopes(half, tallies[left], point[left])
        hessian[~drawn[left], -1, -1] = 1
        step = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]
        change = np.abs(step[:, :-1] @ half.T).max(axis=1)
        size = change + np.maximum(change, np.abs(step[:, -1]))
        point[left] += step * (np.log1p(size) / np.maximum(size, 1e-300))[:, None]
        left = left[size > tolerance]
        if not len(left):
            return point
    raise RuntimeError("the ratings did not converge")


def _slopes(half: Floats, tallies: Floats, point: Floats) -> tuple[Floats, Floats]:
    """The gradient of the log-likelihood, and its Hessian, negated."""
    h, t = point[:, :-1] @ half.T, point[:, -1:]
    top = np.maximum(np.abs(h), t)
    won, drawn, lost = np.exp(h - top), np.exp(t - top), np.exp(-h - top)
    total = won + drawn + lost
    lead, tie = (won - lost) / total, drawn / total
    games = tallies.sum(axis=2)
    wins, ties, losses = np.moveaxis(tallies, 2, 0)
    # Every 1 - x is written as a sum, so that nothing cancels where one side nearly always wins.
    missed, beaten = (drawn + 2 * lost) / total, (drawn + 2 * won) / total  # 1 - lead, 1 + lead
    decided = (won + lost) / total
    gradient = np.empty(point.shape)
    gradient[:, :-1] = (wins * missed - ties * lead - losses * beaten) @ half
    gradient[:, -1] = (ties * decided - (wins + losses) * tie).sum(axis=1)
    cells, width = half.shape
    squares = (half[:, :, None] * half[:, None, :]).reshape(cells, width * width)
    variance = (4 * won * lost + drawn * (won + lost)) / total**2  # 1 - tie - lead^2
    hessian = np.empty((len(point), width + 1, width + 1))
    hessian[:, :-1, :-1] = ((games * variance) @ squares).reshape(-1, width, width)
    hessian[:, :-1, -1] = hessian[:, -1, :-1] = -(games * lead * tie) @ half
    hessian[:, -1, -1] = (games * tie * decided).sum(axis=1)
    return gradient, hessian


def influences(design: Floats, tallies: Floats, point: Floats, parts: Floats) -> Floats:
    """How far each part of the games moves the parameters, to first order: a Newton step from it.

    Args:
        design, tallies, point: as for `fit`, a batch of one, and what `fit` found.
        parts: (parts, cells, 3), tallies of a part each.

    Returns:
        (parts, parameters + 1).
    """
    half = design / 2
    _, hessian = _slopes(half, tallies, point)
    if np.isinf(point[0, -1]):
        hessian[0, -1, -1] = 1
    gradients, _ = _slopes(half, parts, np.broadcast_to(point, (len(parts), point.shape[1])))
    return np.linalg.solve(hessian[0], gradients.T).T


def can_rise(design: Floats, tallies: Floats, wanted: Floats) -> NDArray[np.bool_]:
    """Which sums of parameters can grow without end while the likelihood does not fall.

    Where none can, there is one greatest point. Along such a direction no observed result ever
    becomes less likely than another of the same cell: a linear program for each sum.

    Args:
        design: as for `fit`, of any rank.
        tallies: (cells, 3).
        wanted: (sums, parameters), without t.

    Returns:
        bool (sums,).
    """
    wins = np.array([1.0, 0, -1])  # what h adds to the logarithms of the three chances
    ties = np.array([0.0, 1, 0])  # and t
    results = [WON, DRAWN, LOST] if tallies[:, DRAWN].any() else [WON, LOST]
    ahead = [np.zeros((0, design.shape[1] + 1))]
    for seen, other in permutations(results, 2):
        half = design[tallies[:, seen] > 0] / 2
        tie = np.full((len(half), 1), ties[seen] - ties[other])
        ahead.append(np.hstack([half * (wins[seen] - wins[other]), tie]))
    rows = np.unique(np.concatenate(ahead), axis=0)

    def most(sums: Floats) -> float:
        best = linprog(-sums, A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1))
        return float(sums @ np.asarray(best.x))

    told = matrix_rank(design[tallies.any(axis=1)]) == design.shape[1]
    if told and most(rows.sum(axis=0)) < SLACK:  # no direction but standing still
        return np.zeros(len(wanted), np.bool_)
    return np.array([most(np.append(sums, 0.0)) > SLACK for sums in wanted])
