"""Exact values of small decks, beside a second, slow solution and what must hold of any game."""

import copy
import random
from typing import Any

import numpy as np
import pytest

from tests.reference import solved
from tests.reference.attack_defence import AttackDefence
from war_agents.solve import solve, value_of
from war_agents.solve.solution import num_open_states
from war_envs.state import State
from war_envs.variant import VARIANT_NAMES, make_variant

GAME = "attack-defence"
MINIMAL = [name for name in VARIANT_NAMES if "minimal" in name]


def position(
    name: str, actions: tuple[tuple[int, int], ...], rng: random.Random, **options: Any
) -> tuple[State, list[AttackDefence]]:
    """A position after some turns of a random deal, and all games that both players hold possible.

    Games of hidden cards are told apart by what both have seen; with open cards there is one.
    """
    variant = make_variant(GAME, name, **options)
    rules = {mode: getattr(variant, mode) for mode in ("minimal", "fair", "open_cards")}
    deals = solved.all_deals(variant.minimal, variant.fair, variant.num_ranks)
    hands = rng.choice(deals)
    state = State.from_hands(variant, hands)
    games = [AttackDefence(deal, **rules, **options) for deal in deals]
    (true,) = (copy.deepcopy(game) for game in games if game.hands == [*map(list, hands)])
    if variant.open_cards:
        games = [copy.deepcopy(true)]
    for pair in actions:
        state.apply(pair)
        true.play(*pair)
        for game in games:
            game.play(*pair)
        games = [game for game in games if game.last == true.last]
    return state, games


TURNS = [(), ((0, 0),), ((1, 0),), ((1, 1),), ((0, 0), (1, 0))]


@pytest.mark.slow
@pytest.mark.parametrize("own_card", ["bottom", "first"])
@pytest.mark.parametrize("actions", TURNS, ids=str)
@pytest.mark.parametrize("name", MINIMAL)
def test_positions_are_worth_what_the_plain_rules_say(
    name: str, actions: tuple[tuple[int, int], ...], own_card: str
) -> None:
    rng = random.Random(f"{name} {actions}")
    options: dict[str, Any] = {"num_ranks": 3, "own_card": own_card}
    more = 1 if not actions and name == "minimal" else 2  # turns to go: there it takes long
    for _ in range(3):
        state, games = position(name, actions, rng, max_turns=len(actions) + more, **options)
        expected = solved.worth(games)
        assert value_of(state) == pytest.approx(expected, abs=1e-9)


def test_deals_of_a_short_game_are_each_worth_what_the_plain_rules_say() -> None:
    """The mean is 0 whatever the rules; the spread is not."""
    deals = solved.all_deals(minimal=True, fair=False, num_ranks=3)
    options: dict[str, Any] = {"minimal": True, "open_cards": True, "num_ranks": 3, "max_turns": 2}
    slow = [solved.worth([AttackDefence(hands, **options)]) for hands in deals]
    fast = solve(GAME, "minimal+open-card", num_ranks=3, max_turns=2).deals
    # Each order of ranks stands for as many deals as any other.
    values, counts = np.unique(np.round(slow, 9), return_counts=True)
    found, numbers = np.unique(np.round(fast, 9), return_counts=True)
    assert found.tolist() == values.tolist()
    assert (numbers * (len(slow) // len(fast))).tolist() == counts.tolist()


@pytest.mark.parametrize("name", VARIANT_NAMES)
def test_symmetric_decks_are_worth_nothing_and_no_value_is_out_of_range(name: str) -> None:
    solution = solve(GAME, name, num_ranks=3, max_turns=40)
    assert solution.value == pytest.approx(0.0, abs=1e-6)
    assert np.abs(solution.deals).max() <= 1.0
    assert solution.open_states <= num_open_states(solution.variant)


def test_the_known_spread_of_deals() -> None:
    solution = solve(GAME, "minimal+open-card", num_ranks=3)
    assert np.abs(solution.deals).mean() == pytest.approx(0.6378, abs=5e-5)
    assert len(solution.deals) == 90


def test_a_longer_limit_decides_more_and_changes_nothing_that_is_decided() -> None:
    before = np.zeros(90)
    for max_turns in (1, 3, 9, 27, 81):
        deals = solve(GAME, "minimal+open-card", num_ranks=3, max_turns=max_turns).deals
        decided = np.abs(before) == 1.0
        np.testing.assert_array_equal(deals[decided], before[decided])
        before = deals
    assert (np.abs(before) == 1.0).any()


@pytest.mark.parametrize(
    ("game", "options", "words"),
    [
        ("strategic-war", {"num_ranks": 3}, "game='strategic-war' is not allowed"),
        ("chess", {}, "game='chess' is unknown"),
        (GAME, {"num_ranks": 5}, "standard with num_ranks=5 has up to .* states"),
        (GAME, {"variant": "minimal", "num_ranks": 7}, "minimal with num_ranks=7 has up to 8,854"),
        (GAME, {"num_ranks": 4}, "num_ranks=4"),
    ],
)
def test_what_cannot_be_solved_is_refused_at_once(
    game: str, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        solve(game, **options)


def test_progress_is_told_and_may_end_it() -> None:
    told: list[tuple[str, int, int | None]] = []
    solve(GAME, "minimal", num_ranks=3, progress=lambda *news: told.append(news))
    assert {what for what, _, _ in told} == {"states", "turns"}
    assert told[-1] == ("turns", 240, 240)

    def stop(*news: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(GAME, "minimal", num_ranks=3, progress=stop)
