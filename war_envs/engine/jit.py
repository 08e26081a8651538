"""How kernels are compiled: Numba, cached on disk where that is possible.

`numba.njit(cache=True)` is not enough: it fails where nothing can be written, and it looks for
changes in a kernel's own file only, although kernels are inlined into those of other files. So
kernels have a cache of their own (`war_envs.engine.kernel_cache`).
"""

import contextlib
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numba
from numba.core import event
from numba.core.dispatcher import Dispatcher

from war_envs.engine.kernel_cache import KernelCache
from war_envs.messages import notice

_F = TypeVar("_F", bound=Callable[..., Any])
_PACKAGES: Final = ("war_envs.", "war_agents.")


def kernel(function: _F) -> _F:
    """Compile ``function`` with Numba, without the GIL, cached on disk if any cache is writable."""
    compiled = numba.njit(nogil=True, forceinline=True, error_model="numpy")(function)
    if isinstance(compiled, Dispatcher):  # it is the function itself with NUMBA_DISABLE_JIT
        with contextlib.suppress(RuntimeError, OSError):  # there is no place for a cache
            compiled._cache = KernelCache(function)  # type: ignore[attr-defined]
    return cast(_F, compiled)


class _CompileNotice(event.Listener):
    """Says, once per process, why the first call takes seconds."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: event.Event) -> None:
        function = event.data["dispatcher"].py_func
        if not self.said and str(function.__module__).startswith(_PACKAGES):
            self.said = True
            notice("war-envs: compiling kernels, which takes some seconds once")

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _CompileNotice())  # type: ignore[no-untyped-call]
