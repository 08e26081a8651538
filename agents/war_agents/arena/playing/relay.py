"""What a worker process and its agents print, handed on to where this process says things."""

import contextlib
import os
import sys
import threading
from typing import IO, Final

CHUNK_BYTES: Final = 1 << 16
TAIL_BYTES: Final = 1 << 12
GRACE_SECONDS: Final = 2.0


class Relay:
    """Copies to standard error, from a thread of its own, until nobody can write any more.

    Agents write to a pipe and never to standard error itself: that may be a full disk or a closed
    terminal, which is no fault of theirs.

    Args:
        source: the reading end of the pipe, which it closes.

    Attributes:
        blocked: whoever reads standard error does not just now, so that agents may have to wait.
    """

    def __init__(self, source: IO[bytes]) -> None:
        self.blocked = False
        self._source = source
        self._tail = b""
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    @property
    def last_line(self) -> str:
        """The last line so far that is not blank; of a traceback, the one that says what it was."""
        lines = self._tail.decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Waits for the rest of an ended worker; a process that an agent has left may write on."""
        self._thread.join(GRACE_SECONDS)

    def _copy(self) -> None:
        with self._source:
            while chunk := os.read(self._source.fileno(), CHUNK_BYTES):
                self._tail = (self._tail + chunk)[-TAIL_BYTES:]
                self.blocked = True
                _say(chunk)
                self.blocked = False


def _say(text: bytes) -> None:
    # None where this process was started without it: its number may belong to another file now.
    if sys.__stderr__ is None:
        return
    with contextlib.suppress(OSError, ValueError):
        while text:
            text = text[os.write(sys.__stderr__.fileno(), text) :]
