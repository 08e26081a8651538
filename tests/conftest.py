"""Settings for all tests."""

import os

# One thread a process: torch's and BLAS's pools only get in each other's way. Before their import.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from hypothesis import settings

from war_envs import batch

# The same examples on every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("project", deadline=None, derandomize=True)
settings.load_profile("project")


@pytest.fixture
def threads_for_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch shares even few rows among its threads, which it does else for many only."""
    monkeypatch.setattr(batch, "LEAST_ROWS", dict.fromkeys(batch.LEAST_ROWS, 1))
