"""What power cuts leave of games.jsonl: damage at its end is played again, any other refused."""

import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import PROGRAM
from tests.support.folders import (
    AGENTS,
    GAMES,
    SETTINGS,
    files,
    resumed,
    tournament,
)

BLOCK = 8  # games; there are three blocks


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    tournament().run(folder)
    return folder


@pytest.fixture
def damaged(tmp_path: Path, finished: Path) -> Callable[[bytes], Path]:
    """Makes the folder of an unfinished tournament with games.jsonl as it is given."""

    def make(games: bytes) -> Path:
        folder = tmp_path / "damaged"
        folder.mkdir()
        shutil.copy(finished / SETTINGS, folder)
        (folder / GAMES).write_bytes(games)
        return folder

    return make


def zeroed(data: bytes, start: int, stop: int) -> bytes:
    return data[:start] + bytes(stop - start) + data[stop:]


def ends(data: bytes) -> list[int]:
    """Where lines end."""
    return [i + 1 for i, byte in enumerate(data) if byte == ord("\n")]


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "zeros behind the end": lambda data: data + bytes(4096),
    "zeros behind the second block": lambda data: data[: ends(data)[15]] + bytes(4096),
    "a zeroed end": lambda data: zeroed(data, ends(data)[20] + 7, len(data)),
    "a zeroed end of a line": lambda data: zeroed(data, len(data) - 9, len(data)),
    "zeros within the last block": lambda data: zeroed(data, ends(data)[18], ends(data)[20] + 9),
    "zeros within a line": lambda data: zeroed(data, ends(data)[18] + 5, ends(data)[18] + 50),
    "zeros where the last block begins": lambda data: zeroed(
        data, ends(data)[15] + 3, ends(data)[17] + 9
    ),
    "zeros across two blocks": lambda data: zeroed(data, ends(data)[13] + 3, ends(data)[17] + 9),
    "zeros across lines in the first of one": lambda data: zeroed(
        data[: ends(data)[7]], ends(data)[0] - 5, ends(data)[2] + 5
    ),
    "zeros and half a line": lambda data: zeroed(data, ends(data)[18], ends(data)[19])[:-20],
    "rubbish lines behind the end": lambda data: data + b"\x81\x05\n\n\xff{[\n" * 50,
    "rubbish in place of the end": lambda data: data[: ends(data)[20]] + b"\x81\x05\n\xff{[" * 50,
    "nothing but zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_at_the_end_is_cut_off_with_a_warning_and_played_again(
    finished: Path, damaged: Callable[[bytes], Path], damage: Callable[[bytes], bytes]
) -> None:
    folder = damaged(damage((finished / GAMES).read_bytes()))
    with pytest.warns(UserWarning, match=r"games\.jsonl was damaged at its end") as told:
        resumed(folder)
    assert len(told) == 1
    assert "\n" not in str(told[0].message)
    found, wanted = files(folder), files(finished)
    assert sorted(found.pop(GAMES).splitlines()) == sorted(wanted.pop(GAMES).splitlines())
    assert found == wanted


@pytest.mark.parametrize("end", [0, 5, 7, 8, 12, 23, 24])
@pytest.mark.parametrize("more", [0, 30])
def test_a_plain_crash_needs_no_warning(
    finished: Path, damaged: Callable[[bytes], Path], end: int, more: int
) -> None:
    data = (finished / GAMES).read_bytes()
    folder = damaged(data[: [0, *ends(data)][end] + more])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resumed(folder)
    assert files(folder) == files(finished)


REFUSED: dict[str, tuple[int, Callable[[bytes], bytes]]] = {
    "zeros in the first block": (3, lambda data: zeroed(data, ends(data)[1], ends(data)[3])),
    "zeros in the second block": (9, lambda data: zeroed(data, ends(data)[7], ends(data)[9] + 4)),
    "zeros between blocks": (
        9,
        lambda data: data[: ends(data)[7]] + bytes(64) + b"\n" + data[ends(data)[7] :],
    ),
    "zeros and then a block again": (
        25,
        lambda data: data + bytes(64) + b"\n" + data[: ends(data)[7]],
    ),
    "zeros and then another's games": (
        25,
        lambda data: data + bytes(9) + b"\n" + data[: ends(data)[7]].replace(b"random", b"nobody"),
    ),
    "a value in the last block": (
        24,
        lambda data: data[: ends(data)[22]] + data[ends(data)[22] :].replace(b"false", b"7", 1),
    ),
}


@pytest.mark.parametrize(("line", "damage"), REFUSED.values(), ids=REFUSED)
def test_other_damage_is_refused_and_nothing_changes(
    finished: Path, damaged: Callable[[bytes], Path], line: int, damage: Callable[[bytes], bytes]
) -> None:
    folder = damaged(damage((finished / GAMES).read_bytes()))
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    with pytest.raises(ValueError, match=rf"games\.jsonl is damaged: line {line} is none") as error:
        resumed(folder)
    assert "\n" not in str(error.value)
    after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert after == before


def test_zeroed_settings_are_refused_in_one_line(
    finished: Path, damaged: Callable[[bytes], Path]
) -> None:
    folder = damaged((finished / GAMES).read_bytes())
    (folder / SETTINGS).write_bytes(bytes((folder / SETTINGS).stat().st_size))
    before = files(folder)
    with pytest.raises(ValueError, match=r"settings\.json cannot be read: ") as error:
        resumed(folder)
    assert "\n" not in str(error.value)
    assert files(folder) == before


@pytest.mark.process
def test_the_command_warns_and_goes_on(finished: Path, damaged: Callable[[bytes], Path]) -> None:
    folder = damaged((finished / GAMES).read_bytes()[:-300] + bytes(5000))
    options = ["--game", "attack-defence", "--minimal", "--num-ranks", "5", "--agents", *AGENTS]
    options += ["--deals", "4", "--seed", "5", "--out", str(folder), "--resume"]
    command = [sys.executable, "-c", PROGRAM, "tournament", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("games.jsonl was damaged at its end") == 1
    assert files(folder) == files(finished)
