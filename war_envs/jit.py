"""How kernels are compiled: Numba, cached on disk where that is possible.

Two wishes that `numba.njit(cache=True)` alone does not grant: an install that cannot be written to
must still import, and a kernel must be compiled anew when any file of kernels has changed, not just
changed: Numba looks at its own file only.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
from numba.core import event

from war_envs.messages import notice

_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGES: Final = ("war_envs.", "war_agents.")
_ROOT: Final = Path(__file__).parent


@cache
def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What tells one state of a folder's sources from another; nothing in a zip file."""
    files = sorted(folder.rglob("*.py"))
    return tuple((f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in files)


def kernel(function: _F) -> _F:
    """Compile ``function`` with Numba, without the GIL, cached on disk if any cache is writable."""
    try:
        compiled = numba.njit(nogil=True, cache=True, forceinline=True, error_model="numpy")(
            function
        )
    except RuntimeError:  # Numba found no place for its cache
        return cast(_F, numba.njit(nogil=True, forceinline=True, error_model="numpy")(function))
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if cache_file is not None:  # None with NUMBA_DISABLE_JIT
        own = Path(function.__code__.co_filename).parent
        cache_file._source_stamp = (cache_file._source_stamp, _stamp(_ROOT), _stamp(own))
    return cast(_F, compiled)


class _CompileNotice(event.Listener):
    """Says, once a process, why the first call takes seconds."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        if not self.said and function.__module__.startswith(_PACKAGES):
            self.said = True
            notice("war-envs: compiling kernels, which takes some seconds once")

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
