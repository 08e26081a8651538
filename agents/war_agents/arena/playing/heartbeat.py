"""What a worker process is doing just now, for the process that watches it."""

import mmap
from pathlib import Path
from struct import Struct
from typing import Final

from war_agents.arena.playing.games import Watch

_LAYOUT: Final = Struct("qqqq")
SIZE: Final = _LAYOUT.size


class Heartbeat(Watch):
    """Who is being asked just now, in memory that another process sees.

    It works while an agent keeps the interpreter to itself, and costs next to nothing.
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
