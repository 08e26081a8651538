"""Intervals that cover, and do not cover too much."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, binomtest, multinomial

from war_agents.arena import deal_interval

FIFTHS = np.linspace(0, 1, 5)  # what the two games of a deal can score: 0, 1/4, ... 1
NINTHS = np.linspace(0, 1, 9)  # and four games


@pytest.mark.parametrize(("wins", "number"), [(0, 40), (3, 40), (20, 40), (40, 40), (70, 1000)])
def test_without_draws_and_with_one_game_a_deal_it_is_nearly_clopper_and_pearson(
    wins: int, number: int
) -> None:
    exact = binomtest(wins, number).proportion_ci(0.95, "exact")
    interval = deal_interval([1.0] * wins + [0.0] * (number - wins))
    assert interval.score == pytest.approx(wins / number)
    assert (interval.low, interval.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_of_nothing_it_is_everything() -> None:
    interval = deal_interval([])
    assert (interval.score, interval.low, interval.high) == (0.5, 0, 1)
    assert deal_interval([], []) == interval


@pytest.mark.parametrize("number", [1, 2, 10, 1000, 100_000])
@pytest.mark.parametrize("score", [0, 0.25, 0.5, 1, 1 / 3])
def test_equal_deals_leave_a_doubt(number: int, score: float) -> None:
    interval = deal_interval(np.full(number, score))
    assert 0 <= interval.low <= interval.score <= interval.high <= 1
    assert interval.score == pytest.approx(score)
    assert interval.high - interval.low > 1.3 / (number + 4)


def test_it_narrows_with_more_deals_and_with_less_scatter() -> None:
    assert width([0, 1] * 1000) < width([0, 1] * 100) < width([0, 1] * 10)
    # Seats swapped: the games of a deal make up for each other, and that counts.
    assert width([0.5] * 900 + [0, 1] * 50) < width([0, 1] * 500) / 2


def width(*arguments: Any) -> float:
    interval = deal_interval(*arguments)
    return interval.high - interval.low


def test_points_and_losses_are_treated_alike() -> None:
    scores = np.random.default_rng(0).choice(FIFTHS, 50, p=[0.1, 0.1, 0.5, 0.1, 0.2])
    won, lost = deal_interval(scores), deal_interval(1 - scores)
    assert (1 - won.high, 1 - won.low) == pytest.approx((lost.low, lost.high))


def test_copies_of_a_deal_are_one_observation() -> None:
    scores = np.random.default_rng(0).random(30)
    groups = np.arange(30)
    once = deal_interval(scores)
    assert deal_interval(scores, groups) == once
    order = np.random.default_rng(1).permutation(120)
    copied = deal_interval(np.tile(scores, 4)[order], np.tile(groups - 7, 4)[order])
    assert [copied.score, copied.low, copied.high] == pytest.approx(
        [once.score, once.low, once.high]
    )
    # Equal deals with different results: their mean counts.
    mixed = deal_interval([0, 1, 0.5, 0.5], [5, 5, 9, 9])
    assert mixed == deal_interval([0.5, 0.5])


def test_the_score_is_the_mean_of_all_deals_whatever_the_groups() -> None:
    scores, groups = [1, 1, 1, 0], [3, 3, 3, 8]
    assert deal_interval(scores, groups).score == pytest.approx(0.75)
    assert width(scores, groups) > width(scores)
    assert width([1] * 50, [7] * 50) == width([1])


@pytest.mark.parametrize("wrong", [[-0.1], [1.1], [float("nan")], [[0.5]], 0.5])
def test_what_is_no_score_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="deal_scores must be numbers from 0 to 1"):
        deal_interval(wrong)


@pytest.mark.parametrize("wrong", [[1], [[1, 2]], 3])
def test_groups_of_other_deals_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"groups has shape .*; it must be \(2,\)"):
        deal_interval([0, 1], wrong)


def distributions() -> Iterator[NDArray[np.float64]]:
    """What a deal may score, as probabilities of `FIFTHS`: rare events, skew, correlated games."""
    for base, other in product(range(5), repeat=2):
        for share in (0.01, 0.03, 0.1, 0.2, 0.3, 0.5):
            if base != other:
                yield np.eye(5)[base] * (1 - share) + np.eye(5)[other] * share
    for p, kinship, draws in product((0.02, 0.1, 0.3, 0.5, 0.9), (-1, 0, 0.5, 1), (0, 0.3)):
        yield two_games(p, kinship, draws)
    for share, rare in product((0.1, 0.2), (0.005, 0.02)):  # small steps, and rare large ones
        yield np.array([0, share, 1 - share - rare, 0, rare])
        yield np.array([0, share / 2, 1 - share - rare, share / 2, rare])


def two_games(p: float, kinship: float, draws: float) -> NDArray[np.float64]:
    """Two games won with chance p; kinship 1: the same result, 0: independent, -1: opposite."""
    both = p**2 + max(kinship, 0) * p * (1 - p)
    if kinship < 0:
        both = max(0.0, 2 * p - 1)
    decided = np.array([1 - 2 * p + both, 0, 2 * (p - both), 0, both])
    halved = np.array([0, 1 - p, 0, p, 0])  # one game drawn
    return (1 - draws) * decided + draws * halved


def swapped() -> Iterator[NDArray[np.float64]]:
    """Four games, seats swapped: nine deals of ten score one half, as probabilities of `NINTHS`."""
    for places in ([0, 8], [2, 6], [2, 4, 5], [0, 2, 6, 8], [1, 2, 6, 7], [6, 8], [2, 8]):
        chances = np.zeros(9)
        chances[places] = 0.1 / len(places)
        chances[4] += 0.9
        yield chances


def covered(
    counts: NDArray[np.int64], values: NDArray[np.float64], mean: float
) -> NDArray[np.bool_]:
    """Whether the interval holds the mean, for each row of how often each value was seen."""
    distinct, places = np.unique(counts, axis=0, return_inverse=True)
    intervals = [deal_interval(np.repeat(values, c)) for c in distinct]
    inside = np.array([i.low - 1e-12 <= mean <= i.high + 1e-12 for i in intervals])
    return inside[places.ravel()]


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8])
def test_coverage_is_exact_for_few_deals(number: int) -> None:
    """Every possible outcome, weighed by its probability."""
    counts = np.array([c for c in product(range(number + 1), repeat=5) if sum(c) == number])
    intervals = [deal_interval(np.repeat(FIFTHS, c)) for c in counts]
    low, high = np.array([(i.low, i.high) for i in intervals]).T
    for chances in distributions():
        mean = float(chances @ FIFTHS)
        inside = (low <= mean + 1e-12) & (mean - 1e-12 <= high)
        assert multinomial.pmf(counts[inside], number, chances).sum() >= 0.93, chances


@pytest.mark.parametrize(("few", "step"), [(0.05, 0.5), (0.2, 0.25), (0.5, 0.125), (0.5, 0.5)])
@pytest.mark.parametrize("number", [15, 40, 100])
def test_coverage_of_two_values_is_exact(number: int, few: float, step: float) -> None:
    """One half, or another value at times: the distribution of the mean is binomial."""
    seen = np.arange(number + 1)
    inside = covered(
        np.stack([number - seen, seen], axis=1), np.array([0.5, 0.5 + step]), 0.5 + few * step
    )
    assert binom.pmf(seen, number, few)[inside].sum() >= 0.93


@pytest.mark.slow
@pytest.mark.parametrize("number", [30, 100, 200, 1000])
def test_coverage_by_simulation(number: int) -> None:
    """At least 93 % everywhere; from 100 deals on at most 98 % where the docstring says so."""
    rng = np.random.default_rng(number)
    for chances in [*distributions(), *swapped()]:
        values = FIFTHS if len(chances) == 5 else NINTHS
        mean = float(chances @ values)
        scatter = number * float(chances @ (values - mean) ** 2)
        share = covered(rng.multinomial(number, chances, size=2000), values, mean).mean()
        # Of 2000 trials, with a tolerance of 2.5 standard deviations.
        assert share >= 0.93 - 2.5 * np.sqrt(0.93 * 0.07 / 2000), chances
        if number >= 100 and 0.1 <= mean <= 0.9 and scatter >= 5.5 * max(mean, 1 - mean) ** 2:
            assert share <= 0.98 + 2.5 * np.sqrt(0.98 * 0.02 / 2000), chances


@pytest.mark.parametrize("number", [5, 30, 200])
def test_coverage_with_copies_of_deals(number: int) -> None:
    """Groups of very different sizes, whose deals score alike."""
    rng = np.random.default_rng(number)
    for chances in list(distributions())[::7]:
        mean = float(chances @ FIFTHS)
        inside = 0
        for _ in range(300):
            groups = np.repeat(np.arange(number), rng.geometric(0.3, number))
            interval = deal_interval(rng.choice(FIFTHS, number, p=chances)[groups], groups)
            inside += interval.low - 1e-12 <= mean <= interval.high + 1e-12
        assert inside / 300 >= 0.93 - 2.5 * np.sqrt(0.93 * 0.07 / 300), chances
