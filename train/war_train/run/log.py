"""The log of a run: a line of JSON an update, the same for TensorBoard, and a progress bar."""

import os
import sys
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from war_agents.files import append, json_text, open_plain
from war_train.run.board import Board


class RunLog:
    """Appends to ``log.jsonl`` and ``tensorboard/`` of a run's folder, and shows how far it is.

    Args:
        folder: the run's.
        total_steps: where the bar ends.
        progress: show the bar, if standard error is a terminal.
        kept: bytes of ``log.jsonl`` that stay; what lies behind will be logged again.
        steps: where the run goes on.

    Raises:
        ValueError: the log does not hold what should stay, or a file of it is no plain file or
            leads elsewhere; nothing has changed then.
    """

    def __init__(
        self, folder: Path, total_steps: int, *, progress: bool, kept: int = 0, steps: int = 0
    ) -> None:
        self._total = total_steps
        self._board = Board(folder / "tensorboard", purge_step=steps + 1)
        self._path = folder / "log.jsonl"
        self._lines = _opened(self._path, kept)
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
        """Appends one row, whose ``steps`` say when; what is not finite is null in ``log.jsonl``.

        Raises:
            OSError: it cannot be written.
        """
        append(self._path, self._lines, f"{json_text(row)}\n".encode())
        self._board.write(row["steps"], (pair for pair in _flat(row) if pair[0] != "steps"))


def _opened(file: Path, kept: int) -> FileIO:
    """The log, cut to ``kept`` bytes, at its end; nothing is cut or made if they are not there."""
    try:
        lines = open_plain(file, os.O_RDWR | (0 if kept else os.O_CREAT))
    except ValueError as error:
        raise ValueError(f"{file} is not allowed: {error}") from error
    except OSError as error:
        raise ValueError(f"{file} cannot be opened: {error.strerror}") from error
    size = os.fstat(lines.fileno()).st_size
    if size < kept:
        lines.close()
        raise ValueError(f"{file} is shorter than when the run was saved: {size} bytes, not {kept}")
    if kept:
        lines.seek(kept - 1)
        if lines.read(1) != b"\n":
            lines.close()
            raise ValueError(f"{file} is damaged: no line ends where the run was saved, at {kept}")
    lines.truncate(kept)
    lines.seek(kept)
    return lines


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """The numbers in nested mappings, keys joined by slashes."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}/")
        elif isinstance(value, int | float):
            yield prefix + key, value
