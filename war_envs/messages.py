"""Text in messages: values, errors, and what others have written, on one line each."""

import contextlib
import sys


def shown(value: object) -> str:
    """``value`` for an error message: on one line, and not too long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # noqa: BLE001 - an integer of thousands of digits, or a class of the user's
        return f"<{type(value).__name__}>"
    return text if len(text) <= 200 else f"{text[:200]}..."


def one_line(error: BaseException) -> str:
    """An error's message on one line, and `printable`."""
    return printable(" ".join(str(error).split())) or type(error).__name__


def printable(text: str) -> str:
    """``text`` with all that a terminal may obey (escapes, marks of direction) spelt out.

    >>> printable("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def notice(text: str) -> None:
    """Says something on standard error; nothing where that is missing, closed or full."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(text, file=sys.stderr, flush=True)
