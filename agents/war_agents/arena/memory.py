"""What an agent remembers from one choice to the next in each of many games."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Memory:
    """Holds the state of an agent that is asked about other games each time.

    A state is None, an array whose first axis is the games, or a tuple of states. So the part that
    belongs to any of the games can be taken out and put back.
    """

    def __init__(self, num_games: int) -> None:
        self._num_games = num_games
        self._state: Any = None
        self._begun = np.zeros(num_games, np.bool_)

    def recall(self, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.bool_] | None]:
        """``state`` and ``starts`` for the agent's next choice in the games ``rows`` (K,)."""
        if self._state is None:
            return None, None
        return _map(lambda array: array[rows], self._state), ~self._begun[rows]

    def keep(self, rows: NDArray[np.int64], state: Any) -> None:
        """Keeps what the agent returned for the games ``rows`` (K,).

        Raises:
            ValueError: it is no state of K games.
        """
        if state is None:
            self._state = None
            return
        _check(state, len(rows))
        if self._state is None:
            self._state = _map(self._room_for, state)
        _put(self._state, rows, state)
        self._begun[rows] = True

    def _room_for(self, array: NDArray[Any]) -> NDArray[Any]:
        return np.zeros((self._num_games, *array.shape[1:]), array.dtype)


def _map(function: Callable[[NDArray[Any]], NDArray[Any]], state: Any) -> Any:
    if isinstance(state, tuple):
        return tuple(_map(function, part) for part in state)
    return function(state)


def _check(state: Any, number: int) -> None:
    if isinstance(state, tuple):
        for part in state:
            _check(part, number)
    elif not isinstance(state, np.ndarray) or state.shape[:1] != (number,):
        what = f"an array of shape {state.shape}" if isinstance(state, np.ndarray) else type(state)
        raise ValueError(
            f"state holds {what}; it must be None, an array with {number} games on its first axis, "
            "or a tuple of such"
        )


def _put(store: Any, rows: NDArray[np.int64], state: Any) -> None:
    if isinstance(store, tuple):
        for old, new in zip(store, state, strict=True):
            _put(old, rows, new)
    else:
        store[rows] = state
