"""The rows of a run's log: one per update."""

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Any

from war_train.run.log import RunLog


class Rows:
    """Writes a row per update, and keeps the run's clock.

    Args:
        log: where they go.
        seconds: how long the run has taken before.

    Attributes:
        pending: what the next row tells beside the rest, by name.
    """

    def __init__(self, log: RunLog, seconds: float) -> None:
        self._log = log
        self.pending: dict[str, Any] = {}
        self._written_at = time.monotonic()
        self._begun = self._written_at - seconds
        self._steps = 0

    def begin(self, steps: int) -> None:
        """The first row will tell of what comes after ``steps``."""
        self._steps = steps

    @property
    def seconds(self) -> float:
        """How long the run has taken so far."""
        return time.monotonic() - self._begun

    @contextlib.contextmanager
    def uncounted(self) -> Iterator[None]:
        """What happens within is no part of the speed."""
        begun = time.monotonic()
        yield
        self._written_at += time.monotonic() - begun

    def is_due(self, steps: int) -> bool:
        """Has there been an update since the last row?"""
        return steps != self._steps

    def write(
        self,
        steps: int,
        figures: Mapping[str, float],
        results: Mapping[str, tuple[int, int, int]],
    ) -> None:
        """Writes the row of the update that has just ended.

        Args:
            steps: decisions so far.
            figures: what the update says of itself.
            results: the learner's wins, draws and losses by opponent since the last row.
        """
        now = time.monotonic()
        speed = round((steps - self._steps) / (now - self._written_at))
        row: dict[str, Any] = {
            "steps": steps,
            "seconds": round(now - self._begun, 3),
            "steps_per_second": speed,
            **figures,
        }
        played = {name: sum(counts) for name, counts in results.items() if sum(counts)}
        row["games"] = played
        row["score"] = {
            name: round((results[name][0] + results[name][1] / 2) / number, 4)
            for name, number in played.items()
        }
        row |= self.pending
        self.pending = {}
        self._log.write(row)
        scores = " ".join(f"{name} {score:.2f}" for name, score in row["score"].items())
        self._log.show(steps, f"{speed}/s {scores}")
        self._steps, self._written_at = steps, time.monotonic()
