"""Shared memory in which a worker process says which agent it is asking, and how far it is."""

import mmap
from pathlib import Path
from struct import Struct
from typing import Final

from war_agents.arena.playing.games import Watch

_LAYOUT: Final = Struct("qqqq")
SIZE: Final = _LAYOUT.size


class Heartbeat(Watch):
    """The progress of one worker, in a memory-mapped file that its supervisor reads.

    The supervisor sees who hangs even while that agent holds the GIL, when no thread of the worker
    could answer a message.

    Args:
        file: the file, of `SIZE` bytes; both processes map it.
    """

    def __init__(self, file: Path) -> None:
        with file.open("r+b") as opened:
            self._memory = mmap.mmap(opened.fileno(), SIZE)
        self._asked = self._ended = 0

    def asking(self, side: int, positions: int) -> None:
        """See `Watch`."""
        self._asked += 1
        _LAYOUT.pack_into(self._memory, 0, self._asked, side, positions, self._ended)

    def answered(self) -> None:
        """See `Watch`."""
        _LAYOUT.pack_into(self._memory, 0, self._asked, -1, 0, self._ended)

    def ended(self, games: int) -> None:
        """See `Watch`."""
        self._ended += games

    def begin(self) -> None:
        """A new block: nobody is asked, no game has ended."""
        self._ended = 0
        self.answered()

    def read(self) -> tuple[int, int, int, int]:
        """How often agents were asked, which side is asked now or -1, positions, games ended."""
        asked, side, positions, ended = _LAYOUT.unpack_from(self._memory)
        return asked, side, positions, ended
