"""Who the learner meets, and how often."""

import json
from typing import Any

import numpy as np
import pytest
import torch

from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.scripted.base import RandomAgent
from war_envs.variant import make_variant
from war_train.league.league import League
from war_train.league.pool import LEAST_WEIGHT, OpponentPool

VARIANT = make_variant("attack-defence", "minimal")
LEARNER = RandomAgent("self", VARIANT)
EVEN = np.arange(1000) / 1000
NOBODY = np.empty(0, np.int64)


def network(seed: int = 0) -> CardNetwork:
    made = CardNetwork(VARIANT, NetworkShape(4, 4))
    made.initialise(torch.Generator().manual_seed(seed))
    return made.eval()


def who(league: League, number: int) -> Any:
    """The agent that plays for a number."""
    ((agent, _),) = league.parts(np.array([number]), np.zeros(1, np.int64))
    return agent


def test_shares_are_kept_exactly() -> None:
    league = League(VARIANT, {"self": 3, "memory": 5, "random": 0, "attack": 2}, learner=LEARNER)
    assert np.bincount(league.draw(EVEN)).tolist() == [300, 500, 0, 200]
    assert league.names == ("self", "memory", "random", "attack")


@pytest.mark.parametrize("pool", ["past", "exploiter"])
@pytest.mark.parametrize("first", [True, False])
def test_a_pool_has_its_share_and_the_learner_stands_in(pool: str, first: bool) -> None:
    names = (pool, "random") if first else ("random", pool)
    league = League(VARIANT, dict.fromkeys(names, 0.5), learner=LEARNER)
    place = names.index(pool)
    assert who(league, int(league.draw(EVEN)[place * 500])) is LEARNER
    numbers = [league.add(pool, network(), NOBODY) for _ in range(4)]
    drawn = league.draw(EVEN)
    counts = {number: int((drawn == number).sum()) for number in {*numbers, 1 - place}}
    assert counts == {1 - place: 500, **dict.fromkeys(numbers, 125)}
    assert (league.share_of(drawn) == np.where(drawn == 1 - place, 1 - place, place)).all()


def test_everybody_is_asked_once_and_for_their_own_places() -> None:
    shares = dict.fromkeys(("self", "past", "exploiter", "memory", "random"), 1.0)
    variants = [VARIANT, make_variant("attack-defence", "fair")]
    league = League(variants, shares, learner=LEARNER)
    league.add("past", network(1), NOBODY)
    league.add("exploiter", network(2), NOBODY)
    numbers = np.array([3, 0, 6, 4, 5, 2, 1, 3, 3])
    kinds = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0])
    asked: dict[int, Any] = {}
    for agent, places in league.parts(numbers, kinds):
        for place in places.tolist():
            assert asked.setdefault(place, agent) is agent
    assert sorted(asked) == list(range(9))
    assert asked[0] is asked[8]
    assert asked[0] is not asked[7], "of the other variant"
    assert asked[0].name == asked[7].name == "memory"
    assert asked[1] is asked[5] is asked[6] is LEARNER
    assert asked[2] is asked[4], "all networks in one call"
    assert len({id(agent) for agent in asked.values()}) == 5


@pytest.mark.field_case("F04")
def test_who_leaves_a_pool_finishes_its_games_and_memory_is_bounded() -> None:
    league = League(VARIANT, {"past": 1.0}, learner=LEARNER, past_size=3)
    first = league.add("past", network(), NOBODY)
    oldest = league.networks[first]
    for _ in range(300):
        newest = league.add("past", network(), np.array([first]))
    assert set(league.draw(EVEN).tolist()) == {newest - 2, newest - 1, newest}
    assert league.networks[first] is oldest
    assert league.numbers == [0, first, newest - 2, newest - 1, newest]
    assert league.share_of(np.array([first])).tolist() == [0]
    league.book(np.array([first]), np.array([1]))
    league.add("past", network(), NOBODY)
    assert first not in league.numbers
    assert len(json.dumps(league.get_state())) < 300


