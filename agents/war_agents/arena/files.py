"""Files that are whole at any moment: the old one or the new one, never a part."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path


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


def write_text(path: Path, text: str) -> None:
    """`write_bytes` of ``text`` as UTF-8."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes, check: Callable[[Path], None] = lambda part: None) -> None:
    """Writes ``data`` to ``path`` so that a crash at any moment leaves the old file or the new one.

    Args:
        path: the file.
        data: what it will hold.
        check: is given a file with the data before it gets its name; what it raises keeps it from
            getting it.

    Raises:
        OSError: it could not be written. The old file is as it was then, with nothing beside it.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with _removed_on_failure(part):
            with part.open("wb") as file:
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
