"""The ``war`` command, in a process of its own or in this one."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

from war_agents.cli import main

# Where tests run in the background, Ctrl-C may be ignored, which processes inherit.
PROGRAM: Final = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from war_agents.cli import main; main()"
)
WAR: Final = (sys.executable, "-W", "error", "-c", PROGRAM)


def war(*arguments: str, cwd: Path | None = None, **env: str) -> "subprocess.CompletedProcess[str]":
    """Runs the command in a process of its own, with warnings as errors."""
    program = [*WAR, *arguments]
    return subprocess.run(
        program, cwd=cwd, env=os.environ | env, capture_output=True, text=True, timeout=120
    )


@contextlib.contextmanager
def as_command(*arguments: str) -> Iterator[None]:
    """`main` finds these arguments; what it does to signals for good is undone."""
    argv, sys.argv = sys.argv, ["war", *arguments]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        sys.argv = argv
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def alarm(seconds: int = 60) -> Iterator[None]:
    """What takes longer hangs, which raises."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"it hangs for {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refused(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command says, in its one line, when it refuses arguments."""
    with as_command(*arguments), alarm(), pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert stopped.value.code == 1
    assert not out
    assert err.startswith("war: ")
    assert err.count("\n") == 1
    return err
