"""Tournaments that end early and go on: after kills, signals, full disks and torn files."""

import errno
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import WAR
from tests.support.folders import AGENTS, GAMES, RESULTS, SETTINGS, files, resumed, tournament
from tests.support.processes import processes, wait_for
from war_agents.models.shipped import champion_file


def command(out: Path, *options: str) -> list[str]:
    return [
        *WAR,
        "tournament",
        "--game",
        "attack-defence",
        "--seed",
        "3",
        "--out",
        str(out),
        *options,
    ]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished tournament: three blocks of eight games."""
    folder = tmp_path_factory.mktemp("finished")
    tournament().run(folder)
    return folder


@pytest.fixture
def unfinished(tmp_path: Path, finished: Path) -> Callable[[bytes], Path]:
    """Makes the folder of a tournament that ended early, with games.jsonl as it is given."""

    def make(games: bytes) -> Path:
        folder = tmp_path / "unfinished"
        folder.mkdir()
        shutil.copy(finished / SETTINGS, folder)
        (folder / GAMES).write_bytes(games)
        return folder

    return make


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("E08")
@pytest.mark.parametrize(
    "options",
    [
        ["--agents", *AGENTS, "--deals", "1500", "--workers", "2"],
        ["--agents", *AGENTS, "--deals", "1500", "--until-separated", "0.99999999"],
        ["--agents", *AGENTS, "--deals", "150", "--variants", "all"],
    ],
    ids=["workers", "until separated", "variants"],
)
def test_a_tournament_that_is_stopped_again_and_again_ends_as_if_it_had_not_been(
    tmp_path: Path, options: list[str]
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    done = subprocess.run(command(whole, *options), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    size = (whole / GAMES).stat().st_size
    rng = random.Random(str(options))
    codes: list[int] = []
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        grown = size * rng.uniform(0, 0.3) + size * 0.2 * len(codes)
        codes.append(run_until(stopped, options, number, int(grown)))
    assert len([code for code in codes if code]) >= 2
    last = subprocess.run([*command(stopped, *options), "--resume"], capture_output=True, text=True)
    assert last.returncode == 0, last.stderr
    assert last.stdout == done.stdout.replace(str(whole), str(stopped))
    found, wanted = files(stopped), files(whole)
    lines = [sorted(each.pop(GAMES).splitlines()) for each in (found, wanted)]
    assert lines[0] == lines[1]
    assert found == wanted


def run_until(out: Path, options: list[str], number: signal.Signals, size: int) -> int:
    """Runs the command until games.jsonl has so many bytes, and stops it; its exit code."""
    own = out.with_name("temporary")
    own.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [*command(out, *options), "--resume"],
        env=os.environ | {"TMPDIR": str(own)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    games = out / GAMES
    wait_for(
        lambda: (games.exists() and games.stat().st_size >= size) or process.poll() is not None,
        seconds=60,
    )
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    if process.returncode > 0:
        assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
        goes_on = f"war: interrupted; the same command with --resume goes on in {out}\n"
        assert err.replace("war-envs: compiling kernels, which takes some seconds once\n", "") == (
            goes_on
        )
    else:
        assert process.returncode in (0, -number)
    wait_for(lambda: not any(str(own) in process.command for process in processes()))
    assert not list(own.iterdir())
    return process.returncode


@pytest.mark.field_case("E08")
def test_a_finished_tournament_is_not_played_again(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder)
    seen: list[tuple[int, int]] = []
    tournament().run(folder, resume=True, progress=lambda *counts: seen.append(counts))
    assert set(seen) == {(24, 24)}
    assert files(folder) == files(finished)


@pytest.mark.parametrize("exists", [False, True])
def test_where_nothing_is_to_resume_it_starts(tmp_path: Path, finished: Path, exists: bool) -> None:
    folder = tmp_path / "new"
    if exists:
        folder.mkdir()
    resumed(folder)
    assert files(folder) == files(finished)


@pytest.mark.slow
@pytest.mark.field_case("E08")
def test_a_torn_end_is_played_again(finished: Path, unfinished: Callable[[bytes], Path]) -> None:
    whole = (finished / GAMES).read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == ord("\n")]
    cuts = [0, 1, 20, ends[0] - 1, ends[0], ends[2] + 30, ends[7] - 3, ends[7], ends[7] + 1]
    cuts += [ends[10], ends[14], ends[15] - 1, ends[22], ends[22] + 60, ends[23] - 2, ends[23] - 1]
    for cut in cuts:
        for rubbish in (b"", b'{"variant": "\xff\xfe'):
            folder = unfinished(whole[:cut] + rubbish)
            resumed(folder)
            assert files(folder) == files(finished), cut
            shutil.rmtree(folder)


def changed(line: int, old: str, new: str) -> Callable[[list[str]], list[str]]:
    def change(lines: list[str]) -> list[str]:
        assert old in lines[line - 1]
        return [*lines[: line - 1], lines[line - 1].replace(old, new, 1), *lines[line:]]

    return change


STRANGER = '"truncated": false, "forfeit": "stranger", "reason": "ill"'


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (3, changed(3, '"deal": 1', '"deal": 7')),
        (1, changed(1, '"a": "random"', '"a": "nobody"')),
        (9, changed(9, '"variant": "minimal"', '"variant": "fair"')),
        (4, lambda lines: [*lines[:3], "never mind", *lines[3:]]),
        (9, lambda lines: [*lines[:8], "", *lines[8:]]),
        (9, lambda lines: [*lines[:8], "\0" * 300, *lines[8:]]),
        (2, lambda lines: [lines[0], *lines]),
        (2, lambda lines: [lines[0], *lines[2:]]),
        (1, lambda lines: [lines[1], lines[0], *lines[2:]]),
        (9, lambda lines: [*lines[:8], *lines]),
        (25, lambda lines: [*lines, *lines[:8]]),
        (10, lambda lines: [*lines[:9], "[" * 100_000, *lines[10:]]),
        (2, lambda lines: [lines[0], lines[1].partition("length")[0], *lines[2:]]),
        *(
            (5, changed(5, '"length": ', f'"length": {number}'))
            for number in ("-", "1e", "1e400", "NaN", "9" * 30, "9" * 5000, "0.", '"1", "x": ')
        ),
        *(
            (12, changed(12, '"result": ', f'"result": {value}, "x": '))
            for value in ("2", "1.0", "true", "null", '"1"', "[1]", "NaN", "-Infinity")
        ),
        *(
            (24 - 8, changed(16, '"truncated": false', text))
            for text in (
                '"truncated": 0',
                '"truncated": null',
                '"truncated": false, "truncated": false',
                STRANGER,
                STRANGER.replace("stranger", "attack"),
                STRANGER.replace('"stranger"', "null"),
                STRANGER.replace('"ill"', "7"),
                '"truncated": false, "reason": "ill"',
                '"truncated": false, "forfeit": null',
                '"truncated": false, "forfeit": "random"',
                '"truncated": false, "forfeit": "random", "forfeit": "memory", "reason": ""',
            )
        ),
    ],
)
def test_damage_is_told_by_its_line_and_nothing_is_changed(
    finished: Path,
    unfinished: Callable[[bytes], Path],
    line: int,
    change: Callable[[list[str]], list[str]],
) -> None:
    lines = (finished / GAMES).read_text().splitlines()
    folder = unfinished("".join(f"{each}\n" for each in change(lines)).encode())
    before = files(folder)
    with pytest.raises(ValueError, match=rf"games\.jsonl is damaged: line {line} is") as raised:
        resumed(folder)
    assert "\n" not in str(raised.value)
    assert files(folder) == before


@pytest.mark.field_case("E08")
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"agents": AGENTS[::-1]}, "settings.agents[0] is 'random' there, 'memory' here"),
        ({"agents": ["random", "attack", "defend"]}, "settings.agents[2] is 'memory' there"),
        ({"agents": [*AGENTS, "defend"]}, "settings.agents is ['random', 'attack', 'memory']"),
        ({"deals": 5}, "settings.deals is 4 there, 5 here"),
        ({"seed": 6}, "settings.seed is 5 there, 6 here"),
        ({"variants": "minimal"}, "settings.variants[0].options.num_ranks is 5 there, 13 here"),
        ({"variants": ["minimal", "fair"]}, "settings.variants holds 1 there, 2 here"),
        ({"deterministic": True}, "settings.deterministic is False there, True here"),
        ({"time_limit": 9}, "settings.time_limit is 10.0 there, 9.0 here"),
        ({"until_separated": 0.9}, "settings.until_separated is None there, 0.9 here"),
        ({"game": "strategic-war", "agents": ["random", "top"]}, "settings.game is "),
    ],
)
@pytest.mark.parametrize("resume", [False, True])
def test_another_tournament_is_refused_by_what_differs(
    finished: Path, change: dict[str, Any], named: str, resume: bool
) -> None:
    before = files(finished)
    if "game" in change:
        change = change | {"variants": "minimal"}
    with pytest.raises(ValueError, match="holds another tournament: ") as raised:
        tournament(**change).run(finished, resume=resume)
    assert named in str(raised.value)
    assert "\n" not in str(raised.value)
    assert files(finished) == before


@pytest.mark.field_case("E08")
def test_a_model_that_has_changed_is_another_player(tmp_path: Path) -> None:
    shipped = champion_file("attack-defence")
    model, out = tmp_path / "own.safetensors", tmp_path / "out"
    for file in shipped.parent.glob(f"{shipped.stem}.*"):
        shutil.copy(file, tmp_path / file.name.replace(shipped.stem, "own"))
    tournament(["random", model], variants="minimal", deals=1).run(out)
    before = files(out)
    data = bytearray(model.read_bytes())
    data[-3] ^= 1  # a bit of a weight
    model.write_bytes(data)
    with pytest.raises(ValueError, match=r"players\[1\]\.sha256 is '\w{64}' there, '\w{64}' here"):
        resumed(out, ["random", model], variants="minimal", deals=1)
    assert files(out) == before


def test_code_that_has_changed_is_another_player(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tmp_path / "own_changing_agent.py", tmp_path / "out"
    source.write_text(
        "from tests.support.bad_agents import Healthy\nclass Own(Healthy):\n    pass\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    agents = ["random", "own_changing_agent:Own"]
    tournament(agents, workers=0).run(out)
    resumed(out, agents, workers=0)
    before = files(out)
    source.write_text(f"{source.read_text()}\n# changed\n")
    with pytest.raises(ValueError, match=r"players\[1\]\.sha256 is "):
        resumed(out, agents, workers=0)
    assert files(out) == before


def test_an_unfinished_tournament_is_not_played_over_by_mistake(
    finished: Path, unfinished: Callable[[bytes], Path]
) -> None:
    folder = unfinished((finished / GAMES).read_bytes()[:900])
    before = files(folder)
    with pytest.raises(ValueError, match="unfinished tournament") as raised:
        tournament().run(folder)
    assert "--resume" in str(raised.value)
    assert files(folder) == before


@pytest.mark.slow
@pytest.mark.process
def test_no_two_processes_play_in_one_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = ["--agents", *AGENTS, "--deals", "100_000", "--workers", "1"]
    first = subprocess.Popen(
        command(out, *options), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for((out / GAMES).exists)
        second = subprocess.run(
            [*command(out, *options), "--resume"], capture_output=True, text=True, timeout=60
        )
        assert first.poll() is None
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 1
    assert not second.stdout
    assert second.stderr == f"war: another process plays in out={str(out)!r}\n"


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 5, 6, 7])
def test_a_full_disk_loses_nothing_that_was_played(
    tmp_path: Path, finished: Path, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    left, fsync = calls, os.fsync

    def full(descriptor: int) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left on device"):
            tournament().run(tmp_path)
    assert not (tmp_path / RESULTS).exists()
    resumed(tmp_path)
    assert files(tmp_path) == files(finished)


@pytest.mark.process
@pytest.mark.slow
def test_a_file_that_may_not_grow_ends_the_command_with_one_line(tmp_path: Path) -> None:
    options = ["--agents", *AGENTS, "--deals", "200", "--minimal"]
    whole, out = tmp_path / "whole", tmp_path / "out"
    subprocess.run(command(whole, *options), check=True, capture_output=True)
    limit = (whole / GAMES).stat().st_size * 4 // 5

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(
        command(out, *options), capture_output=True, text=True, preexec_fn=limited
    )
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr == (
        f"war: [Errno {errno.EFBIG}] {out / GAMES} could not be written: "
        f"{os.strerror(errno.EFBIG)}\n"
    )
    assert (out / GAMES).stat().st_size == limit
    subprocess.run([*command(out, *options), "--resume"], check=True, capture_output=True)
    assert files(out) == files(whole)


@pytest.mark.parametrize("name", [GAMES, RESULTS, "report.md", "report.html"])
@pytest.mark.parametrize("resume", [False, True])
def test_what_is_not_of_a_tournament_is_not_replaced(
    tmp_path: Path, name: str, resume: bool
) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(ValueError, match=f"holds {name} of something else"):
        tournament().run(tmp_path, resume=resume)
    assert files(tmp_path) == {name: b"mine"}


HOSTILE = {
    "deep": b"[" * 200_000,
    "deep objects": b'{"settings":' * 50_000,
    "huge": b" " * 11_000_000,
    "no JSON": b"hello",
    "binary": bytes(range(256)),
    "empty": b"",
    "NaN": b'{"settings": NaN}',
    "another shape": b'{"settings": ["a"], "players": {"x": [1]}, "versions": 7, "more": {}}',
    "code": json.dumps({"settings": {"agents": ["evil_agent:make", "random"]}}).encode(),
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_settings_are_only_compared(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    (tmp_path / "evil_agent.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    out = tmp_path / "out"
    out.mkdir()
    (out / SETTINGS).write_bytes(data)
    (out / GAMES).write_bytes((finished / GAMES).read_bytes())
    before = files(out)
    with pytest.raises(ValueError, match="holds another tournament: ") as raised:
        resumed(out)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 2000
    assert files(out) == before
    assert "evil_agent" not in sys.modules


@pytest.mark.parametrize("name", [SETTINGS, GAMES])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
@pytest.mark.parametrize("resume", [False, True])
def test_pipes_and_folders_are_no_files(
    tmp_path: Path, finished: Path, name: str, make: Callable[[Path], None], resume: bool
) -> None:
    for other in {SETTINGS, RESULTS} - {name}:
        shutil.copy(finished / other, tmp_path)
    make(tmp_path / name)
    with pytest.raises(ValueError, match=str(tmp_path)) as raised:
        tournament().run(tmp_path, resume=resume)
    assert "\n" not in str(raised.value)
