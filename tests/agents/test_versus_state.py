"""Saving and restoring a game against an agent, and looking into it."""

import copy
import itertools
import json
import subprocess
import sys
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.envs import AGENTS, raw_env
from tests.support.versus_states import WRONG, changed
from war_agents.versus import VersusVectorEnv
from war_agents.versus.single import VersusEnv
from war_envs.cards import GameName
from war_envs.registration import gymnasium_id
from war_envs.variant import GAMES

BOTH = pytest.mark.parametrize("game", GAMES)
SHORT: dict[str, Any] = {"minimal": True, "num_ranks": 5, "max_turns": 30}


class Remembers:
    """Chooses by its seeds and its state: what it was made with, if anything, and a counter."""

    encoding, memory = "tokens", "table"

    def __init__(self, kept: Any = None, name: str = "remembers") -> None:
        self.kept = kept
        self.name = name

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: Any = None,
    ) -> tuple[NDArray[np.int64], Any]:
        self.last = state
        new = (np.zeros(1, np.uint16), *(() if self.kept is None else (self.kept,)))
        count, *kept = new if state is None else state
        legal = np.flatnonzero(action_mask[0])
        action = legal[(int(seeds[0] >> np.uint64(20)) + int(count[0])) % len(legal)]
        return np.array([action]), (count + np.uint16(1), *kept)


def future(env: Any, steps: int = 40) -> list[Any]:
    """What an environment shows from here on, deals included."""
    rng = np.random.default_rng(5)
    mask, shown = env.action_masks(), []
    over = env.unwrapped._over
    for _ in range(steps):
        if over:
            observation, info = env.reset()
            result: Any = (observation, info)
            over = False
        else:
            result = env.step(int(rng.choice(np.flatnonzero(mask))))
            over, info = result[2] or result[3], result[4]
        mask = info["action_mask"]
        shown.append([part.tolist() if isinstance(part, np.ndarray) else part for part in result])
        shown[-1][-1] = {**info, "action_mask": mask.tolist()}
    return shown


def played(game: str, steps: int, **options: Any) -> VersusEnv:
    """An environment after some random choices, perhaps in a later game."""
    env = VersusEnv(game, **SHORT | options)
    env.reset(seed=4)
    future(env, steps)
    return env


@BOTH
@pytest.mark.parametrize(
    "opponent", ["random", "memory", Remembers((np.ones((1, 2)), (np.array([True]),)))]
)
def test_a_restored_environment_goes_on_exactly(game: str, opponent: Any) -> None:
    for steps in (0, 1, 2, 5, 17, 30, None):
        env = played(game, steps or 0, opponent=opponent)
        while steps is None and not env._over:
            env.step(int(env.action_masks().argmax()))
        state = env.get_state()
        json.loads(state)  # plain data
        other = VersusEnv(game, opponent=opponent, **SHORT)
        used = played(game, 7, opponent=opponent)
        twins = [other, used, env.clone()]
        other.set_state(state)
        used.set_state(state)
        for twin in twins:
            assert twin.get_state() == state
            assert twin.seat == env.seat
            assert twin.hands == env.hands
        expected = future(env)
        for twin in twins:
            assert future(twin) == expected
        used.set_state(state)  # and as often as one likes
        assert future(used) == expected


@BOTH
def test_what_is_drawn_next_is_in_it(game: str) -> None:
    env = VersusEnv(game, render_mode="ansi", **SHORT)
    env.reset(seed=1)
    state = env.get_state()
    seats = [env.reset()[1]["seat"] for _ in range(20)]
    assert set(seats) == {0, 1}
    other = VersusEnv(game, render_mode="ansi", **SHORT)
    other.set_state(state)
    first = other.render()
    env.set_state(state)
    assert env.render() == first
    assert [other.reset()[1]["seat"] for _ in range(20)] == seats


