"""Mixtures and circles of known games, their properties, and OpenSpiel's opinion."""

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pyspiel  # type: ignore[import-not-found]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from open_spiel.python.algorithms.nash_averaging import (  # type: ignore[import-untyped]
    nash_averaging,
)
from open_spiel.python.egt import alpharank  # type: ignore[import-untyped]

from war_agents.arena.stats.payoffs import alpha_rank, cycles, nash_average

ROCK_PAPER_SCISSORS = [[0, -1, 1], [1, 0, -1], [-1, 1, 0]]


def payoffs_of(margins: ArrayLike) -> NDArray[np.float64]:
    """Scores with NaN on the diagonal, from what is won on balance, -1 to 1."""
    scores: NDArray[np.float64] = (1 + np.asarray(margins, np.float64)) / 2
    np.fill_diagonal(scores, np.nan)
    return scores


def margins_from(upper: Any) -> NDArray[np.float64]:
    """The antisymmetric matrix with this upper triangle."""
    above = np.triu(np.asarray(upper, np.float64), 1)
    return above - above.T


@st.composite
def games(draw: st.DrawFn, most: int = 8) -> NDArray[np.float64]:
    """Margins of up to ``most`` agents from a few games, so that draws and copies are common."""
    number = draw(st.integers(1, most))
    half = draw(st.sampled_from([1, 2, 3, 10, 500]))
    values = st.lists(st.integers(-half, half), min_size=number, max_size=number)
    upper = draw(st.lists(values, min_size=number, max_size=number))
    twins = draw(st.lists(st.integers(0, number - 1), min_size=1, max_size=most))
    return margins_from(np.array(upper) / half)[np.ix_(twins, twins)]


