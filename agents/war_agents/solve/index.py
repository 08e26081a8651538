"""Numbers for positions: a hash table from keys to the order in which they were found."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_envs.engine.jit import kernel

_FIRST_ROOM: Final = 1 << 12
_FULL: Final = 0.5  # of the slots; beyond it the table grows


class Index:
    """The positions found so far, by 128-bit fingerprints of their keys.

    Two of a billion keys have the same fingerprint with a probability below 2e-21.

    Attributes:
        count: how many there are.
        slots: i4 (capacity,), the number of a position or -1; capacity is a power of 2.
        prints: u8 (room, 2), their fingerprints, by number.
    """

    def __init__(self) -> None:
        self.count = 0
        self.slots: NDArray[np.int32] = np.full(2 * _FIRST_ROOM, -1, np.int32)
        self.prints: NDArray[np.uint64] = np.zeros((_FIRST_ROOM, 2), np.uint64)

    def make_room(self, number: int) -> None:
        """Room for ``number`` more positions, so that a kernel can add them."""
        wanted = self.count + number
        if wanted > len(self.prints):
            prints = np.zeros((max(wanted, 2 * len(self.prints)), 2), np.uint64)
            prints[: self.count] = self.prints[: self.count]
            self.prints = prints
        capacity = len(self.slots)
        while wanted > _FULL * capacity:
            capacity *= 2
        if capacity > len(self.slots):
            self.slots = np.full(capacity, -1, np.int32)
            _refill(self.slots, self.prints, self.count)


@kernel
def fingerprint(key: Any, length: Any) -> tuple[Any, Any]:
    """128 bits of the first ``length`` bytes of ``key`` (u1): two hashes of 64 bits.

    Each is FNV-1a with an offset of its own, finished as MurmurHash3 finishes.
    """
    first, second = np.uint64(0xCBF29CE484222325), np.uint64(0x9AE16A3B2F90404F)
    for k in range(length):
        byte = np.uint64(key[k])
        first = (first ^ byte) * np.uint64(0x100000001B3)
        second = (second ^ (byte + np.uint64(0x9E))) * np.uint64(0xC6A4A7935BD1E995)
        second ^= second >> np.uint64(29)
    return _finished(first ^ np.uint64(length)), _finished(second)


@kernel
def _finished(h: Any) -> Any:
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xFF51AFD7ED558CCD)
    h ^= h >> np.uint64(33)
    h *= np.uint64(0xC4CEB9FE1A85EC53)
    return h ^ (h >> np.uint64(33))


@kernel
def number_of(slots: Any, prints: Any, count: Any, first: Any, second: Any) -> Any:
    """The number of a fingerprint; ``count`` if it is new, which is then noted."""
    mask = np.uint64(slots.shape[0] - 1)
    at = first & mask
    while True:
        found = np.int64(slots[at])
        if found < 0:
            slots[at] = count
            prints[count, 0] = first
            prints[count, 1] = second
            return count
        if prints[found, 0] == first and prints[found, 1] == second:
            return found
        at = (at + np.uint64(1)) & mask


@kernel
def _refill(slots: Any, prints: Any, count: Any) -> None:
    mask = np.uint64(slots.shape[0] - 1)
    for number in range(count):
        at = prints[number, 0] & mask
        while slots[at] >= 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = number
