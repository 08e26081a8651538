"""Tournaments of agents that fail, and what must be gone after them."""

import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import arena_workers, processes, wait_for
from war_agents.arena import Tournament, TournamentResult
from war_envs.variant import make_variant

BAD = "tests.support.bad_agents:"
SMALL = make_variant("attack-defence", "minimal", num_ranks=7)
TIME_LIMIT = 0.5


def play(
    *agents: Any,
    out: Path | None = None,
    resume: bool = False,
    progress: Any = None,
    **options: Any,
) -> TournamentResult:
    given: dict[str, Any] = {"game": "attack-defence", "variants": SMALL, "deals": 2, "seed": 1}
    given |= {"time_limit": TIME_LIMIT, "workers": 1}
    return Tournament(agents, **{**given, **options}).run(out, resume=resume, progress=progress)


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """After each test: no worker process, no temporary file, no thread."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    threads = threading.active_count()
    yield
    wait_for(lambda: not any(str(temporary) in process.command for process in processes()))
    assert not arena_workers(os.getpid())
    assert not list(temporary.iterdir())
    wait_for(lambda: threading.active_count() <= threads)