def entropy(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return -float(positive @ np.log(positive))


@pytest.mark.parametrize(
    ("margins", "shares"),
    [
        ([[0]], [1]),
        ([[0, 0], [0, 0]], [1 / 2, 1 / 2]),
        ([[0, 1e-6], [-1e-6, 0]], [1, 0]),
        ([[0, 1e-15], [-1e-15, 0]], [1 / 2, 1 / 2]),  # that is rounding
        (np.zeros((30, 30)), np.full(30, 1 / 30)),
        (ROCK_PAPER_SCISSORS, [1 / 3] * 3),
        (np.array(ROCK_PAPER_SCISSORS) / 300, [1 / 3] * 3),
        # Each gets the share by which the other two decide between them.
        (margins_from([[0, 0.1, -0.2], [0, 0, 0.7], [0, 0, 0]]), [0.7, 0.2, 0.1]),
        # One that beats all; one that loses to all, beside rock, paper and scissors.
        (margins_from([[0, 0.01, 0.01, 0.01], [0] * 4, [0, 0, 0, 1], [0] * 4]), [1, 0, 0, 0]),
        (np.block([[np.array(ROCK_PAPER_SCISSORS), np.full((3, 1), 0.01)], [-0.01] * 3 + [0]]),
         [1 / 3, 1 / 3, 1 / 3, 0]),
        # Draws with rock and with paper, loses to scissors: the mixture beats it.
        (margins_from([[0, -1, 1, 0], [0, 0, -1, 0], [0, 0, 0, 1], [0] * 4]),
         [1 / 3, 1 / 3, 1 / 3, 0]),
        # Only equilibria that give the last no chance: all shares with p_1 >= p_2.
        (margins_from([[0, 0, 1], [0, 0, -1], [0, 0, 0]]), [1 / 2, 1 / 2, 0]),
        # The same, where the greatest entropy is at that limit: p_1 >= 2 p_2.
        (margins_from([[0, 0, 0.5], [0, 0, -1], [0, 0, 0]]), [2 / 3, 1 / 3, 0]),
    ],
)  # fmt: skip
def test_nash_averages_of_known_games(margins: ArrayLike, shares: ArrayLike) -> None:
    found = nash_average(payoffs_of(margins))
    assert found.shares == pytest.approx(np.asarray(shares), abs=1e-6)
    assert (found.shares[np.asarray(shares) == 0] == 0).all()
    assert found.scores == pytest.approx((1 + np.asarray(margins) @ np.asarray(shares)) / 2)


@pytest.mark.slow
@given(games())
@settings(max_examples=200, deadline=None)
def test_no_agent_scores_more_than_half_against_the_nash_average(
    margins: NDArray[np.float64],
) -> None:
    shares, scores = nash_average(payoffs_of(margins))
    assert shares.sum() == pytest.approx(1)
    assert (shares >= 0).all()
    assert (scores <= 0.5 + 1e-9).all()
    assert scores[shares > 0] == pytest.approx(0.5, abs=1e-9)


@pytest.mark.slow
@given(games(), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_order_and_copies_make_no_difference(margins: NDArray[np.float64], random: Any) -> None:
    payoffs = payoffs_of(margins)
    shares, scores = nash_average(payoffs)
    order = random.sample(range(len(payoffs)), len(payoffs))
    again = nash_average(payoffs[np.ix_(order, order)])
    assert again.shares == pytest.approx(shares[order], abs=1e-6)
    assert again.scores == pytest.approx(scores[order], abs=1e-6)
    assert alpha_rank(payoffs[np.ix_(order, order)]) == pytest.approx(alpha_rank(payoffs)[order])
    for i, j in combinations(range(len(payoffs)), 2):
        if np.array_equal(margins[i], margins[j]):
            assert shares[i] == pytest.approx(shares[j], abs=1e-6)
            assert alpha_rank(payoffs)[i] == pytest.approx(alpha_rank(payoffs)[j])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_openspiel_finds_the_same_nash_average() -> None:
    rng = np.random.default_rng(0)
    for number in [2, 3, 4, 5, 6, 8, 10] * 10:
        half = int(rng.choice([1, 3, 20, 500]))
        margins = margins_from(rng.integers(-half, half + 1, (number, number)) / half)
        twins = rng.integers(number, size=number)
        for game in (margins, margins[np.ix_(twins, twins)]):
            theirs = nash_averaging(pyspiel.create_matrix_game(game, -game))[0].ravel()
            ours = nash_average(payoffs_of(game)).shares
            assert ours == pytest.approx(theirs, abs=1e-3)  # its solver is that exact
            assert (game @ ours).max() <= 1e-9
            assert entropy(ours) >= entropy(theirs) - 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_it_finds_an_equilibrium_however_close_the_payoffs(seed: int) -> None:
    """Up to 30 agents, clear wins beside margins of a millionth, copies; in any order."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(10, 31))
    close = rng.uniform(-1, 1, (number, number)) * 10.0 ** -rng.integers(0, 7, (number, number))
    margins = margins_from(np.where(rng.random(close.shape) < 0.5, close, np.sign(close)))
    twins = rng.integers(number, size=number)
    for game in (margins, margins[np.ix_(twins, twins)]):
        shares, scores = nash_average(payoffs_of(game))
        assert shares.sum() == pytest.approx(1)
        assert scores.max() <= 0.5 + 1e-8
        order = rng.permutation(number)
        again = nash_average(payoffs_of(game[np.ix_(order, order)]))
        assert again.shares == pytest.approx(shares[order], abs=1e-5)
        same = nash_average(payoffs_of(game))
        assert np.array_equal(same.shares, shares)


@pytest.mark.parametrize(
    ("margins", "shares"),
    [
        ([[0]], [1]),
        (np.zeros((4, 4)), [1 / 4] * 4),
        ([[0, 1e-6], [-1e-6, 0]], [1, 0]),
        (ROCK_PAPER_SCISSORS, [1 / 3] * 3),
        (margins_from([[0, 0.1, -0.2], [0, 0, 0.7], [0, 0, 0]]), [1 / 3] * 3),
        # Nobody outside the smallest group that beats all others lasts.
        (margins_from([[0, 1, -1, 1], [0, 0, 1, 1], [0, 0, 0, 0.01], [0] * 4]), [1 / 3] * 3 + [0]),
        # a beats b and its twin, which beat c, which beats a: c is left twice as fast as a.
        (margins_from([[0, 1, 1, -1], [0, 0, 0, 1], [0, 0, 0, 1], [0] * 4]),
         [2 / 5, 1 / 5, 1 / 5, 1 / 5]),
    ],
)  # fmt: skip
def test_alpha_ranks_of_known_games(margins: ArrayLike, shares: ArrayLike) -> None:
    assert alpha_rank(payoffs_of(margins)) == pytest.approx(np.asarray(shares), abs=1e-5)


def test_openspiel_finds_the_same_alpha_rank() -> None:
    rng = np.random.default_rng(1)
    for number in [2, 3, 4, 6, 10, 20, 30] * 15:
        half = int(rng.choice([1, 3, 500]))
        margins = margins_from(rng.integers(-half, half + 1, (number, number)) / half)
        theirs = alpharank.compute([margins], use_inf_alpha=True, inf_alpha_eps=1e-6)[2]
        ours = alpha_rank(payoffs_of(margins))
        assert ours == pytest.approx(theirs, abs=1e-9)
        assert ours.sum() == pytest.approx(1)
        assert (ours > 0).all()


def test_alpha_rank_is_exact_for_a_long_chain() -> None:
    """Each beats all that come later: shares fall from one to the next, down to the last digit."""
    shares = alpha_rank(payoffs_of(margins_from(np.ones((30, 30)))))
    assert shares[0] == pytest.approx(1, abs=1e-4)
    assert (np.diff(shares) < 0).all()


@pytest.mark.parametrize("function", [nash_average, alpha_rank])
@pytest.mark.parametrize(
    ("payoffs", "message"),
    [
        ([0.5], r"payoffs has shape \(1,\)"),
        (np.zeros((0, 0)), r"payoffs has shape \(0, 0\)"),
        (np.full((2, 3), 0.5), r"payoffs has shape \(2, 3\)"),
        ([[0.5, 1.1], [-0.1, 0.5]], "payoffs must be numbers from 0 to 1"),
        ([[0.5, np.nan], [0.5, 0.5]], "payoffs must be numbers from 0 to 1"),
        ([[0.5, 0.6], [0.6, 0.5]], r"payoffs\[i, j\] \+ payoffs\[j, i\] must be 1"),
    ],
)
def test_what_is_no_payoff_matrix_is_refused(function: Any, payoffs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        function(payoffs)
    assert "\n" not in str(error.value)


def beats_of(number: int, *edges: tuple[int, int]) -> NDArray[np.bool_]:
    beats = np.zeros((number, number), np.bool_)
    for i, j in edges:
        beats[i, j] = True
    return beats


def test_cycles_of_three_are_all_listed_in_the_order_of_names() -> None:
    names = ["rock", "paper", "scissors", "well"]
    beats = beats_of(4, (0, 2), (2, 1), (1, 0), (3, 0), (3, 2), (1, 3))
    assert cycles(names, beats) == (
        ("rock", "scissors", "paper"),
        ("paper", "well", "scissors"),
    )
    assert cycles(names, np.triu(np.ones((4, 4)), 1)) == ()
    assert cycles([], np.zeros((0, 0))) == ()


def test_a_component_without_three_shows_one_shortest_cycle() -> None:
    five = [(4, 3), (3, 2), (2, 1), (1, 0), (0, 4)]
    assert cycles("abcde", beats_of(5, *five)) == (("a", "e", "d", "c", "b"),)
    # With the shortcut c -> a there is a circle of four beside that of five.
    assert cycles("abcde", beats_of(5, *five, (2, 0))) == (("a", "e", "d", "c"),)
    # Two components, and one between them that is in no circle.
    both = beats_of(9, (0, 2), (2, 4), (4, 6), (6, 0), (0, 8), (8, 1), (1, 3), (3, 5), (5, 1))
    assert cycles("abcdefghi", both) == (("a", "c", "e", "g"), ("b", "d", "f"))


@given(st.integers(0, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_cycles_are_those_of_a_plain_search(number: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    results = np.triu(rng.integers(-1, 2, (number, number)), 1)
    beats = (results - results.T) > 0
    circles: list[tuple[int, ...]] = [
        circle
        for length in range(3, number + 1)
        for circle in permutations(range(number), length)
        if circle[0] == min(circle)
        and all(beats[i, j] for i, j in zip(circle, circle[1:] + circle[:1], strict=True))
    ]
    reached = np.linalg.matrix_power(np.eye(number) + beats, number) > 0
    expected: set[tuple[int, ...]] = {circle for circle in circles if len(circle) == 3}
    for start in range(number):
        component = np.nonzero(reached[start] & reached[:, start])[0]
        inside = [circle for circle in circles if set(circle) <= set(component.tolist())]
        if inside and len(min(inside, key=len)) > 3:
            expected.add(min(inside, key=lambda circle: (len(circle), circle)))
    names = [f"agent {i}" for i in range(number)]
    assert cycles(names, beats) == tuple(tuple(names[i] for i in c) for c in sorted(expected))


def test_thirty_agents_have_many_cycles_of_three() -> None:
    """Everybody beats the next half of a round table of 29: n (n^2 - 1) / 24 circles."""
    gaps = (np.arange(29)[None, :] - np.arange(29)[:, None]) % 29
    assert len(cycles([str(i) for i in range(29)], (gaps > 0) & (gaps <= 14))) == 29 * 840 // 24


@pytest.mark.parametrize(
    ("beats", "message"),
    [
        (np.zeros((2, 3)), r"beats has shape \(2, 3\); it must be \(2, 2\)"),
        (np.eye(2), "beats must not hold both ways"),
        ([[False, True], [True, False]], "beats must not hold both ways"),
    ],
)
def test_contradictory_beats_are_refused(beats: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cycles(["a", "b"], beats)
