"""Wrong arguments of environments: one line that names the argument, and nothing has changed."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.reference.cards import Game
from tests.support.positions import GAME_KINDS, all_of, is_parallel, make

WRONG_OPTIONS: dict[str, list[Any]] = {
    "minimal": [1, 0, None, "yes", np.True_],
    "fair": [1, None, "fair"],
    "open_cards": [1, [], "open"],
    "num_ranks": [0, 1, 2, 4, 12, 14, 15, -3, 5.0, "5", True, None, np.nan],
    "max_turns": [0, -1, 1.5, 10.0, "10", True, 10**10, np.inf],
    "encoding": ["Vector", "", None, 0, ["tokens"]],
    "memory": ["full", None, 1],
    "render_mode": ["human", "rgb_array", "", 0],
    "render_view": ["player_2", "", None, 0, "both"],
}


def refused(text: str) -> None:
    assert "\n" not in text
    assert len(text) < 600


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_constructors(game: Game, kind: str) -> None:
    wrong = {**WRONG_OPTIONS}
    if game == "attack-defence":
        wrong["own_card"] = ["top", "Bottom", None, 1]
    for option, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=option) as error:
                make(game, kind, **{option: value})
            refused(str(error.value))
    for option in ("colour", "seed", "own_card" if game == "strategic-war" else "first_attacker"):
        with pytest.raises(TypeError, match=option):
            make(game, kind, **{option: 1})


WRONG_SEEDS = [-1, 2**63, 2**64, 1.0, 0.5, "7", b"7", True, [1], (1, 2), float("nan"), np.True_]


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_seeds(game: Game, kind: str) -> None:
    env = make(game, kind, num_ranks=3)
    env.reset(seed=1)
    before = all_of(env)
    for seed in WRONG_SEEDS:
        with pytest.raises(ValueError, match="seed") as error:
            env.reset(seed=seed)
        refused(str(error.value))
        assert all_of(env) == before
    for seed in (0, 2**63 - 1, np.int64(5), np.uint8(5)):
        env.reset(seed=seed)
    five = env.unwrapped.hands
    env.reset(seed=5)
    assert env.unwrapped.hands == five


class _Stringy:
    def __repr__(self) -> str:
        return "two\nlines" + 1000 * "!"


WRONG_HANDS: list[tuple[Any, str]] = [
    (5, "hands"),
    ("AH KS", "hands"),
    ([], "hands"),
    ([["2H"]], "hands"),
    ([["2H"], ["2S"], ["3S"]], "hands"),
    (["2H", "2S"], "hands"),
    ([["2H"], 5], "hands"),
    ([["2H"], None], "hands"),
    ({"player_0": ["2H"], "player_1": ["2S"]}, "hands"),
    (_Stringy(), "hands"),
    ([["2H"], []], r"hands\[1\] is empty"),
    ([[], ["2H"]], r"hands\[0\] is empty"),
    ([["2H"], ["2H"]], "2H twice"),
    ([["2H", "3S", "2H"], ["2S"]], "2H twice"),
    ([["2H"], ["2D"]], "2D, which is not in the deck"),
    ([["8H"], ["2S"]], "8H, which is not in the deck"),
    ([["2h"], ["2S"]], "'2h'"),
    ([["10H"], ["2S"]], "'10H'"),
    ([["H2"], ["2S"]], "'H2'"),
    ([[""], ["2S"]], "card ''"),
    ([["2H"], [3]], "card 3"),
    ([["2H"], [None]], "card None"),
    ([["2H"], [["2S"]]], "card"),
    ([["2H"], [_Stringy()]], "card"),
]


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_given_hands(game: Game, kind: str) -> None:
    env = make(game, kind, minimal=True, num_ranks=5)
    env.reset(seed=1)
    before = all_of(env)
    for (hands, named), seed in product(WRONG_HANDS, (None, 7)):
        with pytest.raises(ValueError, match=named) as error:
            env.reset(seed=seed, options={"hands": hands})
        refused(str(error.value))
        assert all_of(env) == before
    # What is no mistake: any two sequences.
    env.reset(options={"hands": (("2H", "3S"), ["2S"])})
    assert env.unwrapped.hands == (["2H", "3S"], ["2S"])


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_reset_options(game: Game, kind: str) -> None:
    env = make(game, kind, num_ranks=3)
    env.reset(seed=1)
    before = all_of(env)
    wrong: list[tuple[Any, str]] = [
        (5, "options"),
        ([], "options"),
        ("hands", "options"),
        ({"hand": []}, "'hand' is unknown; did you mean 'hands'"),
        ({"Hands": []}, "'Hands' is unknown; did you mean 'hands'"),
        ({"other": 1, "handz": []}, "'handz' is unknown; did you mean 'hands'"),
        (_Stringy(), "options"),
    ]
    if game == "strategic-war":
        values: list[Any] = [2, -1, 0.0, True, "player_2", "0", [0], {}, _Stringy()]
        wrong += [({"first_attacker": value}, "first_attacker") for value in values]
        wrong.append(({"first_attaker": 1}, "did you mean 'first_attacker'"))
        # A right option does not go through beside a wrong one.
        hands = (["2H"], ["2S"])
        wrong.append(({"hands": hands, "first_attacker": 2}, "first_attacker"))
        wrong.append(({"first_attacker": 1, "hands": (["2H"], [])}, "hands"))
    else:
        wrong.append(({"first_attacker": 0}, "first_attacker"))
    for (options, named), seed in product(wrong, (None, 7)):
        with pytest.raises(ValueError, match=named) as error:
            env.reset(seed=seed, options=options)
        refused(str(error.value))
        assert all_of(env) == before
    # The next deal is the one that it would have been.
    other = make(game, kind, num_ranks=3)
    other.reset(seed=1)
    env.reset()
    other.reset()
    assert all_of(env) == all_of(other)


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_unknown_reset_options_are_ignored_with_one_warning(game: Game, kind: str) -> None:
    env, other = make(game, kind, num_ranks=3), make(game, kind, num_ranks=3)
    hands = (["2H"], ["2S"])
    unknown: list[dict[Any, Any]] = [{"options": 1}, {5: []}, {_Stringy(): 1}, {"a": 1, "%s": 2}]
    for options in unknown:
        with pytest.warns(UserWarning, match="reset ignores unknown options") as warned:
            env.reset(seed=1, options={**options, "hands": hands})
        assert len(warned) == 1
        refused(str(warned[0].message))
        assert all(repr(name) in str(warned[0].message) for name in options if name in ("a", "%s"))
        other.reset(seed=1, options={"hands": hands})
        assert all_of(env) == all_of(other)


WRONG_ACTIONS = [-1, 4, 99, 2**70, 1.0, "TOP", "0", True, None, [0], np.array([0]), np.True_, {}]


@pytest.mark.parametrize(
    ("game", "kind"), [which for which in GAME_KINDS if which[1] != "parallel_env"]
)
def test_actions(game: Game, kind: str) -> None:
    env = make(game, kind, num_ranks=3)
    env.reset(seed=1)
    env.step(0)  # in Attack and Defence, a choice is committed
    before = all_of(env)
    for action in [*WRONG_ACTIONS, _Stringy()]:
        with pytest.raises(ValueError, match="action") as error:
            env.step(action)
        refused(str(error.value))
        assert all_of(env) == before
    env.step(np.int64(0))


def test_illegal_actions_of_raw_environments() -> None:
    """Named, with what is legal; in every phase of Strategic War."""
    env = make("strategic-war", "raw_env", num_ranks=3)
    hands = (["2H", "3H", "4H", "3D"], ["2S", "3S", "4S", "2C"])
    env.reset(seed=1, options={"hands": hands, "first_attacker": 0})
    names = ("TOP", "BOTTOM", "FIGHT", "SURRENDER")
    # Flip 2H against 2S: war; then both are asked.
    for legal, choice in (((0, 1), 0), ((0, 1), 0), ((2, 3), 2), ((2, 3), 3)):
        before = all_of(env)
        for action in set(range(4)) - set(legal):
            wanted = ", ".join(f"{number} {names[number]}" for number in legal)
            message = rf"action={action} \({names[action]}\) of {env.agent_selection} .*{wanted}$"
            with pytest.raises(ValueError, match=message):
                env.step(action)
            assert all_of(env) == before
        env.step(choice)
    # With one card left, BOTTOM is no longer legal.
    env.reset(options={"hands": (["2H"], ["2S", "3S"]), "first_attacker": 0})
    with pytest.raises(ValueError, match=r"legal are 0 TOP$"):
        env.step(1)


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_agents(game: Game, kind: str) -> None:
    env = make(game, kind, num_ranks=3)
    env.reset(seed=1)
    for agent in ("player_2", "", None, 0, _Stringy()):
        for method in (
            env.observe,
            env.observation_space,
            env.action_space,
            env.unwrapped.known,
        ):
            with pytest.raises(ValueError, match="agent") as error:
                method(agent)
            refused(str(error.value))


@pytest.mark.field_case("A05")
@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_before_the_first_reset(game: Game, kind: str) -> None:
    env = make(game, kind, render_mode="ansi")
    assert env.possible_agents == ["player_0", "player_1"]
    for agent in env.possible_agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.action_space(agent) is env.action_space(agent)
    uses: list[Callable[[], Any]] = [
        lambda: env.agents,
        lambda: env.num_agents,
        lambda: env.observe("player_0"),
        lambda: env.render(),
        lambda: env.unwrapped.hands,
        lambda: env.unwrapped.known("player_0"),
        lambda: env.unwrapped.get_state(),
        lambda: env.unwrapped.is_legal("player_0", 0),
    ]
    if is_parallel(env):
        uses.append(lambda: env.step({"player_0": 0, "player_1": 0}))
    else:
        uses += [
            lambda: env.step(0),
            lambda: env.last(),
            lambda: env.agent_selection,
            lambda: env.rewards,
            lambda: env.unwrapped.infos,
        ]
    for number, use in enumerate(uses):
        # An AssertionError where PettingZoo's wrapper is first to ask.
        errors = (RuntimeError, AttributeError, AssertionError)
        with pytest.raises(errors, match="reset") as error:
            use()
        assert "\n" not in str(error.value), number
    env.close()
    env.close()
