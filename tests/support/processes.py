"""Which processes there are, and the worker processes of tournaments among them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple


@contextlib.contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """These processes stand still."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


class Process(NamedTuple):
    """A running process."""

    pid: int
    parent: int
    command: str


def processes() -> list[Process]:
    """All that run now, but for those that have ended and are only not yet waited for."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,stat=,args="],  # noqa: S607 - wherever it is
        capture_output=True,
        text=True,
    )
    found = []
    for line in listed.stdout.splitlines():
        pid, parent, status, *command = line.split(maxsplit=3)
        if not status.startswith("Z"):
            found.append(Process(int(pid), int(parent), "".join(command)))
    return found


def arena_workers(parent: int) -> list[int]:
    """The worker processes that the process ``parent`` has started."""
    return [
        process.pid
        for process in processes()
        if process.parent == parent and "war_agents.arena.playing.worker" in process.command
    ]


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Waits until ``condition()`` holds.

    Raises:
        TimeoutError: it does not.
    """
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


Env = dict[str, str | None]
NOTHING: Env = {}


def run(
    *arguments: str, env: Env = NOTHING, typed: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs Python with these arguments, warnings as errors; it must succeed.

    ``env`` comes on top of the environment; None takes a variable away. ``typed`` is its standard
    input.
    """
    merged = {name: value for name, value in (os.environ | env).items() if value is not None}
    command = [sys.executable, "-W", "error", *arguments]
    result = subprocess.run(command, env=merged, input=typed, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result