def test_those_that_beat_the_learner_are_met_more_often() -> None:
    pool = OpponentPool(4)
    for number in (7, 8, 9):
        pool.add(number)
    pool.book(np.repeat([7, 8, 9], 98), np.repeat([1, 0, -1], 98))
    assert [pool.score(number) for number in (7, 8, 9)] == [0.99, 0.5, 0.01]
    weights = np.array([LEAST_WEIGHT, 0.25, 0.99**2])
    counts = np.unique(pool.draw(np.arange(100_000) / 100_000), return_counts=True)
    assert counts[0].tolist() == [7, 8, 9]
    np.testing.assert_allclose(counts[1] / 100_000, weights / weights.sum(), atol=2e-5)


def test_the_one_that_the_learner_scores_most_against_leaves_and_never_the_newest() -> None:
    pool = OpponentPool(3)
    for number in (1, 2, 3):
        pool.add(number)
    pool.book(np.array([1, 1, 2, 2, 3, 3]), np.array([1, -1, 1, 1, -1, -1]))
    pool.add(4)
    assert pool.numbers == [1, 3, 4]
    pool.book(np.array([4, 4]), np.array([1, 1]))
    pool.add(5)
    assert pool.numbers == [1, 3, 5]
    pool.book(np.array([1]), np.array([-1]))
    pool.add(6)
    assert pool.numbers == [1, 3, 6], (
        "of equals the oldest leaves, but no old one was easier than 5"
    )


def test_what_happened_before_others_joined_counts_half() -> None:
    pool = OpponentPool(3)
    pool.add(1)
    pool.book(np.full(8, 1), np.ones(8, np.int64))
    assert pool.score(1) == 9 / 10
    pool.add(2)
    assert pool.score(1) == 5 / 6
    pool.book(np.array([5]), np.array([1]))  # who is no opponent of this pool


def test_a_league_goes_on_from_its_state() -> None:
    shares = {"past": 1.0, "exploiter": 1.0, "random": 1.0}
    league = League(VARIANT, shares, learner=LEARNER, past_size=2)
    for seed in range(4):
        league.add("past", network(seed), np.array([3]))
    league.add("exploiter", network(9), np.array([3]))
    league.book(np.array([3, 5, 7]), np.array([1, -1, 0]))
    other = League(VARIANT, shares, learner=LEARNER, past_size=2)
    other.set_state(json.loads(json.dumps(league.get_state())), league.networks)
    assert other.get_state() == league.get_state()
    assert (other.draw(EVEN) == league.draw(EVEN)).all()
    assert other.numbers == league.numbers
    assert other.add("past", network(), NOBODY) == league.add("past", network(), NOBODY)


@pytest.mark.parametrize(
    "change",
    [
        {"pools": {}},
        {"pools": 3},
        {"next_number": "4"},
        {"next_number": 1},
        {"pools": {"past": {"numbers": [1, 9], "joined": {"1": [0, 0]}}}},
        {"pools": {"past": {"numbers": [[1], {}], "joined": {"1": [0, 0]}}}},
        {"pools": {"past": {"numbers": [1], "joined": {"1": [1, 2]}}}},
        {"pools": {"past": {"numbers": [1], "joined": {"1": [0, 0], "2": [0, 0]}}}},
        {"pools": {"past": {"numbers": [1], "joined": {"1": [float("inf"), 0]}}}},
        {"pools": {"past": {"numbers": [1], "joined": {"1": [1]}}}},
    ],
)
def test_a_state_of_no_league_is_refused(change: dict[str, Any]) -> None:
    league = League(VARIANT, {"past": 1.0}, learner=LEARNER)
    league.add("past", network(), NOBODY)
    before = league.get_state()
    with pytest.raises(ValueError, match="league"):
        league.set_state({**before, **change}, league.networks)
    assert league.get_state() == before


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({}, "above 0"),
        ({"random": 0.0}, "above 0"),
        ({"random": -1.0}, "random"),
        ({"random": float("nan")}, "random"),
        ({"random": True}, "random"),
        ({"nobody": 1.0}, "nobody"),
        ({"self": 1.0}, "learner"),
        ({"exploiter": 1.0}, "learner"),
        ({"top": 1.0}, "top"),
        ("random", "shares"),
    ],
)
def test_wrong_shares_are_refused(shares: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        League(VARIANT, shares)
