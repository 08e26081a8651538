"""Autoreset, final observations and whose arrays they are, wherever many games are played at once.

By hand: `tests.support.short_games`.
"""

import itertools
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from tests.support import short_games
from tests.support.envs import pettingzoo_env
from tests.support.handed_out import HandedOut, assert_same
from tests.support.short_games import ATTACK, Row, decoded, hands
from war_envs.info import Ending
from war_envs.registration import gymnasium_id
from war_envs.variant import GAMES

# Newer Pythons warn of a fork beside threads that some other test has left.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
BOTH = pytest.mark.parametrize("game", GAMES)
MODES = pytest.mark.parametrize("mode", AutoresetMode)
SHORT_ID = gymnasium_id("attack-defence", "standard")
SHORT: dict[str, Any] = {**short_games.OPTIONS, "opponent": "attack"}
KINDS: dict[str, dict[str, Any]] = {
    "sync": {"vectorization_mode": "sync"},
    "async": {"vectorization_mode": "async", "vector_kwargs": {"shared_memory": True}},
    "async-pipes": {"vectorization_mode": "async", "vector_kwargs": {"shared_memory": False}},
}
ENDINGS = {"terminated": Ending.WON, "truncated": Ending.TRUNCATED}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


def gymnasiums_own(id_: str, kind: str, mode: AutoresetMode, num_envs: int, **options: Any) -> Any:
    """Gymnasium's vector environment over single environments."""
    how = dict(KINDS[kind])
    how["vector_kwargs"] = {**how.get("vector_kwargs", {}), "autoreset_mode": mode}
    return gymnasium.make_vec(id_, num_envs, **how, **options)


