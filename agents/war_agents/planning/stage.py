"""Zero-sum games of one simultaneous choice, solved exactly: what a turn comes to.

A *stage* is a turn of War of Attack and Defence with known values behind it. Both players choose
one of two actions at once. With open cards it is a matrix game. With hidden cards each player has a
*type*, the own top card, from a joint prior: a Bayesian game of two actions per type.

Values and payoffs are those of the row player (player_0), who maximises. A strategy is the
probability of action 1.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_envs.engine.jit import kernel

MAX_TYPES: Final = 13  # of one player: ranks of a deck
_EPSILON: Final = 1e-12  # below it, a reduced cost or a pivot is rounding
_MAX_PIVOTS: Final = 10_000  # far more than any game takes: rounding shall not make it run for ever


@kernel
def solve_matrix(a: Any, b: Any, c: Any, d: Any) -> tuple[float, float, float]:
    """The matrix game with payoffs ``a`` ``b`` in row 0 and ``c`` ``d`` in row 1.

    Returns:
        Its value, and an optimal strategy of the row and of the column player: the probabilities of
        row 1 and of column 1. Where a pure strategy is optimal it is given, the first one of two.

    Source: J. von Neumann and O. Morgenstern, "Theory of Games and Economic Behavior" (1944), 18.2.
    """
    low0, low1 = min(a, b), min(c, d)
    high0, high1 = max(a, c), max(b, d)
    lower, upper = max(low0, low1), min(high0, high1)
    if lower >= upper:  # a saddle point
        row = 0.0 if low0 >= low1 else 1.0
        column = 0.0 if high0 <= high1 else 1.0
        return lower, row, column
    total = a - b - c + d
    return (a * d - b * c) / total, (a - b) / total, (a - c) / total


@kernel
def _pivot(table: Any, basis: Any, row: int, column: int) -> None:
    """Brings the variable of ``column`` into the basis, in place of that of ``row``."""
    width = table.shape[1]
    scale = 1.0 / table[row, column]
    for k in range(width):
        table[row, k] *= scale
    for r in range(table.shape[0]):
        if r != row:
            factor = table[r, column]
            if factor != 0.0:
                for k in range(width):
                    table[r, k] -= factor * table[row, k]
    basis[row] = column


@kernel
def solve_bayesian(
    prior: Any, payoffs: Any, table: Any, basis: Any, rows: Any, columns: Any
) -> float:
    """A Bayesian game of I and J types with two actions each; its value.

    It is the linear program of the row player's strategy x, a probability for each type:

        maximise    sum over j of min(L[j, 0], L[j, 1])
        where       L[j, b] = sum over i of prior[i, j] * (payoff of x[i] against j and b)

    solved by the simplex method with Bland's rule, which cannot cycle. What a type of the column
    player gives up by action 0, the constraint ``L[j, 0] - L[j, 1] <= s[j]``, has the column
    player's strategy as its multiplier.

    Args:
        prior: f8 (I, J), the joint probabilities of types, or weights that need not add up to 1.
        payoffs: f8 (I, J, 2, 2), by types and actions.
        table: f8 (I + J + 1, 2 * (I + J) + 1), working memory.
        basis: i8 (I + J,), working memory.
        rows, columns: f8 (I,) and f8 (J,), in which optimal strategies are written: for each type
            the probability of action 1. For types of weight 0 they are any.

    Returns:
        The sum over types of weight times payoff; NaN if rounding has led nowhere, which no game
        has been seen to do.

    Source: J.-P. Ponssard and S. Sorin, "The LP formulation of finite zero-sum games with
    incomplete information", International Journal of Game Theory 9 (1980).
    """
    num_rows, num_columns = prior.shape
    number = num_rows + num_columns  # variables x and s; slacks behind them; then the right side
    goal, right = number, 2 * number
    for r in range(number + 1):
        for k in range(2 * number + 1):
            table[r, k] = 0.0
    value = 0.0
    for i in range(num_rows):  # x[i] <= 1
        table[i, i] = 1.0
        table[i, number + i] = 1.0
        table[i, right] = 1.0
        basis[i] = number + i
    for j in range(num_columns):  # difference(x)[j] - s[j] <= 0
        r = num_rows + j
        constant = 0.0
        for i in range(num_rows):
            weight = prior[i, j]
            low, high = payoffs[i, j, 0, 0], payoffs[i, j, 1, 0]
            value += weight * low
            table[goal, i] -= weight * (high - low)
            gap0 = low - payoffs[i, j, 0, 1]
            gap1 = high - payoffs[i, j, 1, 1]
            constant += weight * gap0
            table[r, i] = weight * (gap1 - gap0)
        table[r, num_rows + j] = -1.0
        table[r, number + r] = 1.0
        table[r, right] = -constant
        table[goal, num_rows + j] = 1.0
        basis[r] = number + r
    for j in range(num_columns):  # where x = 0 gives something up, s starts above 0
        if table[num_rows + j, right] < 0.0:
            _pivot(table, basis, num_rows + j, num_rows + j)
    solved = False
    for _ in range(_MAX_PIVOTS):
        entering = -1
        for k in range(2 * number):
            if table[goal, k] < -_EPSILON:
                entering = k
                break
        if entering < 0:
            solved = True
            break
        leaving, least = -1, np.inf
        for r in range(number):
            if table[r, entering] > _EPSILON:
                ratio = table[r, right] / table[r, entering]
                if ratio < least - _EPSILON or (
                    ratio <= least + _EPSILON and leaving >= 0 and basis[r] < basis[leaving]
                ):
                    leaving, least = r, min(ratio, least)
        if leaving < 0:
            break
        _pivot(table, basis, leaving, entering)
    for i in range(num_rows):
        rows[i] = 0.0
    for r in range(number):
        if basis[r] < num_rows:
            rows[basis[r]] = min(1.0, max(0.0, table[r, right]))
    for j in range(num_columns):
        columns[j] = min(1.0, max(0.0, table[goal, number + num_rows + j]))
    return float(value + table[goal, right]) if solved else np.nan


@kernel
def _solve_all(priors: Any, payoffs: Any, values: Any, rows: Any, columns: Any) -> None:
    number = priors.shape[1] + priors.shape[2]
    table = np.empty((number + 1, 2 * number + 1))
    basis = np.empty(number, np.int64)
    for k in range(priors.shape[0]):
        values[k] = solve_bayesian(priors[k], payoffs[k], table, basis, rows[k], columns[k])


def solve_stages(
    priors: NDArray[np.float64], payoffs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Many Bayesian games of the same numbers of types, see `solve_bayesian`.

    Args:
        priors: (B, I, J), weights of pairs of types, at least 0.
        payoffs: (B, I, J, 2, 2), the row player's, by types and actions.

    Returns:
        Values (B,), and optimal strategies of the row player (B, I) and of the column player
        (B, J): for each type the probability of action 1.

    Raises:
        ValueError: arrays of other shapes, or numbers that are not finite, or weights below 0.
    """
    weights = np.ascontiguousarray(priors, np.float64)
    gains = np.ascontiguousarray(payoffs, np.float64)
    if weights.ndim != 3 or gains.shape != (*weights.shape, 2, 2):
        raise ValueError(
            f"payoffs of shape {gains.shape} do not go with priors of shape {weights.shape}; "
            "they must be (B, I, J, 2, 2) and (B, I, J)"
        )
    if not 1 <= min(weights.shape[1:]) <= max(weights.shape[1:]) <= MAX_TYPES:
        raise ValueError(f"priors of shape {weights.shape} have types beyond 1 to {MAX_TYPES}")
    if not np.isfinite(gains).all() or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("payoffs must be finite, and priors finite and at least 0")
    number, num_rows, num_columns = weights.shape
    values = np.empty(number)
    rows, columns = np.empty((number, num_rows)), np.empty((number, num_columns))
    _solve_all(weights, gains, values, rows, columns)
    return values, rows, columns
