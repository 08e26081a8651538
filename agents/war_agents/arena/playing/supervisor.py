"""Ends a worker process in which an agent takes too long for a choice."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from war_agents.arena.playing.heartbeat import Heartbeat

POLL_SECONDS: Final = 0.05


class Supervisor:
    """Watches a worker from a thread of its own, until that has ended.

    Args:
        process: the worker, which leads a session of its own.
        heartbeat: what it is doing.
        limit: how many seconds an agent may take, from its side and the number of positions.
        excused: is the agent held up by what is not its own doing?

    Attributes:
        hung: the side that has taken too long; None for neither.
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        heartbeat: Heartbeat,
        limit: Callable[[int, int], float],
        excused: Callable[[], bool],
    ) -> None:
        self.hung: int | None = None
        self._process = process
        self._heartbeat = heartbeat
        self._limit = limit
        self._excused = excused
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def join(self) -> None:
        """Waits until the worker has ended, and all that its agents have started with it."""
        self._thread.join()

    def _watch(self) -> None:
        clock = _Clock(self._process.pid)
        seen, taken = 0, 0.0
        while self._process.poll() is None:
            time.sleep(POLL_SECONDS)
            passed = clock.tick()
            asked, side, positions, _ = self._heartbeat.read()
            if asked != seen or side < 0:
                seen, taken = asked, 0.0
            elif not self._excused():
                taken += passed
                if taken > self._limit(side, positions):
                    self.hung = side
                    break
        self._process.kill()
        # What its agents have started goes too: it may hold the worker's pipes open.
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing is left
                os.killpg(self._process.pid, signal.SIGKILL)


class _Clock:
    """Counts the time that a worker has had.

    Left out is time in which this process did not run either, since all was stopped for a while,
    and time in which the worker waited for a core that others had (where the system tells).
    """

    def __init__(self, worker: int) -> None:
        self._file = Path(f"/proc/{worker}/schedstat")
        self._now, self._waited = time.monotonic(), self._read()

    def tick(self) -> float:
        """Seconds since the last tick that count."""
        now, waited = time.monotonic(), self._read()
        passed = min(now - self._now, 2 * POLL_SECONDS) - (waited - self._waited)
        self._now, self._waited = now, waited
        return max(passed, 0.0)

    def _read(self) -> float:
        """Seconds that the worker's main thread has waited for a core; 0 where nothing tells."""
        try:
            return int(self._file.read_text().split()[1]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0
