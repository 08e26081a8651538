"""What goes wrong around agents, and is not their loss: streams, stops, and killed workers."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.command import WAR
from tests.support.failures import (
    BAD,
    nothing_left,  # noqa: F401  looks, after each test here too
    play,
)
from tests.support.processes import arena_workers, stopped, wait_for


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "kind", "workers"),
    [("full disk", "Talks", "1"), ("closed terminal", "Talks", "1"), ("full disk", "Prints", "0")],
)
def test_an_agent_that_prints_where_nothing_can_be_written_plays_on(
    tmp_path: Path, where: str, kind: str, workers: str
) -> None:
    if where == "full disk":
        target = os.open("/dev/full", os.O_WRONLY)
    else:
        terminal, target = os.openpty()
        os.close(terminal)
    arguments = ["--game", "attack-defence", "--agents", "random", BAD + kind, "--out", "out"]
    arguments += ["--minimal", "--num-ranks", "3", "--workers", workers]
    done = subprocess.run(
        [*WAR, "tournament", *arguments, "--deals", "1"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=tmp_path,
        stdout=target,
        stderr=target,
        timeout=60,
    )
    os.close(target)
    assert done.returncode == 1  # the table could not be printed
    assert json.loads((tmp_path / "out" / "results.json").read_text())["forfeits"] == []


@pytest.mark.process
@pytest.mark.slow
def test_time_in_which_nobody_reads_what_is_printed_is_not_an_agents() -> None:
    program = [*WAR, "tournament", "--game", "attack-defence", "--agents", "random", BAD + "Prints"]
    process = subprocess.Popen(
        [*program, "--minimal", "--deals", "2", "--workers", "1", "--time-limit", "1"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr
    process.stderr.read(1)  # now it plays, and soon the pipe is full
    time.sleep(3)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"forfeit" not in out.lower()
    assert err.count(b"thinking") > 10_000


@pytest.mark.process
@pytest.mark.slow
def test_time_in_which_all_stands_still_is_not_an_agents(tmp_path: Path) -> None:
    program = [
        *WAR,
        "tournament",
        "--game",
        "attack-defence",
        "--agents",
        "random",
        BAD + "TakesASecond",
    ]
    process = subprocess.Popen(
        [*program, "--minimal", "--deals", "1", "--workers", "1", "--time-limit", "2"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    wait_for((tmp_path / "thinking").exists)
    with stopped(process.pid, *arena_workers(process.pid)):
        time.sleep(3)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "forfeit" not in out.lower()


@pytest.mark.process
@pytest.mark.slow
def test_a_block_whose_worker_was_killed_is_played_as_a_whole_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = tmp_path / "noted"
    monkeypatch.setenv("NOTED_BATCHES", str(noted))
    killed = 0

    def kill(done: int, total: int) -> None:
        nonlocal killed
        if not killed and noted.exists():
            (killed,) = arena_workers(os.getpid())
            os.kill(killed, signal.SIGKILL)

    name = BAD + "NotesBatches"
    result = play(name, "random", variants="standard", deals=1000, time_limit=60, progress=kill)
    assert killed
    assert not result.forfeits
    batches = [int(line) for line in noted.read_text().split()]
    assert batches[0] == 2000
    # Fewer and fewer games are still running, but for one new start of all; it may have been lost
    # before the first of them ended.
    starts = [after for before, after in itertools.pairwise(batches) if after > before]
    assert starts in ([2000], [])
    pair = result.pairs[0]
    assert len(batches) < pair.games * pair.mean_length / 10, "game by game"


@pytest.mark.process
def test_a_worker_that_cannot_start_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('no luck today')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ChildProcessError, match=r"exit code 1, and said: .*no luck") as raised:
        play("random", "attack")
    assert "\n" not in str(raised.value)
