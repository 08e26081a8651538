"""What both games' infos say, in numbers that any tensor library takes."""

from enum import IntEnum


class Ending(IntEnum):
    """How a game stands: the entry ``ending`` of an info."""

    RUNNING = 0
    WON = 1
    TIE = 2
    TRUNCATED = 3
    ILLEGAL = 4
