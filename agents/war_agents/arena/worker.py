"""A process that plays blocks: ``python -m war_agents.arena.worker HEARTBEAT``.

It reads a pickled `Setup` and then blocks from its standard input. To its standard output it writes
None, or what is wrong with the setup, and then what came of each block; what agents print goes to
standard error. It ends when its input ends, so it never outlives the tournament, whatever an agent
is doing.
"""

import contextlib
import os
import pickle
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from war_agents.arena.blocks import Setup, Table
from war_agents.arena.heartbeat import Heartbeat
from war_envs.messages import one_line


def main() -> None:
    """Plays until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tournament ends its workers by itself
    # Agents, and programs that they start, find nothing of this at the standard places.
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), sys.stdin.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(source, tasks), daemon=True).start()
    file = Path(sys.argv[1])
    heartbeat = Heartbeat(file)
    with contextlib.suppress(PermissionError):  # Windows keeps what is open
        file.unlink()
    fault = None
    try:
        table = Table(_unpickled(tasks.get()))
    except ValueError as error:
        fault = one_line(error)
    _reply(replies, fault)
    while True:
        block, recording = tasks.get()
        heartbeat.begin()
        outcome = table.play(block, heartbeat, recording)
        heartbeat.begin()
        _reply(replies, (outcome, recording))


def _unpickled(message: bytes) -> Setup:
    try:
        setup: Setup = pickle.loads(message)  # noqa: S301 - from the process that started this one
    except Exception as error:  # a user's class may raise anything
        raise ValueError(
            f"an agent could not be sent to another process ({type(error).__name__}: "
            f"{one_line(error)}); give it as module:factory, or play with workers=0"
        ) from error
    return setup


def _reply(replies: BinaryIO, value: Any) -> None:
    pickle.dump(value, replies)
    replies.flush()


def _read(source: BinaryIO, tasks: "queue.SimpleQueue[Any]") -> None:
    while True:
        try:
            tasks.put(pickle.load(source))  # noqa: S301 - from the process that started this one
        except EOFError:
            _exit()


def _exit() -> NoReturn:
    """Ends this process at once, and whatever agents have started in its session."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main()
