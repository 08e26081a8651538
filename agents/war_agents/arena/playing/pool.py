"""Who plays blocks: this process, or several worker processes side by side."""

import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from war_agents.arena.playing.blocks import PATIENCE, Block, Seating, Setup
from war_agents.arena.playing.games import Games, Recording, Watch
from war_agents.arena.playing.isolation import Isolated
from war_agents.terminal import forgiving_streams
from war_envs.messages import notice, shown

TICK_SECONDS: Final = 0.1
Running = Callable[[int], object]
GivenUp = Callable[[Block], Games | None]
_Done = queue.SimpleQueue[tuple[int, Future[Games]]]


class Pool(Protocol):
    """Plays blocks."""

    def play(
        self, blocks: Sequence[Block], running: Running, given_up: GivenUp
    ) -> Iterator[tuple[int, Games]]:
        """Plays ``blocks``, in any order.

        Args:
            blocks: what to play.
            running: called now and then with the number of games that have ended in blocks which
                are not yet yielded; what it raises ends all.
            given_up: the games of a block in which an agent takes part that is asked no more; None
                if it must be played.

        Yields:
            The place of a block in ``blocks`` and its games, as soon as it has been played.
        """
        ...

    def record(self, block: Block, row: int) -> tuple[Games, Recording] | None:
        """The games of ``block``, and the choices of one of them; None if they were lost."""
        ...

    def close(self) -> None:
        """Ends whatever is running."""
        ...


class InProcess:
    """Plays in this process, where an agent that hangs or exits takes all with it."""

    def __init__(self, setup: Setup) -> None:
        self._seating = Seating(setup)

    def play(
        self, blocks: Sequence[Block], running: Running, given_up: GivenUp
    ) -> Iterator[tuple[int, Games]]:
        """See `Pool`."""
        for i, block in enumerate(blocks):
            games = given_up(block)
            if games is None:
                with forgiving_streams():
                    games = self._seating.play(block, _Counting(running))
            yield i, games

    def record(self, block: Block, row: int) -> tuple[Games, Recording] | None:
        """See `Pool`."""
        recording = Recording(row)
        return self._seating.play(block, recording=recording), recording

    def close(self) -> None:
        """See `Pool`."""


class _Counting(Watch):
    def __init__(self, running: Running) -> None:
        self._running = running
        self._games = 0

    def ended(self, games: int) -> None:
        self._games += games
        self._running(self._games)


class Processes:
    """Plays in worker processes, each with a thread of this process to look after it."""

    def __init__(self, setup: Setup, number: int) -> None:
        self._threads = ThreadPoolExecutor(number, "war-arena")
        self._names = [entrant.player.name for entrant in setup.entrants]
        self._told: set[int] = set()
        self._workers = [Isolated(setup, self._tell) for _ in range(number)]
        self._idle = list(self._workers)
        self._lock = threading.Lock()

    def play(
        self, blocks: Sequence[Block], running: Running, given_up: GivenUp
    ) -> Iterator[tuple[int, Games]]:
        """See `Pool`."""
        done: _Done = queue.SimpleQueue()
        for i, block in enumerate(blocks):
            future = self._threads.submit(self._play, block, given_up)
            future.add_done_callback(partial(_put, done, i))
        waiting = len(blocks)
        while waiting:
            try:
                i, future = done.get(timeout=TICK_SECONDS)
            except queue.Empty:
                running(sum(worker.ended for worker in self._workers))
                continue
            waiting -= 1
            yield i, future.result()

    def record(self, block: Block, row: int) -> tuple[Games, Recording] | None:
        """See `Pool`."""
        return self._workers[0].record(block, row)

    def close(self) -> None:
        """See `Pool`."""
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:  # which may have been starting a process just then
            worker.close()

    def _play(self, block: Block, given_up: GivenUp) -> Games:
        if (games := given_up(block)) is not None:
            return games
        with self._lock:
            worker = self._idle.pop()
        try:
            return worker.play(block)
        finally:
            with self._lock:
                self._idle.append(worker)

    def _tell(self, player: int, reason: str) -> None:
        """Says, once an agent, why the tournament takes longer now."""
        with self._lock:
            if player in self._told:
                return
            self._told.add(player)
        name = shown(self._names[player])
        notice(
            f"war-envs: agent {name} {reason}; such games are lost to it and found one by one, and "
            f"after {PATIENCE} in a row it is asked no more"
        )


def _put(done: "_Done", i: int, future: "Future[Games]") -> None:
    done.put((i, future))


def num_cores() -> int:
    """The cores that this process may use: those of the machine, of its affinity and its quota."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):  # no such file, or "max": no quota
        pass
    return cores
