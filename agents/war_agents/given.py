"""Checks of the arrays that agents are given, the same for all agents of this package.

Arrays of any library that NumPy can read are accepted, in any memory layout. Their dtypes and
shapes must be right: nothing is converted or broadcast.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_envs.arrays import checked_array
from war_envs.messages import shown

_MASK: Final = np.dtype(np.int8)
_BOOL: Final = np.dtype(np.bool_)
_SEED: Final = np.dtype(np.uint64)


def checked_positions(
    agent: str,
    observation: object,
    action_mask: object,
    *,
    dtype: np.dtype[Any],
    size: int | None,
    num_actions: int,
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The checked observation and action mask of an agent.

    Args:
        agent: its name, for messages.
        observation: (B, F).
        action_mask: int8 or bool (B, A).
        dtype: what the observation must have.
        size: F; None allows any.
        num_actions: A.

    Returns:
        The observation, contiguous and writeable; and which actions are legal, bool (B, A).

    Raises:
        ValueError: an array of another dtype or shape, or a row without a legal action.
    """
    whose = f" of agent {agent!r}"
    seen = checked_array("observation" + whose, observation, dtype, dtype.__eq__, (None, size))
    shape = (len(seen), num_actions)
    mask = checked_array("action_mask" + whose, action_mask, "int8 or bool", _is_mask, shape)
    # Kernels are compiled for arrays of one layout, and torch refuses some; copies have that one.
    return np.require(seen, requirements=["C", "W"]), checked_mask(mask)


def checked_seeds(
    agent: str, number: int, seeds: object, state: object, starts: object
) -> NDArray[np.uint64]:
    """The seeds of ``number`` positions; ``state`` and ``starts`` are checked too.

    Args:
        agent: the agent's name, for messages.
        number: B.
        seeds: uint64 (B,).
        state: None, an array whose first axis is the games, or a tuple of states.
        starts: bool (B,), or None.

    Raises:
        ValueError: one of them has another type, dtype or shape.
    """
    whose = f" of agent {agent!r}"
    if starts is not None:
        checked_array("starts" + whose, starts, _BOOL, _BOOL.__eq__, (number,))
    if not _is_state(state, number):
        raise ValueError(
            f"state{whose} is {shown(state)}; "
            f"it must be None, an array of {number} games, or a tuple of such"
        )
    return checked_array("seeds" + whose, seeds, _SEED, _SEED.__eq__, (number,))


def checked_mask(action_mask: NDArray[Any]) -> NDArray[np.bool_]:
    """``action_mask`` as bool.

    Raises:
        ValueError: a row without a legal action.
    """
    legal = np.asarray(action_mask).astype(bool)
    empty = np.flatnonzero(~legal.any(axis=-1))
    if len(empty):
        raise ValueError(f"action_mask: row {empty[0]} has no legal action")
    return legal


def _is_mask(dtype: np.dtype[Any]) -> bool:
    return dtype in (_MASK, _BOOL)


def _is_state(state: object, number: int) -> bool:
    if isinstance(state, tuple):
        return all(_is_state(part, number) for part in state)
    return state is None or tuple(getattr(state, "shape", ()))[:1] == (number,)
