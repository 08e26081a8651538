"""What Ctrl-C and SIGTERM do to a run: it ends at the next step, with its model saved."""

import signal
import threading
from pathlib import Path
from types import FrameType
from typing import Any, Self


class TrainingStoppedError(KeyboardInterrupt):
    """A signal has come while a run went on, which is over with its model saved.

    Attributes:
        file: the model.
        exit_code: what a command should end with: 130 after SIGINT, 143 after SIGTERM.
    """

    def __init__(self, file: Path, number: int, steps: int, *, finished: bool) -> None:
        name = signal.Signals(number).name
        then = "it had finished" if finished else f"war train --resume {file.parent} goes on"
        super().__init__(f"stopped by {name} after {steps} steps; the model is in {file}; {then}")
        self.file = file
        self.exit_code = 128 + number


class StopRequest:
    """Catches SIGINT and SIGTERM while it is entered, in the main thread.

    One within another takes over what has come to that one, which catches again what comes later:
    so nothing is lost, and nothing raises, between a command and its run.

    Attributes:
        number: the first signal that came, or None.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._before: dict[int, Any] = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.number = self.number or number

    def catch(self) -> None:
        """Catches them from now on, for good where it is not entered."""
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
                outer = getattr(self._before[number], "__self__", None)
                if isinstance(outer, StopRequest):
                    self.number = self.number or outer.number

    def __enter__(self) -> Self:
        self.catch()
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
