"""Intervals that cover, and ratings that depend on results alone."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest, multinomial

from war_agents.arena import bradley_terry, deal_interval

HALVES = np.linspace(0, 1, 5)  # what the two games of a deal can score: 0, 1/4, ... 1


@pytest.mark.parametrize(("wins", "number"), [(0, 1), (1, 1), (0, 40), (3, 40), (20, 40), (40, 40)])
def test_without_draws_and_with_one_game_a_deal_it_is_clopper_and_pearson(
    wins: int, number: int
) -> None:
    exact = binomtest(wins, number).proportion_ci(0.95, "exact")
    interval = deal_interval([1.0] * wins + [0.0] * (number - wins))
    assert interval.score == pytest.approx(wins / number)
    assert (interval.low, interval.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_of_nothing_it_is_everything() -> None:
    interval = deal_interval([])
    assert (interval.score, interval.low, interval.high) == (0.5, 0, 1)


@pytest.mark.parametrize("number", [1, 2, 10, 1000, 100_000])
@pytest.mark.parametrize("score", [0, 0.25, 0.5, 1, 1 / 3])
def test_equal_deals_leave_a_doubt(number: int, score: float) -> None:
    interval = deal_interval(np.full(number, score))
    assert 0 <= interval.low <= interval.score <= interval.high <= 1
    assert interval.score == pytest.approx(score)
    assert interval.high - interval.low > 1.3 / (number + 4)


def test_it_narrows_with_more_deals_and_with_less_scatter() -> None:
    def width(scores: Any) -> float:
        interval = deal_interval(scores)
        return interval.high - interval.low

    assert width([0, 1] * 1000) < width([0, 1] * 100) < width([0, 1] * 10)
    # Seats swapped: the games of a deal make up for each other, and that counts.
    assert width([0.5] * 900 + [0, 1] * 50) < width([0, 1] * 500) / 2


@pytest.mark.parametrize("wrong", [[-0.1], [1.1], [float("nan")], [[0.5]], 0.5])
def test_what_is_no_score_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="deal_scores must be numbers from 0 to 1"):
        deal_interval(wrong)


def distributions() -> Iterator[NDArray[np.float64]]:
    """What a deal may score, as probabilities of `HALVES`: rare events, skew, correlated games."""
    for base, other in product(range(5), repeat=2):
        for share in (0.01, 0.03, 0.1, 0.2, 0.3, 0.5):
            if base != other:
                yield np.eye(5)[base] * (1 - share) + np.eye(5)[other] * share
    for p, kinship, draws in product((0.02, 0.1, 0.3, 0.5, 0.9), (-1, 0, 0.5, 1), (0, 0.3)):
        yield two_games(p, kinship, draws)


def two_games(p: float, kinship: float, draws: float) -> NDArray[np.float64]:
    """Two games won with chance p; kinship 1: the same result, 0: independent, -1: opposite."""
    both = p**2 + max(kinship, 0) * p * (1 - p)
    if kinship < 0:
        both = max(0.0, 2 * p - 1)
    decided = np.array([1 - 2 * p + both, 0, 2 * (p - both), 0, both])
    halved = np.array([0, 1 - p, 0, p, 0])  # one game drawn
    return (1 - draws) * decided + draws * halved


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8])
def test_coverage_is_exact_for_few_deals(number: int) -> None:
    """Every possible outcome, weighed by its probability."""
    counts = np.array([c for c in product(range(number + 1), repeat=5) if sum(c) == number])
    intervals = [deal_interval(np.repeat(HALVES, c)) for c in counts]
    low, high = np.array([(i.low, i.high) for i in intervals]).T
    for chances in distributions():
        mean = float(chances @ HALVES)
        covered = (low <= mean + 1e-12) & (mean - 1e-12 <= high)
        assert multinomial.pmf(counts[covered], number, chances).sum() >= 0.93, chances


@pytest.mark.parametrize("number", [30, 200, 1000])
def test_coverage_by_simulation(number: int) -> None:
    """At least 93 % everywhere; from 200 deals on at most 98 % for scores in the middle."""
    rng = np.random.default_rng(number)
    for chances in distributions():
        counts = rng.multinomial(number, chances, size=400)
        mean = float(chances @ HALVES)
        distinct, places = np.unique(counts, axis=0, return_inverse=True)
        intervals = [deal_interval(np.repeat(HALVES, c)) for c in distinct]
        covered = np.array([i.low - 1e-12 <= mean <= i.high + 1e-12 for i in intervals])
        share = covered[places.ravel()].mean()
        # Of 400 trials, with a tolerance of 2.5 standard deviations.
        assert share >= 0.93 - 2.5 * np.sqrt(0.93 * 0.07 / 400), chances
        if number >= 200 and 0.1 <= mean <= 0.9 and chances.max() < 0.8:
            assert share <= 0.98 + 2.5 * np.sqrt(0.98 * 0.02 / 400), chances


def points(strengths: NDArray[np.float64], games: float) -> NDArray[np.float64]:
    """What agents of these Elo strengths score on average."""
    gaps = strengths[:, None] - strengths[None, :]
    expected: NDArray[np.float64] = games / (1 + 10 ** (-gaps / 400))
    np.fill_diagonal(expected, 0)
    return expected


def test_strengths_are_recovered() -> None:
    strengths = np.array([-310.0, -20, 0, 80, 250])
    assert bradley_terry(points(strengths, 1e9)) == pytest.approx(strengths, abs=1e-3)
    rng = np.random.default_rng(0)
    played = np.zeros((5, 5))
    for i, j in product(range(5), repeat=2):
        if i < j:
            played[i, j] = rng.binomial(20_000, points(strengths, 1)[i, j])
            played[j, i] = 20_000 - played[i, j]
    assert bradley_terry(played) == pytest.approx(strengths, abs=12)


def test_two_agents_differ_by_the_log_odds_of_their_points() -> None:
    first, second = bradley_terry([[0, 74.5], [24.5, 0]])
    assert first - second == pytest.approx(400 * np.log10(75 / 25))
    assert first + second == pytest.approx(0)


def test_ratings_depend_on_no_order() -> None:
    rng = np.random.default_rng(1)
    won = rng.integers(0, 200, (7, 7)).astype(float)
    ratings = bradley_terry(won)
    for _ in range(20):
        order = rng.permutation(7)
        assert bradley_terry(won[np.ix_(order, order)]) == pytest.approx(ratings[order], abs=1e-8)


def test_draws_alone_are_equality() -> None:
    assert bradley_terry(np.full((4, 4), 50.0)) == pytest.approx(np.zeros(4), abs=1e-9)
    assert bradley_terry(np.zeros((3, 3))) == pytest.approx(np.zeros(3), abs=1e-9)


def test_one_win_more_is_more_and_draws_count() -> None:
    few = bradley_terry(np.array([[0, 51], [49, 0]]))
    more = bradley_terry(np.array([[0, 52], [48, 0]]))
    assert 0 < few[0] < more[0]
    one_win_many_draws = bradley_terry(np.array([[0, 50.5], [49.5, 0]]))
    assert 0 < one_win_many_draws[0] < few[0]


@pytest.mark.parametrize("games", [1.0, 1e3, 1e6])
def test_they_stay_finite_where_one_wins_all(games: float) -> None:
    chain = np.triu(np.full((6, 6), games), 1)  # each beats all that come later, always
    ratings = bradley_terry(chain)
    assert np.isfinite(ratings).all()
    assert (np.diff(ratings) < 0).all()
    assert ratings == pytest.approx(-ratings[::-1], rel=1e-8)
    islands = np.kron(np.eye(2), np.full((2, 2), games))  # two pairs that never met
    assert bradley_terry(islands) == pytest.approx(np.zeros(4), abs=1e-6)


@pytest.mark.parametrize(
    "wrong", [[1.0, 2], [[0, -1.0], [1, 0]], [[0, np.nan], [1, 0]], [[0, 1.0]]]
)
def test_what_is_no_matrix_of_points_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="points"):
        bradley_terry(wrong)
