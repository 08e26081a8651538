"""Wrong arguments of batches: one line that names the argument, and nothing has changed."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.reference.cards import Game
from tests.support.decks import GAMES
from war_envs.batch import Batch, make_batch


def at_the_defence() -> Batch:
    """Six games of Strategic War in which the defender must flip: players 1, 0, 1, 0, 1, 0."""
    batch = make_batch("strategic-war", 6, "minimal")
    batch.reset(seed=4, first_attacker=[0, 1, 0, 1, 0, 1])
    batch.step(np.zeros(6, int))
    return batch


@pytest.mark.field_case("A14")
def test_an_illegal_action_is_named_and_nothing_changes() -> None:
    batch = at_the_defence()
    movers = batch.mover.tolist()
    assert movers == [1, 0, 1, 0, 1, 0]
    before = batch.games.copy()
    for row, wrong in product(range(6), (2, 3, 4, -1, 2**40)):
        actions = np.zeros(6, int)
        actions[row] = wrong
        pairs = np.zeros((6, 2), int)
        pairs[row, movers[row]] = wrong
        message = rf"actions: {wrong} of player_{movers[row]} in game {row} is illegal.*0 TOP"
        for given in (actions, pairs):
            with pytest.raises(ValueError, match=message) as refused:
                batch.step(given)
            assert "\n" not in str(refused.value)
            assert np.array_equal(batch.games, before)
        # Of a pair, only the mover's entry counts.
        pairs = np.full((6, 2), wrong)
        pairs[np.arange(6), movers] = 1
        other, expected = at_the_defence(), at_the_defence()
        other.step(pairs)
        expected.step(np.ones(6, int))
        assert np.array_equal(other.games, expected.games)


def test_an_illegal_choice_in_attack_and_defence() -> None:
    batch = make_batch("attack-defence", 5, "minimal")
    batch.reset(seed=4)
    before = batch.games.copy()
    for row, seat, wrong in product(range(5), range(2), (2, -1, 255, -(2**40))):
        actions = np.zeros((5, 2), int)
        actions[row, seat] = wrong
        message = rf"actions: {wrong} of player_{seat} in game {row} is illegal.*0 ATTACK, 1 DEF"
        with pytest.raises(ValueError, match=message):
            batch.step(actions)
        assert np.array_equal(batch.games, before)


@pytest.mark.parametrize("game", GAMES)
def test_actions_of_a_wrong_shape_or_kind(game: Game) -> None:
    batch = make_batch(game, 3, "minimal")
    batch.reset(seed=1)
    before = batch.games.copy()
    wrong: list[Any] = [
        np.zeros((3, 2)),
        np.zeros((3, 2), bool),
        np.zeros((2, 2), int),
        np.zeros((3, 3), int),
        np.zeros((3, 1), int),
        np.zeros((), int),
        0,
        None,
        [],
        "000",
        [[0, 0], [0, 0], [0, None]],
        [["0", "0"]] * 3,
    ]
    if game == "attack-defence":
        wrong.append(np.zeros(3, int))
    for actions in wrong:
        with pytest.raises(ValueError, match=r"^actions (has dtype|is a)"):
            batch.step(actions)
        assert np.array_equal(batch.games, before)
    for kind in (np.int8, np.uint8, np.int32, np.uint64):
        batch.reset(seed=1)
        batch.step(np.zeros((3, 2), kind))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"seed": 1.0}, "seed"),
        ({"seed": "7"}, "seed"),
        ({"seed": True}, "seed"),
        ({"domain": -1}, "domain"),
        ({"domain": 0.5}, "domain"),
        ({"lanes": [0, 1]}, "lanes"),
        ({"lanes": [0, 1, -1]}, "lanes"),
        ({"lanes": [0.0, 1.0, 2.0]}, "lanes"),
        ({"lanes": 3}, "lanes"),
    ],
)
def test_wrong_arguments_of_reset_change_nothing(arguments: dict[str, Any], named: str) -> None:
    batch = make_batch("strategic-war", 3)
    batch.reset(seed=1)
    before = batch.games.copy()
    with pytest.raises(ValueError, match=named) as refused:
        batch.reset(**arguments)
    assert "\n" not in str(refused.value)
    assert np.array_equal(batch.games, before)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"rows": [0]}, "rows and seats"),
        ({"seats": [0]}, "rows and seats"),
        ({"rows": [3], "seats": [0]}, "rows"),
        ({"rows": [-1], "seats": [0]}, "rows"),
        ({"rows": [0], "seats": [2]}, "seats"),
        ({"rows": [0], "seats": [-1]}, "seats"),
        ({"rows": [0, 1], "seats": [0]}, "rows"),
        ({"rows": [0.0], "seats": [0]}, "rows"),
        ({"rows": 0, "seats": 0}, "rows"),
        ({"rows": [[0]], "seats": [[0]]}, "rows"),
        ({"rows": [True], "seats": [0]}, "rows"),
        ({"encoding": "text"}, "encoding"),
        ({"memory": None, "encoding": 5}, "encoding"),
        ({"memory": "short"}, "memory"),
    ],
)
def test_wrong_arguments_of_observe(arguments: dict[str, Any], named: str) -> None:
    for game in GAMES:
        batch = make_batch(game, 3)
        batch.reset(seed=1)
        with pytest.raises(ValueError, match=named) as refused:
            batch.observe(**arguments)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"num_games": 0}, "num_games"),
        ({"num_games": 1.0}, "num_games"),
        ({"num_games": True}, "num_games"),
        ({"num_games": 10**9}, "num_games"),
        ({"num_threads": 0}, "num_threads"),
        ({"num_threads": 10_000}, "num_threads"),
        ({"encoding": "text"}, "encoding"),
        ({"memory": ""}, "memory"),
        ({"variant": "fair+minimal"}, "variant"),
        ({"variant": "Minimal"}, "variant"),
        ({"num_ranks": 4}, "num_ranks"),
        ({"colour": 4}, "colour"),
        ({"game": "attack_defence"}, "game"),
        ({"game": None}, "game"),
    ],
)
def test_wrong_arguments_of_make_batch(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named) as refused:
        make_batch(**{"game": "attack-defence", "num_games": 2, **arguments})
    assert "\n" not in str(refused.value)


@pytest.mark.field_case("A05")
def test_nothing_works_before_reset() -> None:
    batch = make_batch("strategic-war", 2)
    for call in (
        batch.observe,
        lambda: batch.step(np.zeros(2, int)),
        lambda: batch.mover,
        lambda: batch.acting,
    ):
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            call()
    batch.close()
