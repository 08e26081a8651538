"""Saving and restoring many games against an agent."""

import copy
import json
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.support.failing import Failing
from tests.support.handed_out import assert_same
from tests.support.versus_states import WRONG, changed
from war_agents.versus import OpponentFailedError
from war_agents.versus.vector import VersusVectorEnv
from war_envs.variant import GAMES

BOTH = pytest.mark.parametrize("game", GAMES)
SHORT: dict[str, Any] = {"minimal": True, "num_ranks": 5, "max_turns": 12}


def make(game: str, **options: Any) -> VersusVectorEnv:
    return VersusVectorEnv(game, 5, **SHORT | options)


def future(envs: VersusVectorEnv, steps: int = 25) -> list[Any]:
    """What is shown from here on; now and then a choice is illegal."""
    rng = np.random.default_rng(1)
    shown: list[Any] = []
    over = envs._games.over.copy()
    for _ in range(steps):
        if envs.autoreset_mode is AutoresetMode.DISABLED and over.any():
            shown.append(envs.reset(options={"reset_mask": over}))
        mask = envs.action_masks()
        allowed = mask if rng.random() < 0.9 else np.ones_like(mask)
        shown.append(envs.step((rng.random(mask.shape) * allowed).argmax(axis=1)))
        over = shown[-1][2] | shown[-1][3]
    shown.append(envs.reset())
    return shown


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("opponent", ["random", "memory"])
def test_restored_environments_go_on_exactly(game: str, mode: AutoresetMode, opponent: str) -> None:
    options = {"autoreset_mode": mode, "opponent": opponent}
    for steps in (0, 3, 20):
        envs = make(game, **options)
        envs.reset(seed=1)
        if steps:
            future(envs, steps)
            for _ in range(8):  # to where some games may be over
                if not envs._games.over.any():
                    envs.step(envs.action_masks().argmax(axis=1))
        state = envs.get_state()
        json.loads(state)  # plain data
        fresh, used = make(game, **options), make(game, **options)
        used.reset(seed=7)
        future(used, 2)
        twins = [fresh, used, envs.clone(), copy.copy(envs)]
        for twin in (fresh, used):
            twin.set_state(state)
        for twin in twins:
            assert twin.get_state() == state
            np.testing.assert_array_equal(twin.action_masks(), envs.action_masks())
        expected = future(envs)
        for twin in twins:
            assert_same(future(twin), expected)


MANY_WRONG: dict[str, Any] = {
    "versus_vector": [1, None, KeyError],
    "num_envs": [4, None],
    "game": ["chess", KeyError],
    "seat": [0, KeyError],
    "opponent": ["memory", None],
    "autoreset_mode": ["NextStep", "x"],
    "games": [None, 3, ["list"], ["dict", {}], KeyError],
    "games.record_hands": [["array", "|u1", [0], ""], None],
    "games.seats": [["array", "<i8", [1], "AAAAAAAAAAA="]],
    "games.calls": [["array", "<i8", [], "//////////8="], 0],
    "games.lengths": WRONG["opponent.memory"],
}


def with_change(state: bytes, path: str, value: Any) -> bytes:
    content = json.loads(state)
    changed(path, value)(content)
    return json.dumps(content).encode()


def array(values: Any, dtype: str) -> Any:
    from war_agents import plain

    return plain.encoded(np.array(values, dtype))


@BOTH
def test_what_is_no_state_is_refused_and_changes_nothing(game: str) -> None:
    envs, other = make(game), make(game)
    envs.reset(seed=1)
    before = envs.get_state()
    other.reset(seed=2)
    future(other, 9)
    good = other.get_state()
    wrong = MANY_WRONG | {
        "games.seats": [array([0, 1, 2, 0, 1], "i8"), array([0] * 4, "i8")],
        "games.opponents": [array([0, 0, 1, 0, 0], "i8")],
        "games.calls": [array(-1, "i8")],
    }
    others: list[Any] = [
        with_change(good, path, value) for path, values in wrong.items() for value in values
    ]
    others += [b"", b"[]", None, good.decode(), make_state(game, num_ranks=7)]
    others += [make_state(game, autoreset_mode="Disabled"), make_state(game, seat=1)]
    for state in others:
        with pytest.raises(ValueError, match="state") as caught:
            envs.set_state(state)
        assert "\n" not in str(caught.value)
        assert envs.get_state() == before
    records = json.loads(good)["games"]["record_hands"]
    broken = with_change(good, "games.record_hands", [*records[:3], "A" * len(records[3])])
    with pytest.raises(ValueError, match="state"):
        envs.set_state(broken)
    assert envs.get_state() == before
    twin = make(game)
    twin.reset(seed=1)
    assert_same(future(envs), future(twin))


def make_state(game: str, **options: Any) -> bytes:
    envs = make(game, **options)
    envs.reset(seed=1)
    return envs.get_state()


def test_without_games_there_is_no_state() -> None:
    envs = make("strategic-war", opponent=Failing(at=3))
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        envs.get_state()
    envs.reset(seed=1)
    state = envs.get_state()
    with pytest.raises(OpponentFailedError, match=r"agent '.*', has failed: OSError: .*unplugged"):
        future(envs)
    with pytest.raises(RuntimeError, match=r"opponent has failed.*reset\(\)"):
        envs.get_state()
    envs.set_state(state)  # whole again
    envs.step(envs.action_masks().argmax(axis=1))
