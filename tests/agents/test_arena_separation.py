"""Claims about the order of agents: seldom wrong, whenever one stops; and soon made."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from war_agents.arena.stats.separation import BETS, SeparationTest

Scores = NDArray[np.float64]
RNG = np.random.Generator


def fair(rng: RNG, deals: int) -> Scores:
    """Two agents that win or lose to each other."""
    first = rng.integers(0, 2, deals).astype(np.float64)
    return np.stack([first, 1 - first], axis=1)


def round_robin(rng: RNG, deals: int) -> Scores:
    """Four equal agents; the luck of a deal goes the same way in all its games."""
    luck = rng.normal(0, 1, (deals, 1, 1))
    won = np.triu(luck + rng.normal(0, 0.5, (deals, 4, 4)) > 0, 1)
    lost = np.tril(~np.swapaxes(won, 1, 2), -1)
    scores: Scores = (won | lost).sum(axis=2) / 3
    return scores


def skewed(rng: RNG, deals: int) -> Scores:
    """Three of mean 0.1: a tenth of all points at once, a bit each deal, or something between."""
    return np.stack(
        [
            (rng.random(deals) < 0.1).astype(np.float64),
            np.full(deals, 0.1),
            0.2 * rng.integers(0, 2, deals),
        ],
        axis=1,
    )


def rarely_lost(rng: RNG, deals: int) -> Scores:
    """Two of mean 0.99: one loses a deal in a hundred, all of it; the other a bit each deal."""
    return np.stack([1.0 * (rng.random(deals) >= 0.01), np.full(deals, 0.99)], axis=1)


def mixed(rng: RNG, deals: int) -> Scores:
    """Two equals, and two equals far below."""
    means = np.array([0.7, 0.7, 0.3, 0.3])
    return (rng.random((deals, 4)) < means).astype(np.float64)


def barely_above(rng: RNG, deals: int) -> Scores:
    """Differences that are there, but too small to be seen."""
    return (rng.random((deals, 3)) < [0.501, 0.5, 0.499]).astype(np.float64)


TRUTH: dict[Callable[[RNG, int], Scores], Scores] = {
    fair: np.zeros(2),
    round_robin: np.zeros(4),
    skewed: np.zeros(3),
    rarely_lost: np.zeros(2),
    mixed: np.array([1, 1, 0, 0]),
    barely_above: np.array([2, 1, 0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.6, 0.95])
@pytest.mark.parametrize("players", TRUTH)
def test_wrong_claims_are_rare_however_long_one_waits_for_them(
    players: Callable[[RNG, int], Scores], confidence: float
) -> None:
    """At most one tournament in 20 (or 2 in 5) ever has one, within 3 standard deviations."""
    truth = TRUTH[players]
    right = truth[:, None] > truth[None, :]
    rng = np.random.default_rng(int(confidence * 100))
    wrong = 0
    for _ in range(150):
        test = SeparationTest(len(truth), confidence)
        test.update(players(rng, 2000))
        wrong += bool((test.above & ~right).any())
    error = 1 - confidence
    assert wrong / 150 <= error + 3 * np.sqrt(error * confidence / 150)


def test_it_is_not_more_careful_than_it_must() -> None:
    """Two equal agents: of 500 long tournaments at 60 %, more than 1 in 10 claim something."""
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(500):
        test = SeparationTest(2, 0.6)
        test.update(fair(rng, 2000))
        wrong += bool(test.above.any())
    assert 50 < wrong < 233


@pytest.mark.parametrize(("gap", "deals"), [(0.1, 2000), (0.05, 8000)])
def test_agents_that_differ_are_separated(gap: float, deals: int) -> None:
    """Three agents, wins and losses independent, which is as noisy as it gets; 19 times of 20."""
    rng = np.random.default_rng(0)
    means = 0.5 + gap * np.array([0, 1, -1])
    expected = means[:, None] > means[None, :]
    separated = 0
    for _ in range(40):
        test = SeparationTest(3, 0.95)
        test.update((rng.random((deals, 3)) < means).astype(np.float64))
        separated += test.separated
        assert not (test.above & ~expected).any()
        assert not test.separated or np.array_equal(test.above, expected)
    assert separated >= 38


def test_what_is_certain_is_seen_at_once() -> None:
    def after(deals: int) -> SeparationTest:
        test = SeparationTest(2, 0.95)
        test.update(np.tile([1.0, 0.0], (deals, 1)))
        return test

    assert not after(5).separated
    assert after(15).separated
    assert after(15).above.tolist() == [[False, True], [False, False]]


def test_identical_agents_are_never_separated() -> None:
    rng = np.random.default_rng(0)
    test = SeparationTest(3, 0.95)
    score = rng.random((20_000, 1))
    test.update(np.hstack([score, score, np.zeros_like(score)]))
    assert not test.separated
    assert test.above.tolist() == [[False, False, True], [False, False, True], [False] * 3]


def test_claims_stay() -> None:
    test = SeparationTest(2, 0.95)
    test.update(np.tile([1.0, 0.0], (50, 1)))
    test.update(np.tile([0.0, 1.0], (500, 1)))
    assert test.above.tolist() == [[False, True], [False, False]]


def test_a_claim_at_any_deal_counts() -> None:
    """One that would be lost again by the end of the same update."""
    test = SeparationTest(2, 0.95)
    test.update(np.vstack([np.tile([1.0, 0.0], (50, 1)), np.tile([0.0, 1.0], (500, 1))]))
    assert test.above.tolist() == [[False, True], [False, False]]


def claims_of_a_plain_reading(scores: Scores, confidence: float) -> NDArray[np.bool_]:
    """What every bettor owns, deal by deal, without logarithms."""
    number = scores.shape[1]
    goal = number * (number - 1) / (1 - confidence)
    above = np.zeros((number, number), np.bool_)
    wealth = np.ones((number, number, len(BETS)))
    for deal in scores:
        wealth *= 1 + BETS * (deal[:, None] - deal[None, :])[:, :, None]
        above |= (wealth.mean(axis=2) >= goal) & ~above.T
    return above


@pytest.mark.parametrize("seed", range(20))
def test_it_is_a_plain_reading_of_its_definition_however_deals_are_cut(seed: int) -> None:
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 6))
    scores = rng.beta(1, 1 + rng.random(number), (400, number))
    expected = claims_of_a_plain_reading(scores, 0.9)
    order = rng.permutation(number)
    whole, pieces, shuffled = (SeparationTest(number, 0.9) for _ in range(3))
    whole.update(scores)
    shuffled.update(scores[:, order])
    stop = 0
    while stop < len(scores):
        start, stop = stop, stop + int(rng.integers(0, 60))
        pieces.update(scores[start:stop])
        assert np.array_equal(pieces.above, claims_of_a_plain_reading(scores[:stop], 0.9))
    assert np.array_equal(whole.above, expected)
    assert np.array_equal(pieces.above, expected)
    assert np.array_equal(shuffled.above, expected[np.ix_(order, order)])


def test_long_updates_are_cut_alike() -> None:
    """100,000 deals at once need more than one piece of memory."""
    rng = np.random.default_rng(3)
    scores = (rng.random((100_000, 5)) < 0.5 + 0.002 * np.arange(5)).astype(np.float64)
    whole, pieces = SeparationTest(5, 0.95), SeparationTest(5, 0.95)
    whole.update(scores)
    for piece in np.array_split(scores, 77):
        pieces.update(piece)
    assert whole.above.any()
    assert not whole.separated
    assert np.array_equal(whole.above, pieces.above)


def test_what_it_hands_out_is_a_copy() -> None:
    test = SeparationTest(2, 0.95)
    test.above[0, 1] = True
    assert not test.above.any()


@pytest.mark.parametrize("confidence", [0.5, 1, 0, -1, 2, float("nan")])
def test_what_is_no_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match=f"confidence={confidence}; it must be between"):
        SeparationTest(3, confidence)


def test_one_agent_is_refused() -> None:
    with pytest.raises(ValueError, match="num_agents=1; it must be at least 2"):
        SeparationTest(1, 0.95)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, 0.5], r"scores has shape \(2,\); it must be \(deals, 2\)"),
        ([[0.5, 0.5, 0.5]], r"scores has shape \(1, 3\); it must be \(deals, 2\)"),
        ([[0.5, 1.01]], "scores must be numbers from 0 to 1"),
        ([[0.5, float("nan")]], "scores must be numbers from 0 to 1"),
    ],
)
def test_what_is_no_matrix_of_scores_is_refused(scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SeparationTest(2, 0.95).update(np.array(scores))
