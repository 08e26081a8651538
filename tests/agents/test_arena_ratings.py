"""Ratings that depend on results alone."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from war_agents.arena import bradley_terry


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
