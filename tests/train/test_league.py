"""Who the learner meets, and how often."""

import numpy as np
import pytest

from war_agents.scripted.base import RandomAgent
from war_envs.variant import make_variant
from war_train.league import League

VARIANT = make_variant("attack-defence", "minimal")
LEARNER = RandomAgent("self", VARIANT)
EVEN = np.arange(1000) / 1000
NOBODY = np.empty(0, np.int64)


def past() -> RandomAgent:
    return RandomAgent("past", VARIANT)


def test_shares_are_kept_exactly() -> None:
    league = League(VARIANT, {"self": 3, "memory": 5, "random": 0, "attack": 2}, learner=LEARNER)
    assert np.bincount(league.draw(EVEN)).tolist() == [300, 500, 0, 200]
    assert league.names == ("self", "memory", "random", "attack")


@pytest.mark.parametrize("order", [("past", "random"), ("random", "past")])
def test_past_selves_share_their_share_evenly_and_the_learner_stands_in(
    order: tuple[str, str],
) -> None:
    league = League(VARIANT, {order[0]: 0.5, order[1]: 0.5}, learner=LEARNER)
    place = order.index("past")
    assert league.agent(int(league.draw(EVEN)[place * 500])) is LEARNER
    numbers = [league.add_past(past(), NOBODY) for _ in range(4)]
    drawn = league.draw(EVEN)
    counts = {number: int((drawn == number).sum()) for number in {*numbers, 1 - place}}
    assert counts == {1 - place: 500, **dict.fromkeys(numbers, 125)}
    assert (league.share_of(drawn) == np.where(drawn == 1 - place, 1 - place, place)).all()


def test_the_pool_is_bounded_the_oldest_leaves_and_finishes_its_games() -> None:
    league = League(VARIANT, {"past": 1.0}, learner=LEARNER, past_size=3)
    first = league.add_past(past(), NOBODY)
    oldest = league.agent(first)
    for _ in range(300):
        newest = league.add_past(past(), np.array([first]))
    assert set(league.draw(EVEN).tolist()) == {newest - 2, newest - 1, newest}
    assert league.agent(first) is oldest
    assert len(league._agents) == 5
    league.add_past(past(), NOBODY)
    with pytest.raises(KeyError):
        league.agent(first)


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
        ({"top": 1.0}, "top"),
        ("random", "shares"),
    ],
)
def test_wrong_shares_are_refused(shares: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        League(VARIANT, shares)
