"""How sure a score is, and how strong agents are."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve
from scipy.special import betaincinv, expit

CONFIDENCE: Final = 0.95
PSEUDO_DEALS: Final = (0.0, 0.0, 1.0, 1.0)
PRIOR_GAMES: Final = 1.0
ELO_PER_LOGIT: Final = 400 / float(np.log(10))


@dataclass(frozen=True)
class Interval:
    """A score with its 95 % confidence interval; 0 <= low <= score <= high <= 1 and low < high.

    Attributes:
        score: the mean score, a draw being half a point; one half where nothing was played.
        low, high: the ends of the interval.
    """

    score: float
    low: float
    high: float


def deal_interval(deal_scores: ArrayLike) -> Interval:
    """The mean of the scores of independent deals, with its 95 % interval.

    The games of a deal depend on each other, so a deal is one observation: a number in [0, 1], the
    mean of its games. The interval is that of Korn and Graubard: the exact one of Clopper and
    Pearson for a binomial proportion, at the number of yes-or-no trials that would be as
    informative as the n deals,

        m = max(n, n p (1 - p) / v)
        low = the 2.5 % quantile of Beta(m p, m (1 - p) + 1)
        high = the 97.5 % quantile of Beta(m p + 1, m (1 - p)),

    where p is the mean and v the variance of the deals *and of four more*, two won and two lost (as
    Agresti and Coull add them), about p. They keep v from being too small where deals are few or
    nearly all alike; without them, n equal deals would give an interval of no width.

    Sources: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", Survey Methodology 24 (1998); A.
    Agresti and B. A. Coull, "Approximate is better than 'exact' for interval estimation of binomial
    proportions", The American Statistician 52 (1998).

    Args:
        deal_scores: (n,), each in [0, 1]; n may be 0 or 1.

    Raises:
        ValueError: something else.
    """
    scores = np.asarray(deal_scores, np.float64)
    if scores.ndim != 1 or not np.all((scores >= 0) & (scores <= 1)):
        raise ValueError("deal_scores must be numbers from 0 to 1, of shape (n,)")
    if not len(scores):
        return Interval(0.5, 0.0, 1.0)
    score = float(scores.mean())
    trials = _effective_trials(scores, score)
    wins, losses = trials * score, trials * (1 - score)
    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(wins, losses + 1, tail)) if wins > 0 else 0.0
    high = float(betaincinv(wins + 1, losses, 1 - tail)) if losses > 0 else 1.0
    return Interval(score, min(low, score), max(high, score))


def _effective_trials(scores: NDArray[np.float64], score: float) -> float:
    number = len(scores)
    augmented = np.concatenate([scores, PSEUDO_DEALS])
    variance = float(np.mean((augmented - score) ** 2))
    return max(1.0, score * (1 - score) / variance) * number


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
