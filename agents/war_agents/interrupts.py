"""What Ctrl-C and SIGTERM do to a command: the first one ends it, and repeats change nothing."""

import signal
import threading
from types import FrameType
from typing import Any, Final, NoReturn

_NUMBERS: Final = (signal.SIGINT, signal.SIGTERM)


class TerminatedError(KeyboardInterrupt):
    """SIGTERM has come.

    Attributes:
        exit_code: what the command should end with.
    """

    exit_code = 128 + signal.SIGTERM


def prepare() -> None:
    """From now on the first SIGINT or SIGTERM raises, wherever this process is.

    All others are ignored, so that none tears what the first one has begun to end. What was ignored
    before stays so, as it is in the background of a script.
    """
    _handle(_stop)


def finish() -> None:
    """The command has ended: from now on both signals are ignored, for good."""
    _handle(signal.SIG_IGN)


def _stop(number: int, frame: FrameType | None) -> NoReturn:
    _handle(_ignore)
    raise KeyboardInterrupt if number == signal.SIGINT else TerminatedError


def _ignore(number: int, frame: FrameType | None) -> None:
    """Unlike SIG_IGN, it is not inherited by processes that are started yet."""


def _handle(handler: Any) -> None:
    if threading.current_thread() is threading.main_thread():
        for number in _NUMBERS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)