@pytest.mark.process
def test_another_process_goes_on_with_it(tmp_path: Any) -> None:
    id_ = "war_envs:war_envs/StrategicWar-Minimal-v0"
    env: Any = gymnasium.make(id_, opponent="random")
    _, info = env.reset(seed=3)
    for _ in range(5):
        *_, info = env.step(int(info["action_mask"].argmax()))
    file = tmp_path / "state.json"
    file.write_bytes(env.unwrapped.get_state())
    script = f"""
import gymnasium
env = gymnasium.make({id_!r}, opponent="random")
env.reset()
env.unwrapped.set_state(open({str(file)!r}, "rb").read())
print([env.step(int(env.unwrapped.action_masks().argmax()))[0].sum() for _ in range(5)])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True
    )
    expected = [env.step(int(env.unwrapped.action_masks().argmax()))[0].sum() for _ in range(5)]
    assert done.stdout.strip() == str(expected)


@BOTH
def test_hands_and_what_is_known_are_those_of_the_game(game: GameName) -> None:
    for seat in (0, 1):
        env: Any = gymnasium.make(gymnasium_id(game, "standard"), seat=seat, **SHORT)
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            _ = env.unwrapped.hands
        with pytest.raises(RuntimeError, match=r"reset\(\)"):
            env.unwrapped.known("player_0")
        raw = raw_env(game, **SHORT)
        env.reset(seed=2)
        raw.reset(seed=2)
        inner = env.unwrapped
        if game == "attack-defence":
            assert inner.hands == raw.hands
            assert all(inner.known(agent) == raw.known(agent) for agent in AGENTS)
        first, second = inner.hands
        assert (len(first), len(second)) == tuple(map(len, inner.known("player_0")))
        with pytest.raises(ValueError, match="agent='nobody' is unknown"):
            inner.known("nobody")
        inner.clone().hands[0].clear()
        assert inner.hands == (first, second)


@BOTH
def test_a_clone_is_independent(game: str) -> None:
    env = played(game, 4, opponent=Remembers())
    before = env.get_state()
    for clone in (env.clone(), copy.copy(env)):
        assert type(clone) is VersusEnv
        assert clone.opponent is not env.opponent
        future(clone)
        assert env.get_state() == before


def play_on(env: VersusEnv) -> None:
    """A few first legal actions."""
    for _ in range(9):
        env.step(int(env.action_masks().argmax()))


@BOTH
@pytest.mark.parametrize("path", WRONG)
def test_what_is_no_state_is_refused_and_changes_nothing(game: str, path: str) -> None:
    env = played(game, 5)
    before = env.get_state()
    other = played(game, 11).get_state()
    for value in WRONG[path]:
        content = json.loads(other)
        changed(path, value)(content)
        with pytest.raises(ValueError, match="state") as caught:
            env.set_state(json.dumps(content).encode())
        assert "\n" not in str(caught.value)
        assert env.get_state() == before
    expected = future(played(game, 5))
    assert future(env) == expected


@BOTH
def test_a_state_of_another_kind_of_environment_is_not_called_an_old_one(game: GameName) -> None:
    raw, envs = raw_env(game, **SHORT), VersusVectorEnv(game, 2, **SHORT)
    raw.reset(seed=1)
    envs.reset(seed=1)
    kinds: list[Any] = [played(game, 3), raw, envs]
    for one, other in itertools.permutations(kinds, 2):
        with pytest.raises(ValueError, match="state is not one of this kind of environment"):
            one.set_state(other.get_state())


@BOTH
def test_states_of_others_are_refused(game: GameName) -> None:
    env = played(game, 3)
    before = env.get_state()
    other_game = next(other for other in GAMES if other != game)
    raw = raw_env(game, **SHORT)
    raw.reset(seed=1)
    nest = b'{"versus": 1, "seat": ' + b"[" * 100_000
    deep = json.loads(before)
    deep["opponent"]["memory"] = ["tuple"]
    for _ in range(200):
        deep["opponent"]["memory"] = ["tuple", deep["opponent"]["memory"]]
    others: list[Any] = [
        played(other_game, 3).get_state(),
        played(game, 3, num_ranks=7).get_state(),
        played(game, 3, seat=0).get_state(),
        played(game, 3, opponent="memory").get_state(),
        raw.get_state(),
        b"",
        b"[]",
        b"\xff",
        nest,
        json.dumps(deep).encode(),
        before.decode(),
        None,
        json.loads(before),
    ]
    for other in others:
        with pytest.raises(ValueError, match="state") as caught:
            env.set_state(other)
        assert "\n" not in str(caught.value)
        assert env.get_state() == before


@BOTH
def test_whose_turn_it_is_must_fit(game: str) -> None:
    env = played(game, 5)
    while env._over:
        env.reset()
    content = json.loads(env.get_state())
    content["seat"] = 1 - content["seat"]
    with pytest.raises(ValueError, match=r"state: it is the turn of player_\d, not of player_\d"):
        env.set_state(json.dumps(content).encode())


def test_before_the_first_deal_there_is_no_state() -> None:
    env = VersusEnv("attack-defence")
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        env.get_state()
    env.clone().reset(seed=1)
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        env.get_state()


class Pair(NamedTuple):
    """A state of a type that plain data cannot name."""

    h: Any
    c: Any


@pytest.mark.parametrize(
    "kept",
    [np.array([None]), np.array(["a"]), np.zeros(1, "f4,f4"), Pair(np.zeros(1), np.zeros(1))],
    ids=["objects", "text", "records", "named"],
)  # fmt: skip
def test_an_opponent_that_remembers_no_plain_data_is_named(kept: Any) -> None:
    env = VersusEnv("attack-defence", opponent=Remembers(kept, "odd\nball"), **SHORT)
    env.reset(seed=1)
    env.step(0)
    with pytest.raises(ValueError, match=r"agent .*odd.*keeps a state that is no plain") as caught:
        env.get_state()
    assert "\n" not in str(caught.value)
    env.step(0)  # the game goes on


@pytest.mark.parametrize(
    "kept",
    [(), ((), (np.array([True]),)), np.zeros((1, 0, 3)), np.array([1 + 2j]),
     np.arange(6, dtype=">i4").reshape(3, 2, 1).T, (np.ones((1, 4), np.float16), np.zeros(1))],
    ids=repr,
)  # fmt: skip
def test_plain_data_comes_back_as_it_was(kept: Any) -> None:
    env, other = (VersusEnv("attack-defence", opponent=Remembers(kept), **SHORT) for _ in "ab")
    env.reset(seed=1)
    env.step(0)
    state = env.get_state()
    other.set_state(state)
    agent: Any = other.opponent
    other.step(0)
    back = agent.last[1]
    assert type(back) is type(kept)
    np.testing.assert_equal(back, kept)
    if isinstance(kept, np.ndarray):
        assert (back.dtype, back.shape) == (kept.dtype, kept.shape)
        assert back.flags.writeable


def test_a_game_in_which_the_opponent_has_failed_has_no_state() -> None:
    from tests.support.failing import Failing

    env = VersusEnv("strategic-war", seat=0, opponent=Failing(at=2), **SHORT)
    env.reset(seed=1, options={"first_attacker": 0})
    env.step(0)
    with pytest.raises(RuntimeError, match="has failed"):
        play_on(env)
    with pytest.raises(ValueError, match=r"the opponent has failed in this game; call reset\(\)"):
        env.get_state()
