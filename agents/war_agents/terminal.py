"""Standard streams and terminals as they are found: missing, full, narrow, or of few letters."""

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
    """Makes a command's standard streams fit for whatever it prints, in this process and for good.

    Missing ones lead nowhere, and their numbers are taken, so that no file of ours gets them. What
    the terminal's encoding lacks is spelt out. What cannot be said on standard error is left out.
    Widths that help texts cannot be laid out in are replaced.
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
    """Lets standard output lead nowhere if what is left of it cannot be written.

    The interpreter would try again as it ends, and say so.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Forgiving(io.FileIO):
    """A file that takes everything; what cannot be written is lost."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(data)


class _ForgivingText:
    """A text stream to which writing never fails; all else is that stream's own."""

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
    """What is printed within may be lost, where a disk is full or a terminal closed; no error."""
    with contextlib.ExitStack() as stack:
        if sys.stdout is not None:
            stack.enter_context(contextlib.redirect_stdout(_ForgivingText(sys.stdout)))
        if sys.stderr is not None:
            stack.enter_context(contextlib.redirect_stderr(_ForgivingText(sys.stderr)))
        yield
