"""Plays blocks on an existing Ray cluster, each in a worker process of its own there."""

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from typing import Any, Final

from war_agents.arena.playing.blocks import Block, Setup
from war_agents.arena.playing.games import Games, Recording
from war_agents.arena.playing.isolation import Isolated
from war_agents.arena.playing.pool import TICK_SECONDS, GivenUp, Running
from war_envs.messages import one_line, shown

try:
    import ray
except ImportError as error:
    raise ImportError(
        f'playing on a cluster needs {error.name}, which is missing: pip install "war-envs[ray]"'
    ) from error

RETRIES: Final = 5  # of a block whose machine or process is lost
REACH_SECONDS: Final = 10.0


class RayPool:
    """Hands blocks to a cluster, whose machines need this package and the players' files.

    A block is tried again elsewhere when the process or the machine that plays it is lost.

    Args:
        setup: the tournament.
        address: as `ray.init` takes it.

    Raises:
        ValueError: there is no cluster at ``address``.
    """

    def __init__(self, setup: Setup, address: str) -> None:
        self._own = not ray.is_initialized()
        if self._own:
            try:
                _reach(address)
                ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
            except (OSError, OverflowError, ValueError, RuntimeError) as error:
                raise ValueError(
                    f"ray={shown(address)} is not allowed; no cluster answers there "
                    f"({one_line(error)})"
                ) from error
        self._setup = ray.put(setup)
        self._key = os.urandom(16)
        options = ray.remote(max_retries=RETRIES, num_cpus=1)
        self._play, self._record = options(_play), options(_record)

    def play(
        self, blocks: Sequence[Block], running: Running, given_up: GivenUp
    ) -> Iterator[tuple[int, Games]]:
        """See `Pool`; all blocks are on their way before any agent has been given up."""
        waiting: dict[Any, int] = {
            self._play.remote(self._setup, self._key, block): i for i, block in enumerate(blocks)
        }
        while waiting:
            for reference in ray.wait(list(waiting), timeout=TICK_SECONDS)[0]:
                yield waiting.pop(reference), _result(reference)
            running(0)

    def record(self, block: Block, row: int) -> tuple[Games, Recording] | None:
        """See `Pool`."""
        played: tuple[Games, Recording] | None = _result(
            self._record.remote(self._setup, self._key, block, row)
        )
        return played

    def close(self) -> None:
        """See `Pool`."""
        if self._own:
            ray.shutdown()


def _reach(address: str) -> None:
    """Tries the machine and port of an address that names them; Ray would wait for minutes.

    Raises:
        OSError, OverflowError: nothing answers there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), REACH_SECONDS).close()


def _result(reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayError as error:
        raise ChildProcessError(f"the Ray cluster failed: {one_line(error)[:300]}") from error


# What follows runs on the cluster, where a process plays one block after the other.

_workers: dict[bytes, Isolated] = {}


def _play(setup: Setup, key: bytes, block: Block) -> Games:
    return _worker(setup, key).play(block)


def _record(setup: Setup, key: bytes, block: Block, row: int) -> tuple[Games, Recording] | None:
    return _worker(setup, key).record(block, row)


def _worker(setup: Setup, key: bytes) -> Isolated:
    if key not in _workers:
        for other in list(_workers):  # of a tournament before
            _workers.pop(other).close()
        _workers[key] = Isolated(setup)
    return _workers[key]
