"""Compiled code is kept where that is possible, never missed where it is not, and never stale."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import war_envs
from war_envs.engine import jit

# Kernels that compile in no time: one for each way in which a file can be bad.
KERNELS = """
from war_envs.engine.jit import kernel
"""
KERNEL = """
@kernel
def k{0}(x):
    return x + {0}
"""
USE = """
for number, one in enumerate([{}]):
    assert one(100) == 100 + number
    print(one.__name__, sum(one.stats.cache_hits.values()))
"""


class Program:
    """A program with kernels of its own, and a folder for what is compiled."""

    def __init__(self, folder: Path, number: int) -> None:
        self.cache = folder / "cache"
        self.file = folder / "program.py"
        names = [f"k{k}" for k in range(number)]
        kernels = [KERNEL.format(k) for k in range(number)]
        self.file.write_text("".join([KERNELS, *kernels, USE.format(", ".join(names))]))

    def insert(self, code: str) -> None:
        """Runs ``code`` when the kernels are there and none has been called."""
        self.file.write_text(self.file.read_text().replace("\nfor ", f"\n{code}\nfor ", 1))

    def start(self, before: str = "") -> "subprocess.Popen[str]":
        """Starts it, or ``before`` and then the program."""
        program = f"{before}\nimport runpy\nrunpy.run_path({str(self.file)!r})"
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", program],
            env={**os.environ, "NUMBA_CACHE_DIR": str(self.cache)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def kept(self, kernel: int) -> Path:
        """The file of a kernel's code."""
        (file,) = self.cache.rglob(f"*.k{kernel}-*.nbc")
        return file


def ended(process: "subprocess.Popen[str]") -> tuple[set[str], str]:
    """Which kernels were found compiled by a process that must succeed, and what it said."""
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err
    return {line.split()[0] for line in out.splitlines() if line.endswith(" 1")}, err


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def cut_in_half(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def without_its_last_byte(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def garbage(file: Path) -> None:
    file.write_bytes(os.urandom(1000))


def one_bit_changed(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def unreadable(file: Path) -> None:
    file.chmod(0)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


BAD: list[Callable[[Path], None]] = [
    emptied,
    cut_in_half,
    without_its_last_byte,
    garbage,
    one_bit_changed,
    a_pipe,
    unreadable,
    a_folder,
]
CANNOT_BE_USED = "war-envs: a compiled kernel cannot be used and is compiled anew: "
CANNOT_BE_KEPT = "war-envs: kernels cannot be kept, so every process compiles them: "


@pytest.mark.process
@pytest.mark.slow
def test_a_bad_file_is_compiled_anew_and_replaced_with_one_line_that_says_so(
    tmp_path: Path,
) -> None:
    program = Program(tmp_path, len(BAD) + 2)
    names = {f"k{k}" for k in range(len(BAD) + 2)}
    taken, whole = len(BAD), len(BAD) + 1
    assert ended(program.start()) == (set(), "")
    assert ended(program.start()) == (names, "")

    for k, spoil in enumerate(BAD):
        spoil(program.kept(k))
    shutil.copy(program.kept(whole), program.kept(taken))  # a good file, but of another kernel
    replaceable = names - {f"k{BAD.index(a_folder)}"}
    found, said = ended(program.start())
    readable = {f"k{BAD.index(unreadable)}"} if os.geteuid() == 0 else set()  # nothing stops root
    assert found == {f"k{whole}"} | readable
    first, second, *more = said.splitlines()
    assert first == f"{CANNOT_BE_USED}{program.kept(0)} is damaged"
    assert second.startswith(CANNOT_BE_KEPT), said  # where the folder is
    assert not more

    assert ended(program.start())[0] == replaceable
    assert not list(program.cache.rglob("*.tmp"))


FULL_DISK = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))"
LOST_FOLDER = "import shutil; shutil.rmtree({0!r}); open({0!r}, 'w').close()"


@pytest.mark.process
@pytest.mark.slow
def test_a_full_disk_or_a_lost_folder_costs_a_compilation_and_one_line(tmp_path: Path) -> None:
    (tmp_path / "lost").mkdir()
    full, lost = Program(tmp_path, 2), Program(tmp_path / "lost", 2)
    lost.insert(LOST_FOLDER.format(str(lost.cache)))
    started = full.start(FULL_DISK), lost.start()
    for process in started:
        found, said = ended(process)
        assert not found
        assert said.startswith(CANNOT_BE_KEPT)
        assert said.count("\n") == 1
    assert ended(full.start()) == (set(), "")  # the disk is not full any more
    assert ended(full.start()) == ({"k0", "k1"}, "")


@pytest.mark.process
@pytest.mark.slow
def test_processes_that_compile_at_the_same_time_leave_whole_files(tmp_path: Path) -> None:
    program = Program(tmp_path, 10)
    for process in [program.start() for _ in range(2)]:
        assert ended(process)[1] == ""
    assert len(ended(program.start())[0]) == 10


@pytest.mark.field_case("P04")
def test_without_any_place_for_a_cache_kernels_compile_all_the_same() -> None:
    scope: dict[str, Callable[[int], int]] = {}
    exec(compile("def double(x): return 2 * x", "<no file>", "exec"), scope)  # noqa: S102
    compiled: Any = jit.kernel(scope["double"])
    assert compiled(21) == 42
    assert compiled.stats.cache_path is None


@pytest.mark.process
@pytest.mark.slow
def test_a_rule_that_changes_is_compiled_anew_whatever_the_clock_says(tmp_path: Path) -> None:
    package = tmp_path / "war_envs"
    shutil.copytree(
        Path(war_envs.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__")
    )
    # A kernel of another file than the rule that it goes by.
    program = """
from war_envs import variant
from war_envs.engine import engine
from war_envs.attack_defence.rules import beats
games = engine.ENGINES["attack-defence"].new_games(variant.make_variant("attack-defence"), 1)
print(engine.__file__, beats(games[0], 12, 8), sum(beats.stats.cache_hits.values()))
"""
    env = {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python itself goes by the clock
    }

    def answer() -> list[str]:
        command = [sys.executable, "-c", program]
        return subprocess.run(
            command, env=os.environ | env, cwd=tmp_path, text=True, capture_output=True, check=True
        ).stdout.split()

    place = str(package / "engine" / "engine.py")
    assert answer() == [place, "True", "0"]
    assert answer() == [place, "True", "1"]
    file = package / "engine" / "kernels.py"
    before, text = file.stat(), file.read_text()
    rule = "return np.int64(card) >> 2"  # a card's rank
    assert text.count(rule) == 1
    file.write_text(text.replace(rule, "return np.int64(card) >> 9"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = file.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)
    assert answer() == [place, "False", "0"]
    assert answer() == [place, "False", "1"]
