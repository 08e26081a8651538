"""Atomic writes, and reads that follow no links: what all reading and writing shares.

The folder of a run or a tournament may come from anywhere, so each file in it may be a link to one
of yours, or a pipe that never ends. What is written in such a folder, and what it goes on with, is
opened by `open_plain`, which takes neither; whole files are replaced by `write_bytes`, which writes
under a name that nobody can know beforehand.
"""

import contextlib
import errno
import json
import math
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import Any, Final

from filelock import BaseFileLock, FileLock, SoftFileLock, Timeout

_MAX_DEPTH: Final = 50  # of JSON
_NO_LOCKS: Final = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
# Not every platform has them: `_require_plain` has looked before.
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


def make_writable_folder(path: Path) -> None:
    """Makes the folder ``path``, if it is not there, and makes sure that it can be written to.

    Raises:
        OSError: they cannot.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OSError(
            error.errno, f"out={str(path)!r} is no folder to write to: {error.strerror}"
        ) from error


def open_plain(path: Path, flags: int = os.O_RDONLY, *, linked: bool = False) -> FileIO:
    """Opens a plain file, without a buffer. Pipes and devices are refused without a wait.

    Args:
        path: the file.
        flags: as `os.open` takes them, but not O_TRUNC, which would come before the check.
        linked: may it be a link? What is written never may, nor what a folder goes on with.

    Raises:
        ValueError: it is no plain file, or a link, symbolic or hard; the message does not name it.
        OSError: it cannot be opened.
    """
    with contextlib.suppress(FileNotFoundError):
        _require_plain(path.stat(follow_symlinks=linked), linked)
    flags |= _NO_WAIT | (0 if linked else _NO_LINK)
    opened = FileIO(os.open(path, flags, 0o666), "r+" if flags & os.O_RDWR else "r")
    try:
        _require_plain(os.fstat(opened.fileno()), linked)
    except ValueError:
        opened.close()
        raise
    return opened


def _require_plain(found: os.stat_result, linked: bool) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise ValueError("it is a link, and links in such a folder are not followed")
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("it is no plain file")
    if found.st_nlink > 1 and not linked:
        raise ValueError(
            "it is a hard link, a file with other names elsewhere; use a copy of the folder (cp -r)"
        )


def read_limited(path: Path, limit: int, *, linked: bool = False) -> bytes:
    """The bytes of a small file.

    Raises:
        ValueError: it is not such as `open_plain` opens, cannot be read, or has more than ``limit``
            bytes; the message does not name it.
    """
    try:
        with open_plain(path, linked=linked) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise ValueError(error.strerror or "it cannot be read") from error
    if data is None or len(data) > limit:
        raise ValueError(f"it is larger than {limit} bytes")
    return data


def append(path: Path, file: FileIO, data: bytes) -> None:
    """Writes ``data`` where ``file``, opened from ``path``, stands, which is its end.

    Once it returns, the data survives a crash.

    Raises:
        OSError: the disk is full. A part of ``data`` may be written then.
    """
    try:
        while data:
            data = data[file.write(data) :]
        os.fsync(file.fileno())
    except OSError as error:
        raise OSError(error.errno, f"{path} could not be written: {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of ``text`` as UTF-8."""
    write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> None:
    """`write_bytes` of ``value`` as indented `json_text`."""
    write_text(path, json_text(value, indent=2) + "\n")


def write_bytes(path: Path, data: bytes, check: Callable[[Path], None] = lambda part: None) -> None:
    """Writes ``data`` to ``path`` so that a crash at any moment leaves the old file or the new one.

    A link at ``path`` is replaced, and not followed.

    Args:
        path: the file.
        data: what it will hold.
        check: is given a file with the data before it gets its name; what it raises keeps it from
            getting it.

    Raises:
        OSError: it could not be written. The old file is as it was then, with nothing beside it.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with _removed_on_failure(part):
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            check(part)
            part.replace(path)
    except OSError as error:
        raise OSError(error.errno, f"{path} could not be written: {error.strerror}") from error
    if hasattr(os, "O_DIRECTORY"):  # not on Windows, which cannot open a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # so that the new name outlives a power cut too
        finally:
            os.close(folder)


@contextlib.contextmanager
def _removed_on_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def remove_parts(folder: Path, names: Iterable[str]) -> None:
    """Removes what crashes have left of writing the files ``names``, and nothing else.

    Only who holds the folder's lock may: nobody else is just writing them.
    """
    own = re.compile(rf"\.({'|'.join(map(re.escape, names))})\.[0-9a-f]{{16}}\.part")
    for path in folder.iterdir():
        if own.fullmatch(path.name) and not path.is_dir():
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def locked(file: Path, busy: str) -> Iterator[None]:
    """Holds the lock ``file`` within, so that nobody else does.

    A process that dies holds no lock. Where the file system has none (some network drives), a file
    beside it ends in ``.held`` while somebody works; a process that dies leaves it behind, which is
    found out on the same machine only.

    Args:
        file: the lock; it stays, unless it was made for what is then refused with a ValueError.
        busy: what to say where somebody else holds it.

    Raises:
        ValueError: somebody else holds it, or it is a link or no plain file.
        OSError: it cannot be made.
    """
    new = not os.path.lexists(file)
    lock = _acquired(file, busy)
    try:
        yield
    except ValueError:
        if new:
            with contextlib.suppress(OSError):
                file.unlink()
        raise
    finally:
        lock.release()


def _acquired(file: Path, busy: str) -> BaseFileLock:
    held = file.with_name(f"{file.name}.held")
    for path in (file, held):
        try:
            with contextlib.suppress(FileNotFoundError):
                _require_plain(path.lstat(), linked=False)
        except ValueError as error:
            raise ValueError(f"{path} is not allowed: {error}") from error
    lock: BaseFileLock = FileLock(file, fallback_to_soft=False)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ValueError(busy) from error
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise OSError(error.errno, f"{file} cannot be locked: {error.strerror}") from error
        lock = SoftFileLock(held)
        try:
            lock.acquire(timeout=1)  # it may take two tries to take over from one that was killed
        except Timeout as error:
            raise ValueError(
                f"{busy}, or one that was killed there has left {held} behind, as this file system "
                "has no locks: remove that file if nobody works there, on any machine"
            ) from error
    return lock


def json_text(value: Any, indent: int | None = None) -> str:
    """``value`` as JSON; NaN and infinities, which JSON lacks, become null."""
    return json.dumps(_with_null(value), indent=indent, allow_nan=False)


def _with_null(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _with_null(part) for key, part in value.items()}
    return [*map(_with_null, value)] if isinstance(value, list | tuple) else value


def parse_json(data: bytes | str) -> Any:
    """``data`` as strict JSON: no NaN, no infinities, and no key twice in an object.

    Raises:
        ValueError: it is no such JSON, or is nested too deeply.
    """
    try:
        value = json.loads(
            data, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_distinct
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    # Less than json.loads bears, so that nothing that is done with it later runs out of stack.
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [part for whole in level for part in _parts(whole)]
    if level:
        raise ValueError("it is nested too deeply")
    return value


def _parts(value: object) -> Collection[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("it holds a number that is not finite")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("it holds a name twice")
    return result
