"""Timing, and the record of it."""

import dataclasses
import functools
import importlib.metadata
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

Clock = Callable[[], float]
REPEATS: Final = 5
_PACKAGES: Final = (
    "war-envs",
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
)


def _load() -> float:
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0


@functools.cache
def describe_machine() -> str:
    """The processor, its cores and the system, in words."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    return f"{name}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


@functools.cache
def installed_versions() -> dict[str, str]:
    """Versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """One figure: the median, least and greatest of some repeats.

    Attributes:
        name: what was measured, such as ``batch/attack-defence/tokens``.
        game, variant: what was played.
        batch: games side by side.
        threads: threads that shared the work.
        unit: what `median`, `min` and `max` count.
        includes: in words, what the timed part does.
        repeats: how many there were.
        load: the machine's load average over the last minute, at the end; 0 where it has none.
            Above ``threads``, others were at work too.
        machine: the processor and the system.
        versions: of Python and of all packages that play a part.
    """

    name: str
    game: str
    variant: str
    batch: int
    threads: int
    unit: str
    includes: str
    median: float
    min: float
    max: float
    repeats: int
    load: float = field(default_factory=_load)
    machine: str = field(default_factory=describe_machine)
    versions: dict[str, str] = field(default_factory=installed_versions)

    @classmethod
    def of(cls, values: Sequence[float], **fields: Any) -> "Measurement":
        """The measurement that some repeats gave."""
        return cls(
            median=statistics.median(values),
            min=min(values),
            max=max(values),
            repeats=len(values),
            **fields,
        )

    def to_json(self) -> dict[str, Any]:
        """All fields, as JSON has them."""
        return dataclasses.asdict(self)


def rate(
    work: Callable[[], int],
    seconds: float,
    prepare: Callable[[], object] = int,
    *,
    clock: Clock = time.perf_counter,
) -> float:
    """Units per second of ``work``, which returns how many it did and is called over and over.

    Args:
        work: what is timed.
        seconds: how long.
        prepare: called before each ``work``, and not timed.
        clock: what tells the time; `time.process_time` leaves out what others do meanwhile.
    """
    units, timed = 0, 0.0
    while timed < seconds or not units:
        prepare()
        begun = clock()
        units += work()
        timed += clock() - begun
    return units / timed
