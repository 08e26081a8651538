"""How sure a score is."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy  # its modules are loaded when they are first used, which workers never do
from numpy.typing import ArrayLike, NDArray

CONFIDENCE: Final = 0.95


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


def deal_interval(deal_scores: ArrayLike, groups: ArrayLike | None = None) -> Interval:
    """The mean of the scores of independent deals, with its 95 % interval.

    The games of a deal depend on each other, so a deal is one observation: a number in [0, 1], such
    as the mean of its games, or the share of them that were drawn. The interval is that of Korn and
    Graubard: the exact one of Clopper and Pearson for a binomial proportion, at the number m of
    yes-or-no trials that would be as informative as the n deals,

        low = the 2.5 % quantile of Beta(m p, m (1 - p) + 1)
        high = the 97.5 % quantile of Beta(m p + 1, m (1 - p))
        m = max(n, n p (1 - p) / v)
        v = (sum of d^2 + a) / n

    where p is the mean and d are the deals' distances from it. The allowance a is for what the
    deals have not shown: rare results elsewhere, up to the far end e of the scores, which is 0 for
    ``low`` and 1 for ``high``. With a = 0, n equal deals would give an interval of no width. It is

        a = 2 ((e - p)^4 + sum of d^4) / ((e - p)^2 + sum of d^2),

    twice the mean square distance of the deals and of one more at e, each weighed by its own square
    distance. So it is large where the deals are nearly all alike, and small against their scatter
    where that is made of many small steps. Its form and the factor 2 were chosen by computing the
    coverage of many distributions; they come from no paper.

    Coverage, as computed: at least 93 % for every number of deals. With 100 deals or more and a
    mean from 0.1 to 0.9, it is at most 98.5 % where the sum of the deals has a variance n v of at
    least 5.5 max(p, 1 - p)^2, and at most 98 % from twice that on. Below, it may be more: up to
    99.5 % at 4 max(p, 1 - p)^2 (such as 4 of 100 deals off one half by a half, 16 by a quarter, or
    64 by an eighth), and nearly 100 % at a quarter of that. No interval can do both there: who
    sees deals that are nearly equal must leave room for rare others, and where these do not exist
    that room is too much.

    Args:
        deal_scores: (n,), each in [0, 1]; n may be 0 or 1.
        groups: int (n,); deals of the same number are copies of one deal, and one observation: the
            score is still the mean of all n, but the n of the interval is that of the groups. If
            they are not equally large, it is their effective number, (sum of sizes)^2 / sum of
            sizes^2. None: all deals are different.

    Raises:
        ValueError: something else.

    Sources: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", Survey Methodology 24 (1998);
    the effective number is that of L. Kish, "Survey Sampling" (1965).
    """
    scores = np.asarray(deal_scores, np.float64)
    if scores.ndim != 1 or not np.all((scores >= 0) & (scores <= 1)):
        raise ValueError("deal_scores must be numbers from 0 to 1, of shape (n,)")
    weights = np.ones(len(scores))
    if groups is not None:
        scores, weights = _group_means(scores, np.asarray(groups))
    if not len(scores):
        return Interval(0.5, 0.0, 1.0)
    score = min(1.0, float(weights @ scores) / float(weights.sum()))
    tail = (1 - CONFIDENCE) / 2
    low, high = 0.0, 1.0
    if score > 0:
        trials = _effective_trials(scores, weights, score, 0.0)
        low = float(scipy.special.betaincinv(trials * score, trials * (1 - score) + 1, tail))
    if score < 1:
        trials = _effective_trials(scores, weights, score, 1.0)
        high = float(scipy.special.betaincinv(trials * score + 1, trials * (1 - score), 1 - tail))
    return Interval(score, min(low, score), max(high, score))


def _group_means(
    scores: NDArray[np.float64], groups: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean score of each group, and its size."""
    if groups.shape != scores.shape:
        raise ValueError(f"groups has shape {groups.shape}; it must be {scores.shape}, as scores")
    _, places = np.unique(groups, return_inverse=True)
    sizes = np.bincount(places).astype(np.float64)
    return np.minimum(np.bincount(places, scores) / sizes, 1), sizes


def _effective_trials(
    scores: NDArray[np.float64], weights: NDArray[np.float64], score: float, end: float
) -> float:
    """m above. Weights make n their effective number, and weigh the squares in the sums."""
    squares = (scores - score) ** 2
    total = float(weights.sum())
    number = total**2 / float(weights @ weights)
    sizes = (weights * number / total) ** 2
    scatter = float(sizes @ squares)
    far = (end - score) ** 2
    allowance = 2 * (far**2 + float(sizes @ squares**2)) / (far + scatter)
    variance = (scatter + allowance) / number
    return number * max(1.0, score * (1 - score) / variance)
