"""How much memory something keeps."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Final

# Bytes: Python and NumPy keep a few small things to use again.
SLACK: Final = 16 * 1024


def grown(work: Callable[[], object], *, warm: int, times: int) -> int:
    """Bytes that are held more after ``times`` of ``work`` than before, ``warm`` times first."""
    tracemalloc.start()  # first, so that what is kept once and for all is counted before
    try:
        for _ in range(warm):
            work()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(times):
            work()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
