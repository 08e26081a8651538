"""What the field's cases ask of Stable-Baselines3's side: ends, whose arrays they are, failures."""

import gc
import itertools
import threading
import weakref
from typing import Any

import gymnasium
import numpy as np
import pytest
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import DummyVecEnv

from tests.support import short_games
from tests.support.failing import Failing
from tests.support.handed_out import HandedOut, assert_same
from tests.support.short_games import ATTACK, Row, decoded, hands
from war_agents.versus import OpponentFailedError
from war_envs.registration import gymnasium_id
from war_envs.variant import GAMES, make_variant
from war_train.league.league import League
from war_train.vec_env import SelfPlayVecEnv

BOTH = pytest.mark.parametrize("game", GAMES)


def legal(mask: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """A legal action for each row."""
    return np.asarray((rng.random(mask.shape) * mask).argmax(axis=1), np.int64)


# --- by hand, see tests.support.short_games ---


def check_row(row: Row, lane: tuple[int, int], i: int, step: Any) -> None:
    """Row ``i`` of what a step returned is what it should be, as SB3 has it."""
    observation, rewards, dones, infos = step
    assert decoded(observation[i])[1] == hands(lane, row.shown)
    assert rewards[i] == row.reward
    assert bool(dones[i]) == bool(row.end)
    assert ("terminal_observation" in infos[i]) == bool(row.final)
    if row.final:
        assert decoded(infos[i]["terminal_observation"])[1] == hands(lane, row.final)
        assert infos[i]["TimeLimit.truncated"] is (row.end == "truncated")


@pytest.mark.field_case("V01")
def test_self_play_by_hand() -> None:
    venv = SelfPlayVecEnv(
        "attack-defence", 2, opponents={"attack": 1.0}, seed=19, **short_games.OPTIONS
    )
    lanes, games = ((19, 0), (19, 1)), np.ones(2, int)
    for i, row in enumerate(venv.reset()):
        assert decoded(row) == (i, hands(lanes[i], "1.0"))
    for rows in itertools.zip_longest(*short_games.IN_TURN):
        step = venv.step(np.full(2, ATTACK))
        assert venv.action_masks().tolist() == [[1, 1]] * 2
        for i, row in enumerate(rows):
            if row is None:
                continue
            check_row(row, lanes[i], i, step)
            if row.end:
                # The true last position, from the seat that the learner had in that game.
                seat = decoded(step[3][i]["terminal_observation"])[0]
                assert seat == step[3][i]["seat"] == (i + games[i] - 1) % 2
                games[i] += 1
            assert decoded(step[0][i])[0] == venv.seats[i] == (i + games[i] - 1) % 2
    assert games.tolist() == [4, 4]


@pytest.mark.field_case("V01")
def test_sb3s_own_vector_environment_by_hand() -> None:
    def make() -> Any:
        options: dict[str, Any] = {**short_games.OPTIONS, "opponent": "attack", "seat": 0}
        return gymnasium.make(gymnasium_id("attack-defence", "standard"), **options)

    venv = DummyVecEnv([make] * 2)
    venv.seed(19)
    lanes = ((19, 0), (20, 0))
    assert [decoded(row)[1] for row in np.asarray(venv.reset())] == [
        hands(lane, "1.0") for lane in lanes
    ]
    for rows in itertools.zip_longest(*short_games.SAME_STEP):
        step = venv.step(np.full(2, ATTACK))
        for i, row in enumerate(rows):
            if row is not None:
                check_row(row, lanes[i], i, step)
    venv.close()


# --- whose arrays ---


@pytest.mark.field_case("V03")
@BOTH
def test_what_is_handed_out_is_new_each_time_and_the_callers(game: str) -> None:
    venv, twin = (
        SelfPlayVecEnv(
            game, 5, opponents={"random": 1.0, "memory": 1.0}, seed=3, num_ranks=3, max_turns=20
        )
        for _ in range(2)
    )
    rng, ends, handed_out = np.random.default_rng(0), 0, HandedOut()
    results: list[Any] = [venv.reset(), twin.reset()]
    for step in range(60):
        assert_same(*results)
        mask = twin.action_masks()
        assert_same(venv.action_masks(), mask)
        assert_same(venv.seats, twin.seats)
        assert_same(venv.opponents, twin.opponents)
        parts = handed_out.take([results[0], venv.action_masks(), venv.seats, venv.opponents])
        if step % 2:
            handed_out.spoil(parts)
            for row in venv.env_method("action_masks"):
                row[:] = 0
        actions = legal(mask, rng)
        sent = actions.copy()
        venv.step_async(sent)
        sent[:] = 99  # the caller's, too
        results = [venv.step_wait(), twin.step(actions)]
        ends += int(results[1][2].sum())
    assert ends > 10
    handed_out.check()


# --- closing, and failing ---


@pytest.mark.field_case("V07")
def test_closing_twice_before_a_reset_or_never_is_fine() -> None:
    def make() -> SelfPlayVecEnv:
        return SelfPlayVecEnv("attack-defence", 4, opponents={"memory": 1.0}, seed=1)

    threads = threading.active_count()
    closed, left = make(), make()
    closed.close()
    closed.close()
    left.reset()
    left.step(np.zeros(4, np.int64))
    gone = [weakref.ref(closed), weakref.ref(left)]
    del closed, left
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    assert threading.active_count() == threads


@pytest.mark.field_case("V08")
@BOTH
def test_an_opponent_that_fails_is_heard_and_its_games_are_over(game: str) -> None:
    variant = make_variant(game, minimal=True, num_ranks=5)
    failing = [Failing(at=5), Failing(at=0)]
    venv, twin = (
        SelfPlayVecEnv(
            game, 6, variant, opponents=League(variant, {"self": 1.0}, learner=agent), seed=1
        )
        for agent in failing
    )

    def play(steps: int) -> None:
        for _ in range(steps):
            venv.step(venv.action_masks().argmax(axis=1))

    venv.reset()
    with pytest.raises(OpponentFailedError, match=r"agent '.*', has failed: OSError: unplugged"):
        play(9)
    # Some games wait for the opponent: a step would make its choice with the learner's action.
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"opponent has failed.*reset\(\)"):
            play(1)
    observations = []
    for one in (venv, twin):
        one.seed(2)
        observations.append(one.reset())
    for _ in range(30):
        np.testing.assert_array_equal(observations[0], observations[1])
        actions = twin.action_masks().argmax(axis=1)
        observations = [one.step(actions)[0] for one in (venv, twin)]
