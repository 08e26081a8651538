"""Agents in a process of their own, which may fail, hang or exit without harm to the rest."""

import contextlib
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final, cast

from war_agents.arena.playing.blocks import Block, Lost, Setup, dumps, play_or_forfeit
from war_agents.arena.playing.games import Games, Recording
from war_agents.arena.playing.heartbeat import SIZE, Heartbeat
from war_agents.arena.playing.relay import Relay
from war_agents.arena.playing.supervisor import Supervisor
from war_agents.arena.playing.worker import COMMAND
from war_agents.module_path import own_path
from war_envs.messages import printable

GRACE_SECONDS: Final = 10.0
MOST_KILLED: Final = 5
MOST_ENDED: Final = 2
POSITIONS_PER_LIMIT: Final = 1000  # so many positions of one batch have as long as a choice, again
KILLED: Final = -signal.SIGKILL if hasattr(signal, "SIGKILL") else 1  # how `Popen.kill` ends it


class ClosedError(Exception):
    """The tournament has ended while a block was played."""


class Isolated:
    """One worker process at a time; a new one replaces one that was lost.

    Args:
        setup: the tournament.
        tell: is called with a player and how it has failed, each time that it costs a process or
            the games of a block.
    """

    def __init__(
        self, setup: Setup, tell: Callable[[int, str], object] = lambda player, reason: None
    ) -> None:
        self._setup = setup
        self._tell = tell
        self._message = dumps(setup)
        self._closed = False
        self._limited = (False, False)
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
            if answer.side >= 0:
                # It may not have been the agent: memory runs out, people kill.
                if answer.killed and lost == 1:
                    continue
                self._tell((block.a, block.b)[answer.side], answer.reason)
                return answer
            if lost == (MOST_KILLED if answer.killed else MOST_ENDED):
                raise ChildProcessError(
                    f"a worker process was lost {lost} times while no agent of yours chose: it "
                    f"{answer.reason}{self._more_about(answer)}"
                )
        return answer[0]

    def _more_about(self, lost: Lost) -> str:
        if lost.killed:
            return "; is there enough memory?"
        if self._process.poll() is None or not self._relay.last_line:
            return ""
        return f", and said: {printable(self._relay.last_line)[:300]}"

    def _exchange(
        self, block: Block, recording: Recording | None = None
    ) -> tuple[Games, Recording] | Lost:
        if self._closed:
            raise ClosedError
        if self._process.poll() is not None:  # lost before, or just now while it was idle
            self._stop()
            self._start()
        self._limited = (self._setup.limited[block.a], self._setup.limited[block.b])
        try:
            fault = None if self._ready else self._get_ready()
            if fault is None:
                self._send((block, recording))
                answer: tuple[Games, Recording] | Lost = self._receive()
                return self._blamed(answer) if isinstance(answer, Lost) else answer
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):  # the pipes are cut
            return self._blamed(self._lost())
        raise ValueError(fault)  # whole, and it names the agent

    def _blamed(self, lost: Lost) -> Lost:
        """``lost``, of which only agents of the user's own are ever guilty."""
        guilty = lost.side >= 0 and self._limited[lost.side]
        return lost if guilty else Lost(-1, lost.reason, killed=lost.killed)

    def _lost(self) -> Lost:
        """Whose fault it is that the process is gone."""
        if self._closed:
            raise ClosedError
        hung = self._supervisor.hung
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may be about to end by itself
            self._process.wait(GRACE_SECONDS)
        cut = self._process.poll() is None
        self._stop()
        code = self._process.returncode
        if hung is not None and code == KILLED:  # and it was not ending by itself just then
            return Lost(hung, f"gave no answer for {self._setup.time_limit:g} s a choice")
        side = self._heartbeat.read()[1]
        if cut:
            return Lost(side, "closed the files of its process")
        return Lost(side, f"ended its process, with exit code {code}", killed=code < 0)

    def _start(self) -> None:
        """A new process, which gets ready by itself."""
        with tempfile.NamedTemporaryFile(prefix="war-heartbeat-", delete=False) as file:
            file.write(bytes(SIZE))
        self._file = Path(file.name)
        self._heartbeat = Heartbeat(self._file)
        self._heartbeat.begin()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", COMMAND, str(self._file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"OMP_NUM_THREADS": "1", **os.environ},
            start_new_session=True,  # so that what agents start is known to be theirs
        )
        self._ready = False
        self._relay = Relay(cast("IO[bytes]", self._process.stderr))
        self._supervisor = Supervisor(
            self._process, self._heartbeat, self._limit, lambda: self._relay.blocked
        )
        with contextlib.suppress(OSError):  # it has ended: whoever asks it for something is told
            paths = [own_path(), [*map(str, self._setup.path)]]
            self._write(json.dumps(paths, allow_nan=False).encode() + b"\n")

    def _get_ready(self) -> str | None:
        """Tells a new process of the tournament; what is wrong with that, if anything is."""
        self._send(self._message)
        fault: str | None = self._receive()
        self._ready = fault is None
        return fault

    def _send(self, value: Any) -> None:
        self._write(pickle.dumps(value))

    def _write(self, message: bytes) -> None:
        stdin = cast("IO[bytes]", self._process.stdin)
        stdin.write(message)
        stdin.flush()

    def _receive(self) -> Any:
        return pickle.load(cast("IO[bytes]", self._process.stdout))  # noqa: S301 - our own child

    def _limit(self, side: int, positions: int) -> float:
        """How many seconds an agent may take."""
        if not self._limited[side]:
            return math.inf
        return self._setup.time_limit * (1 + (positions - 1) / POSITIONS_PER_LIMIT)

    def _stop(self) -> None:
        self._process.kill()
        self._process.wait()
        self._supervisor.join()
        self._relay.close()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):  # of what was still to be sent
                cast("IO[bytes]", pipe).close()
        self._file.unlink(missing_ok=True)
