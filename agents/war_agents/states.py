"""What an agent remembers from one choice to the next in each of many games."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class States:
    """Holds the state of an agent that may be asked about other games each time.

    A state is None, an array whose first axis is the games, or a tuple of states (a named one too).
    So the part of any of the games can be taken out and put back. All callers of agents with a
    state keep it here, those of a single game too, so that an agent plays the same everywhere.

    Args:
        num_games: how many.
    """

    def __init__(self, num_games: int) -> None:
        self._num_games = num_games
        self._state: Any = None
        self._begun = np.zeros(num_games, np.bool_)

    def recall(self, rows: NDArray[np.int64]) -> tuple[Any, NDArray[np.bool_] | None]:
        """``state`` and ``starts`` for the agent's next choice in the games ``rows`` (K,).

        The state is the agent's own, in copies. Of games that start it is zeros.
        """
        begun = self._begun[rows]
        if not begun.any():
            return None, None
        return _map(lambda array: _own(array[rows]), self._state), ~begun

    def keep(self, rows: NDArray[np.int64], state: Any) -> None:
        """Keeps what the agent returned for the games ``rows`` (K,), in copies.

        None means that it remembers nothing of them.

        Raises:
            ValueError: it is no state of K games, or is made up otherwise than before; nothing has
                been kept then.
        """
        if state is not None:
            _check(state, len(rows))
            if self._state is None:
                self._state = _map(self._room_for, state)
            elif _described(state) != _described(self._state):
                raise ValueError(
                    f"state is {_described(state)}, and was {_described(self._state)} before; its "
                    "parts, their dtypes and their shapes but for the games must stay the same"
                )
            _put(self._state, rows, state)
        elif self._state is not None:
            _map(lambda array: array.__setitem__(rows, np.zeros(1, array.dtype)), self._state)
        self._begun[rows] = state is not None

    def _room_for(self, array: NDArray[Any]) -> NDArray[Any]:
        return np.zeros((self._num_games, *array.shape[1:]), array.dtype)


def _own(array: NDArray[Any]) -> NDArray[Any]:
    """``array`` with objects of its own too."""
    return copy.deepcopy(array) if array.dtype.hasobject else array


def _map(function: Callable[[NDArray[Any]], Any], state: Any) -> Any:
    if isinstance(state, tuple):
        parts = [_map(function, part) for part in state]
        return type(state)._make(parts) if hasattr(state, "_make") else tuple(parts)
    return function(state)


def _check(state: Any, number: int) -> None:
    if isinstance(state, tuple):
        for part in state:
            _check(part, number)
    elif type(state) is not np.ndarray or state.shape[:1] != (number,):
        plain = type(state) is np.ndarray
        what = f"an array of shape {state.shape}" if plain else f"a {type(state).__name__}"
        raise ValueError(
            f"state holds {what}; it must be None, an array with {number} games on its first axis, "
            "or a tuple of such"
        )


def _described(state: Any) -> str:
    """What states of other games must have in common."""
    if isinstance(state, tuple):
        name = type(state).__name__ if hasattr(state, "_make") else ""
        return f"{name}({', '.join(map(_described, state))})"
    return f"{state.dtype}{list(state.shape[1:])}"


def _put(store: Any, rows: NDArray[np.int64], state: Any) -> None:
    if isinstance(store, tuple):
        for old, new in zip(store, state, strict=True):
            _put(old, rows, new)
    else:
        store[rows] = _own(state)
