"""What TensorBoard shows of a run.

PyTorch's own writer opens its file by a name that can be foreseen, again and again; in a folder
from a stranger that name may lead elsewhere. So the file is opened here, once.
"""

import secrets
import time
from collections.abc import Iterable
from io import FileIO
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter


class Board:
    """Writes numbers to a file of its own in a folder, which is made with the first of them.

    Args:
        folder: TensorBoard's.
        purge_step: TensorBoard forgets what older files there say of this step and later ones.

    Raises:
        ValueError: there is something else in the folder's place, or a link.
    """

    def __init__(self, folder: Path, purge_step: int) -> None:
        self._folder = folder
        self._purge_step = purge_step
        self._file: FileIO | None = None
        self._require_folder()

    def write(self, step: int, numbers: Iterable[tuple[str, float]]) -> None:
        """Adds numbers by name, of one step.

        Raises:
            ValueError, OSError: the file cannot be made or written.
        """
        values = [Summary.Value(tag=name, simple_value=number) for name, number in numbers]
        records = []
        if self._file is None:
            self._file = self._opened()
            start = SessionLog(status=SessionLog.START)
            records = [
                Event(file_version="brain.Event:2"),
                Event(step=self._purge_step, session_log=start),
            ]
        writer = RecordWriter(self._file)
        try:
            for event in (*records, Event(step=step, summary=Summary(value=values))):
                event.wall_time = time.time()
                writer.write(event.SerializeToString())
        except OSError as error:
            raise OSError(
                error.errno, f"{self._folder} could not be written to: {error.strerror}"
            ) from error

    def close(self) -> None:
        """Closes the file, if there is one."""
        if self._file is not None:
            self._file.close()

    def _require_folder(self) -> None:
        if self._folder.is_symlink() or (self._folder.exists() and not self._folder.is_dir()):
            raise ValueError(f"{self._folder} is not allowed: it is a link or no folder; remove it")

    def _opened(self) -> FileIO:
        self._folder.mkdir(exist_ok=True)
        self._require_folder()
        # TensorBoard reads the files of a folder in the order of their names.
        name = f"events.out.tfevents.{time.time_ns()}.{secrets.token_hex(8)}"
        return FileIO(self._folder / name, "x")
