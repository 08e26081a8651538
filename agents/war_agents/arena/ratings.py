"""How strong agents are."""

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve
from scipy.special import expit

PRIOR_GAMES: Final = 1.0
ELO_PER_LOGIT: Final = 400 / float(np.log(10))


def bradley_terry(points: ArrayLike) -> NDArray[np.float64]:
    """Elo ratings of n agents from all their games at once, mean 0.

    The model of Bradley and Terry: i scores 1 / (1 + 10 ** ((r_j - r_i) / 400)) against j, a draw
    being half a win. The ratings are those of the greatest likelihood after one drawn game more
    between every two agents, which keeps them finite where somebody won all games, and defined
    where two never met. They depend neither on the order of games nor on the order or names of
    agents.

    Source: R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs", Biometrika
    39 (1952).

    Args:
        points: (n, n), what i scored against j in all games; the diagonal is ignored.

    Returns:
        float64 (n,).

    Raises:
        ValueError: points are not such a matrix.
    """
    given = np.asarray(points, np.float64)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise ValueError(f"points has shape {given.shape}; it must be (n, n)")
    if not np.all(np.isfinite(given) & (given >= 0)):
        raise ValueError("points must be finite and not negative")
    if len(given) < 2:
        return np.zeros(len(given))
    won = given + PRIOR_GAMES / 2
    np.fill_diagonal(won, 0)
    logits: NDArray[np.float64] = np.zeros(len(won))
    for _ in range(1000):
        chance = expit(logits[:, None] - logits[None, :])
        gradient = (won * chance.T - won.T * chance).sum(axis=1)
        weight = (won + won.T) * chance * chance.T
        # Only differences matter to the likelihood; the mean added here keeps that of logits at 0.
        hessian = np.diag(weight.sum(axis=1)) - weight + weight.mean()
        step = solve(hessian, gradient, assume_a="pos")
        largest = float(np.ptp(step))
        if largest <= 1e-13 * (1 + np.ptp(logits)):
            break
        # The damping with which Newton's method climbs a logistic likelihood from anywhere.
        logits += step * np.log1p(largest) / largest
    ratings: NDArray[np.float64] = (logits - logits.mean()) * ELO_PER_LOGIT
    return ratings
