"""Uniform random legal choices, from numbers sampled beforehand."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_POOL: Final = 61  # tables of samples, used in turn: no multiple of any period in a game


class Choices:
    """Uniform choices for whole arrays of masks.

    Args:
        shape: of the masks, (..., A).
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        generator = np.random.default_rng(1)
        draws = [generator.random(shape, np.float32) + np.float32(1) for _ in range(_POOL)]
        self._draws = itertools.cycle(draws)

    def __call__(self, mask: NDArray[Any]) -> NDArray[np.int64]:
        """A legal action for each mask: int64 (...,)."""
        actions: NDArray[np.int64] = np.argmax(next(self._draws) * mask, axis=-1)
        return actions


class Chooser:
    """Uniform choices for one mask after the other, as cheap as Python allows."""

    def __init__(self) -> None:
        draws = np.random.default_rng(1).integers(0, 12, 100_003)  # 12: fair for 1 to 4 actions
        self._draws: Iterator[int] = itertools.cycle(draws.tolist())
        self._legal: dict[bytes, list[int]] = {}

    def __call__(self, mask: NDArray[Any]) -> int:
        """A legal action."""
        key = mask.tobytes()
        legal = self._legal.get(key)
        if legal is None:
            legal = self._legal[key] = np.flatnonzero(mask).tolist()
        action: int = legal[next(self._draws) % len(legal)]
        return action