def legal(mask: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """A legal action for each row."""
    return np.asarray((rng.random(mask.shape) * mask).argmax(axis=-1), np.int64)


# --- by hand ---


def check_row(row: Row, lane: tuple[int, int], i: int, step: Any) -> None:
    """Row ``i`` of what a step returned is what it should be."""
    observation, reward, terminated, truncated, infos = step
    assert decoded(observation[i])[1] == hands(lane, row.shown)
    assert reward[i] == row.reward
    flags = {(True, False): "terminated", (False, True): "truncated", (False, False): ""}
    assert flags[bool(terminated[i]), bool(truncated[i])] == row.end
    assert infos["action_mask"][i].tolist() == [1, 1]
    assert bool(infos.get("_final_obs", np.zeros(2))[i]) == bool(row.final)
    if row.final:
        assert decoded(infos["final_obs"][i])[1] == hands(lane, row.final)


@pytest.mark.process
@pytest.mark.field_case("V01", "V02")
@MODES
@EACH_KIND
def test_each_mode_of_gymnasiums_vector_environments_by_hand(
    kind: str, mode: AutoresetMode
) -> None:
    tables = {
        AutoresetMode.SAME_STEP: short_games.SAME_STEP,
        AutoresetMode.NEXT_STEP: short_games.NEXT_STEP,
        AutoresetMode.DISABLED: short_games.DISABLED,
    }[mode]
    lanes = ((19, 0), (20, 0))
    with closing(gymnasiums_own(SHORT_ID, kind, mode, 2, seat=0, **SHORT)) as venv:
        assert venv.metadata["autoreset_mode"] is mode
        for ignored in (0, 1):  # what is sent in place of an action where a lane is reset
            first, _ = venv.reset(seed=19)
            assert [decoded(row)[1] for row in first] == [hands(lane, "1.0") for lane in lanes]
            over, games = np.zeros(2, bool), np.ones(2, int)
            for rows in itertools.zip_longest(*tables):
                actions = np.full(2, ATTACK)
                if mode is AutoresetMode.NEXT_STEP:
                    actions[over] = ignored
                step = venv.step(actions)
                for i, row in enumerate(rows):
                    if row is not None:
                        check_row(row, lanes[i], i, step)
                over, infos = step[2] | step[3], step[4]
                games += over
                ended = np.flatnonzero(over).tolist()
                for i in ended:
                    info = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
                    assert info["ending"][i] == ENDINGS[rows[i].end]
                    assert info["seat"][i] == 0
                    # After an end nothing is left to choose, and nothing is masked.
                    assert info["action_mask"][i].tolist() == [1, 1]
                if mode is AutoresetMode.DISABLED and over.any():
                    shown, _ = venv.reset(options={"reset_mask": over.copy()})
                    for i in ended:
                        assert decoded(shown[i])[1] == hands(lanes[i], f"{games[i]}.0")


@pytest.mark.process
@pytest.mark.field_case("V01")
@pytest.mark.filterwarnings("ignore:.*ERROR")  # how Gymnasium tells of an error in a worker
@EACH_KIND
def test_without_autoreset_a_lane_that_is_over_cannot_be_stepped(kind: str) -> None:
    # In one process Gymnasium sees to that itself, in its workers the environment has to.
    expected: tuple[type[Exception], str] = (ValueError, r"the game is over; call reset\(\)")
    if kind == "sync":
        expected = (AssertionError, "_autoreset_envs")
    mode = AutoresetMode.DISABLED
    with closing(gymnasiums_own(SHORT_ID, kind, mode, 2, seat=0, **SHORT)) as venv:
        venv.reset(seed=19)
        for _ in range(2):
            venv.step(np.full(2, ATTACK))
        with pytest.raises(expected[0], match=expected[1]):
            venv.step(np.full(2, ATTACK))


@pytest.mark.field_case("V01")
def test_the_native_vector_environment_by_hand() -> None:
    envs: Any = gymnasium.make_vec(SHORT_ID, num_envs=2, **SHORT)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    first, infos = envs.reset(seed=19)
    lanes, games, lengths = ((19, 0), (19, 1)), np.ones(2, int), np.zeros(2, int)
    for i in (0, 1):
        assert decoded(first[i]) == (i, hands(lanes[i], "1.0"))
    assert infos["seat"].tolist() == [0, 1]
    for rows in itertools.zip_longest(*short_games.IN_TURN):
        step = envs.step(np.full(2, ATTACK))
        lengths += 1
        for i, row in enumerate(rows):
            if row is None:
                continue
            check_row(row, lanes[i], i, step)
            infos = step[4]
            if row.end:
                final = infos["final_info"]
                seat = (i + games[i] - 1) % 2
                assert decoded(infos["final_obs"][i])[0] == final["seat"][i] == seat
                assert final["turn"][i] == lengths[i]
                assert final["ending"][i] == ENDINGS[row.end]
                assert final["illegal"][i] == -1
                games[i] += 1
                lengths[i] = 0
            assert infos["ending"][i] == Ending.RUNNING
            assert infos["seat"][i] == decoded(step[0][i])[0] == (i + games[i] - 1) % 2
    assert games.tolist() == [4, 4]


@pytest.mark.field_case("V01")
@MODES
def test_a_mode_where_the_native_one_cannot_find_it_is_refused(mode: AutoresetMode) -> None:
    """And never dropped in silence."""
    with pytest.raises(gymnasium.error.Error, match="vector_kwargs"):
        gymnasium.make_vec(SHORT_ID, 2, vector_kwargs={"autoreset_mode": mode})


# --- beside single environments ---


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("V01", "V02")
@BOTH
@MODES
@EACH_KIND
def test_a_lane_is_a_single_environment_that_is_reset_by_hand(
    kind: str, mode: AutoresetMode, game: str
) -> None:
    options: dict[str, Any] = {"minimal": True, "num_ranks": 5, "max_turns": 12, "seat": 1}
    id_ = gymnasium_id(game, "standard")
    venv = gymnasiums_own(id_, kind, mode, 3, **options)
    alone = [gymnasium.make(id_, **options) for _ in range(3)]
    rng = np.random.default_rng(1)
    observations, infos = venv.reset(seed=5)
    shown = [env.reset(seed=5 + i) for i, env in enumerate(alone)]
    over, ends = np.zeros(3, bool), 0
    for _ in range(80):
        for i, (observation, info) in enumerate(shown):
            np.testing.assert_array_equal(observations[i], observation)
            np.testing.assert_array_equal(infos["action_mask"][i], info["action_mask"])
        actions = legal(infos["action_mask"], rng)
        reset_by_step = over.copy() if mode is AutoresetMode.NEXT_STEP else np.zeros(3, bool)
        actions[reset_by_step] = rng.integers(venv.single_action_space.n)
        observations, rewards, terminated, truncated, infos = venv.step(actions)
        for i, env in enumerate(alone):
            if reset_by_step[i]:
                shown[i] = env.reset()
                assert (rewards[i], terminated[i], truncated[i]) == (0.0, False, False)
                continue
            observation, reward, *flags, info = env.step(int(actions[i]))
            assert (rewards[i], [terminated[i], truncated[i]]) == (reward, flags)
            shown[i] = observation, info
            if any(flags) and mode is AutoresetMode.SAME_STEP:
                np.testing.assert_array_equal(infos["final_obs"][i], observation)
                final = infos["final_info"]
                assert info["ending"] != Ending.RUNNING
                for key in info:
                    np.testing.assert_array_equal(final[key][i], info[key])
                shown[i] = env.reset()
        over = terminated | truncated
        ends += int(over.sum())
        if mode is AutoresetMode.DISABLED and over.any():
            observations, reset_infos = venv.reset(options={"reset_mask": over.copy()})
            for i in np.flatnonzero(over).tolist():
                shown[i] = alone[i].reset()
                infos["action_mask"][i] = reset_infos["action_mask"][i]
    assert ends > 10
    venv.close()


# --- whose arrays ---


@pytest.mark.field_case("V02", "V03")
@BOTH
@pytest.mark.parametrize("kind", ["single", "native"])
def test_what_is_handed_out_is_new_each_time_and_the_callers(kind: str, game: str) -> None:
    def make() -> Any:
        options: dict[str, Any] = {"num_ranks": 3, "max_turns": 6, "seat": 0}
        id_ = gymnasium_id(game, "standard")
        if kind == "single":
            return gymnasium.make(id_, **options)
        return gymnasium.make_vec(id_, num_envs=5, **options)

    env, twin, rng, ends = make(), make(), np.random.default_rng(0), 0
    handed_out = HandedOut()
    results = [env.reset(seed=3), twin.reset(seed=3)]
    for step in range(60):
        assert_same(*results)
        actions = legal(results[1][-1]["action_mask"], rng)
        parts = handed_out.take([results[0], env.unwrapped.action_masks()])
        if step % 2:
            handed_out.spoil(parts)
        sent = actions.copy()
        results = [env.step(sent), twin.step(actions)]
        if kind == "native":
            sent[:] = 99  # the caller's, too
        if kind == "single" and (results[1][2] or results[1][3]):
            assert_same(*results)
            handed_out.take(results[0])
            results = [env.reset(), twin.reset()]
            ends += 1
        elif kind == "native":
            ends += int((results[1][2] | results[1][3]).sum())
    assert ends > 3
    handed_out.check()


@pytest.mark.field_case("V02", "V03")
@BOTH
def test_what_the_pettingzoo_environment_shows_is_new_each_time(game: str) -> None:
    name = {"attack-defence": "attack_defence", "strategic-war": "strategic_war"}[game]
    env: Any = pettingzoo_env("aec", name, num_ranks=3, max_turns=20)
    handed_out, rng = HandedOut(), np.random.default_rng(2)
    for seed in range(4):
        env.reset(seed=seed)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            over = terminated or truncated
            action = None if over else int(legal(observation["action_mask"], rng))
            again = env.observe(agent)
            np.testing.assert_equal(again, observation)
            handed_out.spoil(handed_out.take([observation]))
            np.testing.assert_equal(env.observe(agent), again)
            handed_out.take([again])
            env.step(action)
    handed_out.check()
