"""The way up the likelihoods of `war_agents.arena.stats.davidson`: Newton's method, compiled.

A step needs the gradient, a sum over all cells, and the Hessian's Cholesky factor, which takes much
longer. The factor of an earlier step is used again for as long as steps shrink fast with it, which
leads to the same point: only the gradient says where that is.

The steps are damped as in T. Sun and Q. Tran-Dinh, "Generalized self-concordant functions: a recipe
for Newton-type methods", Mathematical Programming 178 (2019), and so lead there from anywhere.
"""

from typing import Any, Final

import numpy as np

from war_agents.arena.stats.tallies import DRAWN, LOST, WON
from war_envs.engine.jit import kernel

MAX_STEPS: Final = 500
SHRINKS: Final = 0.1  # by so much, at least, a step is shorter than the last if that went well


@kernel
def climb(
    who: Any,
    tallies: Any,
    where: Any,
    more: Any,
    sizes: Any,
    free: Any,
    points: Any,
    factors: Any,
    begun: Any,
    tolerance: Any,
) -> bool:
    """Moves ``points`` to where the likelihoods are greatest; do all get there?

    Args:
        who: int (cells, 3): of each cell the two agents, and +1 or -1 for the seat of the first.
        tallies: f8 (batch, cells, 3).
        where, more, sizes: games more: ``sizes[i]`` times ``more[where]``, f8 (cells, 3).
        free: bool (batch, m): the parameters that may move.
        points: f8 (batch, m).
        factors: f8 (batch, m, m): upper Cholesky factors of the negated Hessians without the games
            more: found and left here, or used if ``begun``.
        begun: are ``points`` greatest without the games more, and ``factors`` those of there?
        tolerance: of the step that would be the next.
    """
    m = points.shape[1]
    everywhere = np.arange(len(who))
    exponentials = np.empty((2, m))
    step = np.empty(m)
    own = np.empty((m, m))
    for i in range(len(points)):
        x, factor = points[i], factors[i]
        reuse, before = begun, np.inf
        for k in range(MAX_STEPS + 1):
            if k == MAX_STEPS:
                return False
            _exponentials(x, exponentials)
            step[:] = 0.0
            if not reuse:
                factor = own if begun else factor
                factor[:] = 0.0
            if k > 0 or not begun:
                _add_slopes(who, everywhere, tallies[i], 1.0, exponentials, step, factor, not reuse)
            _add_slopes(who, where, more, sizes[i], exponentials, step, factor, not reuse)
            if not reuse and not _factorise(factor, free[i]):
                return False
            _solve(factor, free[i], step)
            change = (step[: m - 2].max() - step[: m - 2].min() + abs(step[m - 2])) / 2
            size = change + max(change, abs(step[m - 1]))
            if not size < np.inf:
                return False
            if size > 0.0:
                for j in range(m):
                    x[j] += step[j] * (np.log1p(size) / size)
            shrinks = min(1.0, size / before) if k > 0 else 1.0
            there = size * shrinks <= tolerance
            if there and (begun or not reuse):
                break
            # The last step has a factor of its own, which is left.
            reuse = not there and (shrinks < SHRINKS or (begun and k == 0))
            before = size
    return True


@kernel
def _exponentials(x: Any, out: Any) -> None:
    """Of half of each strength and of the seat, and their inverses; of t, nu."""
    last = len(x) - 1
    for j in range(last):
        out[0, j] = np.exp(x[j] / 2)
        out[1, j] = 1 / out[0, j]
    out[0, last] = np.exp(x[last])


@kernel
def _add_slopes(
    who: Any,
    places: Any,
    tallies: Any,
    size: Any,
    exponentials: Any,
    gradient: Any,
    hessian: Any,
    with_hessian: Any,
) -> None:
    """Adds the gradient of the log-likelihood of ``size`` times the tallies of some cells.

    And its Hessian, negated, only the upper half.
    """
    m = len(gradient)
    for place in places:
        a, b, seat = who[place, 0], who[place, 1], who[place, 2]
        ahead = 0 if seat > 0 else 1
        won = exponentials[0, a] * exponentials[1, b] * exponentials[ahead, m - 2]
        lost = exponentials[1, a] * exponentials[0, b] * exponentials[1 - ahead, m - 2]
        drawn = exponentials[0, m - 1]
        total = won + drawn + lost
        won, drawn, lost = won / total, drawn / total, lost / total
        wins, ties, losses = tallies[place, WON], tallies[place, DRAWN], tallies[place, LOST]
        # Every 1 - x is written as a sum, so that nothing cancels where one side nearly always
        # wins.
        lead = wins * (drawn + 2 * lost) - ties * (won - lost) - losses * (drawn + 2 * won)
        lead *= size / 2
        gradient[a] += lead
        gradient[b] -= lead
        gradient[m - 2] += lead * seat
        gradient[m - 1] += size * (ties * (won + lost) - (wins + losses) * drawn)
        if with_hessian:
            games = size * (wins + ties + losses)
            variance = games * (4 * won * lost + drawn * (won + lost)) / 4
            mixed = games * (won - lost) * drawn / 2
            hessian[a, a] += variance
            hessian[b, b] += variance
            hessian[a, b] -= variance  # a < b
            hessian[a, m - 2] += variance * seat
            hessian[b, m - 2] -= variance * seat
            hessian[m - 2, m - 2] += variance
            hessian[a, m - 1] -= mixed
            hessian[b, m - 1] += mixed
            hessian[m - 2, m - 1] -= mixed * seat
            hessian[m - 1, m - 1] += games * drawn * (won + lost)


@kernel
def _factorise(matrix: Any, free: Any) -> bool:
    """Makes the upper Cholesky factor of the upper half; is the matrix positive definite?

    Fixed parameters get rows of a unit matrix.
    """
    m = len(matrix)
    for j in range(m):
        if not free[j]:
            matrix[:j, j] = 0.0
            matrix[j, j + 1 :] = 0.0
            matrix[j, j] = 1.0
    for j in range(m):
        if not matrix[j, j] > 0.0:
            return False
        matrix[j, j:] /= np.sqrt(matrix[j, j])
        for i in range(j + 1, m):
            by = matrix[j, i]
            for k in range(i, m):
                matrix[i, k] -= by * matrix[j, k]
    return True


@kernel
def _solve(factor: Any, free: Any, vector: Any) -> None:
    """The step for a gradient, in its place."""
    m = len(vector)
    for j in range(m):
        vector[j] = vector[j] / factor[j, j] if free[j] else 0.0
        for k in range(j + 1, m):
            vector[k] -= vector[j] * factor[j, k]
    for j in range(m - 1, -1, -1):
        for k in range(j + 1, m):
            vector[j] -= factor[j, k] * vector[k]
        vector[j] /= factor[j, j]
