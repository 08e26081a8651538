"""What both games' infos say, in numbers that any tensor library takes."""

from enum import IntEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

MASK: Final = "action_mask"


class Ending(IntEnum):
    """How a game stands: the entry ``ending`` of an info."""

    RUNNING = 0
    WON = 1
    TIE = 2
    TRUNCATED = 3
    ILLEGAL = 4


class Info(dict[str, Any]):
    """The entries of an info, and an ``action_mask`` that is looked up but not listed.

    ``info["action_mask"]``, ``info.get("action_mask")`` and ``"action_mask" in info`` find it.
    Loops over an info do not: libraries that make a tensor of each entry have it from the
    observation already, and TorchRL fails on a mask that is listed in both. ``dict(info)`` is the
    entries alone.

    One is made at every `last`, so there is no ``__init__`` of its own: whoever makes one sets
    ``legal`` and ``num_actions``.

    Attributes:
        legal: which actions are legal, the first in the lowest bit.
        num_actions: how many there are.
    """

    __slots__ = ("legal", "num_actions")

    legal: int
    num_actions: int

    def __missing__(self, key: str) -> NDArray[np.int8]:
        if key != MASK:
            raise KeyError(key)
        return np.array([self.legal >> a & 1 for a in range(self.num_actions)], np.int8)

    def __contains__(self, key: object) -> bool:
        return key == MASK or super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The entry of a name, or ``default``."""
        try:
            return self[key]
        except KeyError:
            return default

    def __reduce__(self) -> tuple[Any, ...]:
        slots = {"legal": self.legal, "num_actions": self.num_actions}
        return type(self), (dict(self),), (None, slots)
