"""What the scripts of all peers share: timing, and lines of the form that ``war bench`` prints.

Only the standard library: each peer has an environment of its own.
"""

import importlib.metadata
import itertools
import json
import os
import platform
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

REPEATS = 5
SECONDS = 0.3  # a repeat


def measure(
    name: str,
    work: Callable[[], int],
    *,
    includes: str,
    packages: Sequence[str],
    batch: int = 1,
    unit: str = "agent-steps/s",
) -> None:
    """Prints how many units a second ``work`` does, which returns how many it has done."""
    work()
    rates = []
    for _ in range(REPEATS):
        units, begun = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < SECONDS or not units:
            units += work()
        rates.append(units / elapsed)
    line = {
        "name": f"peers/{name}",
        "game": name.split("/")[1],
        "variant": "none",
        "batch": batch,
        "threads": 1,
        "unit": unit,
        "includes": includes,
        "median": statistics.median(rates),
        "min": min(rates),
        "max": max(rates),
        "repeats": REPEATS,
        "load": round(os.getloadavg()[0], 2),
        "machine": machine(),
        "versions": {"python": platform.python_version()}
        | {package: importlib.metadata.version(package) for package in packages},
    }
    print(json.dumps(line, allow_nan=False), flush=True)


def machine() -> str:
    """The processor, its cores and the system, in words."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


class Chooser:
    """Uniform choices, from numbers that were drawn beforehand."""

    def __init__(self) -> None:
        generator = random.Random(1)
        drawn = [generator.random() for _ in range(100_003)]
        self._draws = itertools.cycle(drawn)

    def __call__(self, legal: Sequence[int]) -> int:
        """One of the legal actions."""
        return legal[int(next(self._draws) * len(legal))]
