"""Settings for all tests."""

import os
import sys
from typing import Any

# One thread a process: torch's and BLAS's pools only get in each other's way. Before their import.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from war_envs import batch

_STARTS = ("os.fork", "os.forkpty", "os.posix_spawn", "subprocess.Popen")


def pytest_configure(config: pytest.Config) -> None:
    """Where tests that start processes are left out, no other starts one."""
    if "not process" in config.getoption("markexpr"):
        sys.addaudithook(_refuse_processes)


def _refuse_processes(event: str, arguments: tuple[Any, ...]) -> None:
    if event in _STARTS and "PYTEST_CURRENT_TEST" in os.environ:
        raise RuntimeError("a test that starts processes is marked with pytest.mark.process")


# The same examples on every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")


@pytest.fixture
def threads_for_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch shares even few rows among its threads, which it does else for many only."""
    monkeypatch.setattr(batch, "LEAST_ROWS", dict.fromkeys(batch.LEAST_ROWS, 1))
