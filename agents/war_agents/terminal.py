"""Standard streams and terminals that are missing, full, narrow, or lack characters."""

import contextlib
import io
import os
import shutil
import sys
from collections.abc import Iterator
from typing import Any, Final, TextIO

NARROWEST: Final = 40
WIDEST: Final = 1000


def prepare() -> None:
    """Prepares the process's standard streams for whatever a command prints; it is not undone.

    Missing streams are opened on the null device, which also keeps files of ours off descriptors 0
    to 2. Characters that the terminal's encoding lacks are escaped. Failed writes to standard error
    are dropped. Widths too narrow or too wide for help texts are replaced.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if sys.stderr is sys.__stderr__ and sys.stderr is not None:
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Forgiving(sys.stderr.fileno(), "w", closefd=False)),
            encoding=sys.stderr.encoding,
            errors="backslashreplace",
            line_buffering=True,
        )
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    found = shutil.get_terminal_size().columns
    width = min(max(found, NARROWEST), WIDEST)
    if width != found or "COLUMNS" in os.environ:  # there may be anything
        os.environ["COLUMNS"] = str(width)


def finish() -> None:
    """Points standard output at the null device if its buffer cannot be flushed.

    Else the interpreter would try again at exit, and report it.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Forgiving(io.FileIO):
    """A file whose failed writes are dropped."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


class _ForgivingText:
    """A text stream whose failed writes are dropped; all else is that stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


@contextlib.contextmanager
def forgiving_streams() -> Iterator[None]:
    """Drops failed writes to the standard streams within: on a full disk, or a closed terminal."""
    with contextlib.ExitStack() as stack:
        if sys.stdout is not None:
            stack.enter_context(contextlib.redirect_stdout(_ForgivingText(sys.stdout)))
        if sys.stderr is not None:
            stack.enter_context(contextlib.redirect_stderr(_ForgivingText(sys.stderr)))
        yield
