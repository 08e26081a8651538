"""Agents in a process of their own, which may fail, hang or exit without harm to the rest."""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, Final, cast

from war_agents.arena.blocks import Block, Lost, Setup, dumps, play_or_forfeit
from war_agents.arena.games import Games, Recording
from war_agents.arena.heartbeat import SIZE, Heartbeat

POLL_SECONDS: Final = 0.05
GRACE_SECONDS: Final = 2.0
MOST_LOST: Final = 5
POSITIONS_PER_LIMIT: Final = 1000  # so many positions of one batch have as long as a choice, again


class ClosedError(Exception):
    """The tournament has ended while a block was played."""


class Isolated:
    """One worker process at a time; a new one replaces one that was lost.

    Args:
        setup: the tournament.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._message = dumps(setup)
        self._closed = False
        self._limited = (False, False)
        self._hung: int | None = None
        self._start()

    def play(self, block: Block) -> Games:
        """The games of ``block``; see `play_or_forfeit`.

        Raises:
            ChildProcessError: the process is lost again and again while no agent is being asked.
        """
        return play_or_forfeit(block, self._attempt)

    def record(self, block: Block, row: int) -> tuple[Games, Recording] | None:
        """The games of ``block``, and the choices of one of them; None if the process was lost."""
        answer = self._exchange(block, Recording(row))
        return None if isinstance(answer, Lost) else answer

    @property
    def ended(self) -> int:
        """Games of the running block that have ended."""
        return self._heartbeat.read()[3]

    def close(self) -> None:
        """Ends the process at once."""
        self._closed = True
        self._stop()

    def _attempt(self, block: Block) -> Games | Lost:
        lost = 0
        while isinstance(answer := self._exchange(block), Lost):
            lost += 1
            # It may not have been the agent that ended the process: memory runs out, people kill.
            once_more = answer.side < 0 or (block.games == 1 and lost == 1)
            if self._hung is not None or not once_more:
                return answer
            if lost == MOST_LOST:
                raise ChildProcessError(
                    f"a worker process was lost {lost} times while no agent chose; "
                    "is there enough memory?"
                )
        return answer[0]

    def _exchange(
        self, block: Block, recording: Recording | None = None
    ) -> tuple[Games, Recording] | Lost:
        if self._closed:
            raise ClosedError
        if self._process.poll() is not None:  # lost before, or just now while it was idle
            self._stop()
            self._start()
        self._limited = (self._setup.limited[block.a], self._setup.limited[block.b])
        self._hung = None
        try:
            fault = None if self._ready else self._get_ready()
            if fault is None:
                self._send((block, recording))
                answer: tuple[Games, Recording] = self._receive()
                return answer
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # the pipes are cut
            return self._lost()
        raise ValueError(fault)  # whole, and it names the agent

    def _lost(self) -> Lost:
        """Whose fault it is that the process is gone."""
        if self._closed:
            raise ClosedError
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may be about to end by itself
            self._process.wait(GRACE_SECONDS)
        self._stop()
        code = self._process.returncode
        if self._hung is not None:
            reason = f"gave no answer for {self._setup.time_limit:g} s a choice"
            return Lost(self._hung, reason)
        side = self._heartbeat.read()[1]
        return Lost(side, f"ended its process, with exit code {code}")

    def _start(self) -> None:
        """A new process, which gets ready by itself."""
        with tempfile.NamedTemporaryFile(prefix="war-heartbeat-", delete=False) as file:
            file.write(bytes(SIZE))
        self._file = Path(file.name)
        self._heartbeat = Heartbeat(self._file)
        self._heartbeat.begin()
        # One thread each, and the user's own packages where this process finds them.
        path = os.pathsep.join(self._setup.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "war_agents.arena.worker", str(self._file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": path},
            start_new_session=True,  # so that what agents start is known to be theirs
        )
        self._ready = False
        self._supervisor = threading.Thread(
            target=self._supervise, args=(self._process,), daemon=True
        )
        self._supervisor.start()

    def _get_ready(self) -> str | None:
        """Tells a new process of the tournament; what is wrong with that, if anything is."""
        self._send(self._message)
        fault: str | None = self._receive()
        self._ready = fault is None
        return fault

    def _send(self, value: Any) -> None:
        stdin = cast("IO[bytes]", self._process.stdin)
        pickle.dump(value, stdin)
        stdin.flush()

    def _receive(self) -> Any:
        return pickle.load(cast("IO[bytes]", self._process.stdout))  # noqa: S301 - our own child

    def _supervise(self, process: "subprocess.Popen[bytes]") -> None:
        """Ends the process when an agent has taken too long, and with it all that it has started.

        It runs in a thread of its own.
        """
        heartbeat = self._heartbeat
        seen, since = 0, time.monotonic()
        while process.poll() is None:
            time.sleep(POLL_SECONDS)
            asked, side, positions, _ = heartbeat.read()
            if asked != seen or side < 0:
                seen, since = asked, time.monotonic()
            elif self._limited[side]:
                allowed = self._setup.time_limit * (1 + (positions - 1) / POSITIONS_PER_LIMIT)
                if time.monotonic() - since > allowed:
                    self._hung = side
                    break
        process.kill()
        # What its agents have started goes too: it may hold the worker's pipes open.
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing is left
                os.killpg(process.pid, signal.SIGKILL)

    def _stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._supervisor.join()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):  # of what was still to be sent
                cast("IO[bytes]", pipe).close()
        self._file.unlink(missing_ok=True)
