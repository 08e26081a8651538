"""The log of a run: a line of JSON an update, the same for TensorBoard, and a progress bar."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from torch.utils.tensorboard import SummaryWriter


class RunLog:
    """Appends to ``log.jsonl`` and ``tensorboard/`` of a run's folder, and shows how far it is.

    Args:
        folder: the run's.
        total_steps: where the bar ends.
        progress: show the bar, if standard error is a terminal.
        kept: bytes of ``log.jsonl`` that stay; what lies behind will be logged again.
        steps: where the run goes on.

    Raises:
        ValueError: the log is shorter than what should stay.
    """

    def __init__(
        self, folder: Path, total_steps: int, *, progress: bool, kept: int = 0, steps: int = 0
    ) -> None:
        self._total = total_steps
        self._lines = (folder / "log.jsonl").open("a", encoding="utf-8")
        if self._lines.tell() < kept:
            self._lines.close()
            raise ValueError(f"{folder / 'log.jsonl'} is shorter than when the run was saved")
        self._lines.truncate(kept)
        self._board = SummaryWriter(str(folder / "tensorboard"), purge_step=steps + 1)
        self._bar = Progress(
            TextColumn("training"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            disable=not (progress and sys.stderr is not None and sys.stderr.isatty()),
        )
        self._task = self._bar.add_task("", total=total_steps)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()
        self._lines.close()
        self._board.close()

    @property
    def size(self) -> int:
        """Bytes of ``log.jsonl``."""
        return self._lines.tell()

    def show(self, steps: int, text: str | None = None) -> None:
        """Moves the bar to ``steps``, and writes ``text`` beside it."""
        self._bar.update(self._task, completed=min(steps, self._total), description=text)

    def write(self, row: Mapping[str, Any]) -> None:
        """Appends one row, whose ``steps`` say when.

        Raises:
            OSError: it cannot be written.
        """
        self._lines.write(json.dumps(row) + "\n")
        self._lines.flush()
        os.fsync(self._lines.fileno())
        for key, value in _flat(row):
            if key != "steps":
                self._board.add_scalar(key, value, row["steps"])


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """The numbers in nested mappings, keys joined by slashes."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}/")
        elif isinstance(value, int | float):
            yield prefix + key, value
