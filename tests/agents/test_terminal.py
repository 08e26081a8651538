"""The ``war`` command with standard streams of all kinds: missing, full, or of few letters."""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.support.command import PROGRAM

WAR = [sys.executable, "-c", PROGRAM]

PLAY = ["tournament", "--game", "attack-defence", "--minimal", "--num-ranks", "3"]
PLAY += ["--agents", "random", "attack", "--deals", "5"]
SHOW = ["models", "show", "champion", "--game", "attack-defence"]


def war(
    *arguments: str,
    redirected: str = "",
    cwd: Path | None = None,
    env: Mapping[str, str] = MappingProxyType({}),
) -> "subprocess.CompletedProcess[bytes]":
    """Runs the command with its streams redirected by the shell, in little memory."""
    return subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'exec "$@" {redirected}',
            "sh",
            sys.executable,
            "-c",
            PROGRAM,
            *arguments,
        ],
        env={**os.environ, **env},
        cwd=cwd,
        capture_output=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30)),
    )


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("redirected", [">&-", "2>&-", "<&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_missing_and_full_streams_stop_nothing(tmp_path: Path, redirected: str) -> None:
    done = war(*PLAY, "--workers", "1", "--out", "out", redirected=redirected, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert (tmp_path / "out" / "report.html").is_file()
    assert (b"The report is in" in done.stdout) == (">&-" not in redirected.split())


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("arguments", [["--help"], ["envs"], SHOW], ids=lambda given: given[0])
def test_what_could_not_be_printed_is_told_in_one_line(arguments: list[str]) -> None:
    done = war(*arguments, redirected=">/dev/full")
    assert done.returncode == 1
    assert done.stderr == b"war: [Errno 28] No space left on device\n"


@pytest.mark.process
def test_help_ends_quietly_when_nobody_reads_on() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*WAR, "--help"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 1
    assert not done.stderr


C = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "env"),
    [
        (["--help"], {"PYTHONIOENCODING": "ascii"}),
        (["tournament", "--help"], C),
        (["tournament", "--game", "chess"], {"PYTHONIOENCODING": "latin-1"}),
        (PLAY, C),
    ],
    ids=["ascii help", "C help", "latin-1 complaint", "C tables"],
)
def test_terminals_of_few_letters_show_all(arguments: list[str], env: dict[str, str]) -> None:
    done = war(*arguments, env=env)
    assert done.returncode == (2 if "chess" in arguments else 0), done.stderr
    text = done.stdout + done.stderr
    assert text.isascii()
    assert b"Traceback" not in text
    assert text.count(b"\n") > 5
    assert b"\\u25" not in text  # nothing of a frame is spelt out


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "columns"),
    [
        ("train", "5"),
        ("tournament", "0"),
        ("envs", "-1"),
        ("export", "999999999999"),
        ("models", "²"),
    ],
)
def test_help_is_laid_out_for_a_width_that_is_possible(command: str, columns: str) -> None:
    done = war(command, "--help", env={"COLUMNS": columns})
    assert done.returncode == 0, done.stderr
    widths = [len(line) for line in done.stdout.decode().splitlines()]
    assert 30 < max(widths) <= 1000


@pytest.mark.slow
@pytest.mark.process
def test_no_progress_is_drawn_into_a_file() -> None:
    done = war(*PLAY, env={"FORCE_COLOR": "1"})
    assert done.returncode == 0
    assert not done.stderr
