"""Files of one's own: locks where a file system has none, what a crash leaves, links, and JSON."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from war_agents.files import json_text, locked, open_plain, parse_json, remove_parts, write_bytes

# What Python imports by itself at its start: here a file system without locks, on some machine.
NO_LOCKS = """
import fcntl, os, socket
def flock(descriptor, operation):
    raise OSError(int(os.environ["ERRNO"]), os.strerror(int(os.environ["ERRNO"])))
fcntl.flock = flock
if "HOST" in os.environ:
    socket.gethostname = lambda: os.environ["HOST"]
"""
WORK = """
import os, signal, sys
from pathlib import Path
from war_agents.files import locked
with locked(Path("run.lock"), "another process works here"):
    print("works", flush=True)
    if sys.argv[1] == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[1] == "waits":
        sys.stdin.read()
"""


class NoLocks:
    """Starts processes that work under a lock, where the file system has none.

    Args:
        folder: an empty one.
    """

    def __init__(self, folder: Path) -> None:
        self._site, self.work = folder / "site", folder / "work"
        self._site.mkdir()
        self.work.mkdir()
        (self._site / "sitecustomize.py").write_text(NO_LOCKS)

    def start(self, what: str, *, error: int, **env: str) -> "subprocess.Popen[str]":
        """A process that ``ends``, ``waits`` or ``is killed``."""
        path = os.pathsep.join([str(self._site), *sys.path])
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WORK, what],
            cwd=self.work,
            env=os.environ | {"PYTHONPATH": path, "ERRNO": str(error)} | env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.mark.process
@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_will_do(tmp_path: Path, error: int) -> None:
    process = NoLocks(tmp_path).start("ends", error=error)
    assert process.communicate(timeout=60) == ("works\n", "")
    assert [file.name for file in (tmp_path / "work").iterdir()] == ["run.lock"]


@pytest.mark.process
@pytest.mark.slow
def test_without_locks_one_process_works_and_what_a_killed_one_left_is_named(
    tmp_path: Path,
) -> None:
    places = NoLocks(tmp_path)

    def start(what: str, **env: str) -> "subprocess.Popen[str]":
        return places.start(what, error=errno.ENOLCK, **env)

    def told(process: "subprocess.Popen[str]") -> str:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert not out
        return err.splitlines()[-1]

    first = start("waits")
    assert first.stdout is not None
    assert first.stdout.readline() == "works\n"
    busy = told(start("ends"))
    assert busy.startswith("ValueError: another process works here, or one that was killed")
    assert "run.lock.held" in busy
    assert "remove that file if nobody works there, on any machine" in busy
    first.communicate(timeout=60)
    assert first.returncode == 0
    killed = start("is killed", HOST="elsewhere")
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert told(start("ends")) == busy
    (places.work / "run.lock.held").unlink()  # as it says
    for what, code in (("is killed", -signal.SIGKILL), ("ends", 0)):  # on the same machine
        process = start(what)
        _, err = process.communicate(timeout=60)
        assert process.returncode == code, err
    assert [file.name for file in places.work.iterdir()] == ["run.lock"]


def test_a_lock_stays_but_not_one_that_was_made_for_what_is_refused(tmp_path: Path) -> None:
    lock = tmp_path / "run.lock"
    with pytest.raises(ValueError, match="refused"), locked(lock, "busy"):
        raise ValueError("refused")
    assert not lock.exists()
    with locked(lock, "busy"):
        pass
    before = lock.stat()
    with pytest.raises(ValueError, match="refused"), locked(lock, "busy"):
        raise ValueError("refused")
    assert lock.stat().st_ino == before.st_ino
    with locked(lock, "busy"), pytest.raises(ValueError, match="busy"), locked(lock, "busy"):
        pass
    assert lock.exists()


@pytest.mark.parametrize("name", ["run.lock", "run.lock.held"])
@pytest.mark.parametrize("link", [os.symlink, os.link, lambda _, path: os.mkfifo(path)])
def test_a_lock_leads_nowhere(
    tmp_path: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    link(other, tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name} is not allowed: it is "):  # noqa: SIM117
        with locked(tmp_path / "run.lock", "busy"):
            pass
    assert other.read_text() == "mine"


def test_a_file_is_replaced_where_links_lie_in_wait(tmp_path: Path) -> None:
    other, file = tmp_path / "other", tmp_path / "report.html"
    other.write_text("mine")
    file.symlink_to(other)
    for process in range(os.getpid() - 2, os.getpid() + 3):
        (tmp_path / f".report.html.{process}.part").symlink_to(other)
    before = {path.name for path in tmp_path.iterdir()}
    write_bytes(file, b"new")
    assert other.read_text() == "mine"
    assert file.read_bytes() == b"new"
    assert not file.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == before


@pytest.mark.process
def test_what_crashes_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    code = """
import os, signal, sys
from pathlib import Path
from war_agents.files import write_bytes
write_bytes(Path(sys.argv[1]), b"x", lambda part: os.kill(os.getpid(), signal.SIGKILL))
"""
    for name in ("report.html", "state.safetensors"):
        done = subprocess.run([sys.executable, "-c", code, name], cwd=tmp_path)
        assert done.returncode == -signal.SIGKILL
    others = {".notes.part", ".report.html.part", ".report.html.old.part", "report.html.part"}
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".report.html.0123456789abcdef.part").mkdir()
    remove_parts(tmp_path, ["report.html", "results.json"])
    left = {path.name for path in tmp_path.iterdir()}
    (training,) = (name for name in left if name.startswith(".state.safetensors."))
    assert left == others | {training, ".report.html.0123456789abcdef.part"}


def test_pipes_and_devices_are_refused_without_a_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "linked").symlink_to(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path / "linked", Path("/dev/zero"), tmp_path):
        for flags in (os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREAT):
            with pytest.raises(ValueError, match="it is no plain file"):
                open_plain(path, flags, linked=True)


def test_what_json_has_not_is_null_at_any_depth() -> None:
    value = {"a": float("nan"), "b": [1, (float("inf"), {"c": -float("inf")})], "d": 0.5, "e": "é"}
    found = parse_json(json_text(value))
    assert found == {"a": None, "b": [1, [None, {"c": None}]], "d": 0.5, "e": "é"}
    assert json_text({"x": 1}, indent=2) == json.dumps({"x": 1}, indent=2)
