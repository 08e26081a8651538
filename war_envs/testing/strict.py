"""How every check runs: warnings are errors, and any error is an AssertionError of one line."""

import contextlib
import io
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def strict(check: str) -> Iterator[None]:
    """Runs the block as the check of that name; what it prints is dropped."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("error")
            yield
    except Exception as error:
        kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
        reason = " ".join(str(error).split())[:300]
        raise AssertionError(f"{check}: {kind}{reason}") from error


def require(condition: object, reason: str) -> None:
    """``assert``, which Python's ``-O`` does not switch off."""
    if not condition:
        raise AssertionError(reason)
