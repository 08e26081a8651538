"""A process that plays blocks, started by `war_agents.arena.playing.isolation` with `COMMAND`.

From its standard input it reads a line of JSON that says where modules are, a pickled `Setup` and
then blocks. To its standard output it writes None, or what is wrong with the setup, and then what
came of each block; what agents print goes to standard error. It ends when its input ends, so it
never outlives the tournament, whatever an agent is doing.
"""

import contextlib
import io
import os
import pickle
import queue
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NoReturn

from war_agents.arena.playing.agent_error import MAX_REASON
from war_agents.arena.playing.blocks import Lost, Seating, Setup
from war_agents.arena.playing.games import Games, Recording
from war_agents.arena.playing.heartbeat import Heartbeat
from war_envs.messages import one_line

# Where modules are is data and no environment variable: folders may have any name, and programs
# that agents start inherit the user's environment as it is. Imports of ours come before the user's.
COMMAND: Final = (
    "import json, os, sys; source = os.fdopen(os.dup(0), 'rb'); "
    "sys.path[:], path = json.loads(source.readline()); "
    "from war_agents.arena.playing.worker import main; main(source, path)"
)


def main(source: BinaryIO, path: Sequence[str]) -> None:
    """Plays until standard input ends.

    Args:
        source: the standard input.
        path: where the user's modules are.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tournament ends its workers by itself
    # Agents, and programs that they start, find nothing of this at the standard places.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # whatever they print, in any locale, and at once
            stream.reconfigure(errors="backslashreplace", line_buffering=True)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(source, tasks), daemon=True).start()
    file = Path(sys.argv[1])
    heartbeat = Heartbeat(file)
    with contextlib.suppress(PermissionError):  # Windows keeps what is open
        file.unlink()
    sys.path[:] = [*path, *(entry for entry in sys.path if entry not in path)]
    fault = None
    try:
        seating = Seating(_unpickled(tasks.get()))
    except ValueError as error:  # it names the agent
        fault = one_line(error)
    except BaseException as error:  # noqa: BLE001 - a user's class may raise anything
        fault = _told(error)
    _reply(replies, fault)
    while True:
        block, recording = tasks.get()
        heartbeat.begin()
        answer: tuple[Games, Recording | None] | Lost
        try:
            answer = (seating.play(block, heartbeat, recording), recording)
        except BaseException as error:  # noqa: BLE001 - an agent may raise even KeyboardInterrupt
            # Told at once: an interpreter that ends by itself may take long where much is going on.
            answer = Lost(heartbeat.read()[1], f"failed: {_told(error)}"[:MAX_REASON])
        heartbeat.begin()
        _reply(replies, answer)


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {one_line(error)}"


def _unpickled(message: bytes) -> Setup:
    try:
        setup: Setup = pickle.loads(message)  # noqa: S301 - from the process that started this one
    except BaseException as error:  # a user's class may raise anything
        raise ValueError(
            f"an agent could not be sent to another process ({_told(error)}); "
            "give it as module:factory, or play with workers=0"
        ) from error
    return setup


def _reply(replies: BinaryIO, value: Any) -> None:
    try:
        pickle.dump(value, replies)
        replies.flush()
    except OSError:  # nobody listens any more
        _exit()


def _read(source: BinaryIO, tasks: "queue.SimpleQueue[Any]") -> None:
    while True:
        try:
            tasks.put(pickle.load(source))  # noqa: S301 - from the process that started this one
        except (EOFError, OSError, pickle.UnpicklingError):  # it has ended, or been killed
            _exit()


def _exit() -> NoReturn:
    """Ends this process at once, and whatever agents have started in its session."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
