"""How many games at once end: closed or not, and when something in them fails."""

import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv

from tests.support.envs import pettingzoo_env
from tests.support.failing import Failing
from tests.support.processes import run
from war_agents.versus import OpponentFailedError
from war_agents.versus.vector import VersusVectorEnv
from war_envs.batch import make_batch
from war_envs.registration import gymnasium_id
from war_envs.variant import GAMES

# Newer Pythons warn of a fork beside threads that some other test has left.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
BOTH = pytest.mark.parametrize("game", GAMES)
SCRIPT = str(Path(__file__).parent / "vector_ends.py")
ID = gymnasium_id("attack-defence", "minimal")
PATIENCE = 60.0  # seconds; what is waited for takes far less


# --- closing ---


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("V07")
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc tells what is open")
def test_workers_made_over_and_over_leave_nothing_open(tmp_path: Path) -> None:
    assert run(SCRIPT, "loop", str(tmp_path / "closes")).stdout == "fine\n"


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.field_case("V07")
def test_a_script_that_fails_with_everything_open_ends_and_says_why() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "raise"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "OSError: on purpose" in done.stderr


def played_batch() -> Any:
    """A batch whose threads have started."""
    batch = make_batch("attack-defence", 10, num_threads=3)
    batch.reset(seed=1)
    batch.step(np.zeros((10, 2), np.int64))
    return batch


MAKERS: dict[str, Callable[[], Any]] = {
    "single": lambda: gymnasium.make(ID),
    "native": lambda: gymnasium.make_vec(ID, num_envs=3),
    "aec": lambda: pettingzoo_env("aec", "attack_defence"),
    "parallel": lambda: pettingzoo_env("parallel", "attack_defence"),
    "new batch": lambda: make_batch("attack-defence", 10, num_threads=3),
    "played batch": played_batch,
}


@pytest.mark.field_case("V07")
@pytest.mark.usefixtures("threads_for_a_row")
@pytest.mark.parametrize("what", MAKERS)
def test_closing_twice_before_a_reset_or_never_is_fine(what: str) -> None:
    before = threading.active_count()
    env = MAKERS[what]()
    assert threading.active_count() == before + 2 * (what == "played batch")
    env.close()
    assert threading.active_count() == before
    env.close()
    left = MAKERS[what]()
    left.reset(seed=1)
    gone = [weakref.ref(one if what.endswith("batch") else one.unwrapped) for one in (env, left)]
    del env, left
    gc.collect()
    assert [reference() for reference in gone] == [None, None]
    deadline = time.monotonic() + PATIENCE
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.mark.process
@pytest.mark.field_case("V07")
def test_workers_that_are_never_closed_end_with_their_vector_environment() -> None:
    for begin in (False, True):
        venv = AsyncVectorEnv([lambda: gymnasium.make(ID)] * 2, context="fork")
        if begin:
            venv.reset(seed=1)
        processes = venv.processes
        del venv
        gc.collect()
        assert not any(process.is_alive() for process in processes)


# --- failing ---


@contextmanager
def four_workers(change: Callable[[Any], Any], **options: Any) -> Iterator[AsyncVectorEnv]:
    """Four workers, the third of them with ``options`` and changed; afterwards all must be gone."""

    def make(number: int) -> Callable[[], Any]:
        if number != 2:
            return lambda: gymnasium.make(ID)
        return lambda: change(gymnasium.make(ID, **options))

    venv = AsyncVectorEnv([make(number) for number in range(4)], context="fork")
    processes = venv.processes
    try:
        venv.reset(seed=1)
        venv.step(np.zeros(4, np.int64))
        yield venv
    finally:
        venv.close(terminate=True)
    assert not any(process.is_alive() for process in processes)
    assert not set(multiprocessing.active_children()) & set(processes)


@pytest.mark.process
@pytest.mark.field_case("V08")
@pytest.mark.filterwarnings("ignore:.*ERROR")  # Gymnasium's own report, with the traceback
def test_an_error_in_one_worker_is_told_by_the_parent() -> None:
    failing = Failing(at=2)
    with four_workers(lambda env: env, opponent=failing) as venv:
        venv.step_async(np.zeros(4, np.int64))
        message = "the opponent, agent 'failing', has failed: OSError: unplugged"
        with pytest.raises(OpponentFailedError, match=message):
            venv.step_wait(timeout=PATIENCE)


class Odd(gymnasium.Wrapper[Any, Any, Any, Any]):
    """At its second step it ends its process or sleeps."""

    def __init__(self, env: Any, odd: Callable[[], None]) -> None:
        super().__init__(env)
        self._odd = odd
        self._steps = 0

    def step(self, action: Any) -> Any:
        self._steps += 1
        if self._steps == 2:
            self._odd()
        return super().step(action)


@pytest.mark.process
@pytest.mark.field_case("V08")
@pytest.mark.filterwarnings("ignore:.*Calling `close` while waiting")
def test_a_worker_that_is_gone_is_an_error_and_no_hang() -> None:
    with four_workers(lambda env: Odd(env, lambda: os._exit(3))) as venv:
        venv.step_async(np.zeros(4, np.int64))
        with pytest.raises((EOFError, ConnectionError)):
            venv.step_wait(timeout=PATIENCE)


@pytest.mark.process
@pytest.mark.field_case("V08")
def test_a_worker_that_sleeps_is_waited_for_as_long_as_the_caller_says() -> None:
    """Without ``timeout`` Gymnasium waits for ever."""
    with four_workers(lambda env: Odd(env, lambda: time.sleep(600))) as venv:
        venv.step_async(np.zeros(4, np.int64))
        with pytest.raises(multiprocessing.TimeoutError):
            venv.step_wait(timeout=0.5)


@pytest.mark.field_case("V08")
@BOTH
def test_an_opponent_that_fails_in_the_native_one_is_heard_and_its_games_are_over(
    game: str,
) -> None:
    def make() -> Any:
        return VersusVectorEnv(game, 6, opponent=Failing(at=5), minimal=True, num_ranks=5)

    envs, twin = make(), make()

    def play(steps: int) -> None:
        for _ in range(steps):
            envs.step(envs.action_masks().argmax(axis=1))

    envs.reset(seed=1)
    with pytest.raises(OpponentFailedError, match="OSError: unplugged"):
        play(9)
    # Some games wait for the opponent: a step would make its choice with the player's action.
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"opponent has failed.*reset\(\)"):
            play(1)
    twin.opponent.left = 0  # never
    results = [one.reset(seed=2) for one in (envs, twin)]
    for _ in range(30):
        np.testing.assert_array_equal(results[0][0], results[1][0])
        actions = results[0][-1]["action_mask"].argmax(axis=1)
        results = [one.step(actions) for one in (envs, twin)]


@pytest.mark.field_case("V08")
def test_an_opponent_that_fails_at_the_deal_leaves_no_games() -> None:
    """In Strategic War it may have to choose first."""
    envs = VersusVectorEnv("strategic-war", 6, opponent=Failing(at=1), minimal=True)
    with pytest.raises(OpponentFailedError, match="OSError: unplugged"):
        envs.reset(seed=1)
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        envs.step(np.zeros(6, np.int64))
    envs.reset(seed=1)
    envs.opponent.left = 1  # type: ignore[attr-defined]
    with pytest.raises(OpponentFailedError, match="OSError: unplugged"):
        envs.reset()
    with pytest.raises(RuntimeError, match=r"opponent has failed.*reset\(\)"):
        envs.step(np.zeros(6, np.int64))
