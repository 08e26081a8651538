"""Arrays from others, checked: of any library that NumPy can read, but of the dtype and shape asked
for. Nothing is broadcast or rounded, so that a mistake does not turn into other numbers.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_envs.messages import one_line, shown
from war_envs.variant import INTEGERS, index_of

Shape = tuple[int | None, ...]


def checked_array(
    name: str, value: object, what: object, fits: Callable[[np.dtype[Any]], bool], *shapes: Shape
) -> NDArray[Any]:
    """``value`` as an array, of the caller's memory where that is possible.

    Args:
        name: the argument, for messages.
        value: an array of any library that NumPy can read, or a list.
        what: it must be, for messages: ``"integers"``.
        fits: is a dtype such? Not asked for a list without entries, which has none.
        shapes: it must have one of; None stands for any length.

    Raises:
        ValueError: it is no array of such a dtype and shape.
    """
    try:
        array = np.asarray(value)
    except Exception as error:  # whatever NumPy or another library raises
        raise ValueError(
            f"{name}={shown(value)} is not allowed; {_wanted(what, shapes)}: {one_line(error)}"
        ) from error
    typed = fits(array.dtype) or (not array.size and isinstance(value, list | tuple))
    if typed and _has_shape(array, shapes):
        return array
    if array.dtype == object and not array.shape:
        raise ValueError(f"{name} is a {type(value).__name__}; {_wanted(what, shapes)}")
    raise ValueError(
        f"{name} has dtype {array.dtype} and shape {array.shape}; {_wanted(what, shapes)}"
    )


def integer_array(name: str, value: object, *shapes: Shape) -> NDArray[Any]:
    """``value`` as an array of an integer dtype, of one of ``shapes``; None stands for any length.

    Bools and floats are refused, whatever library they are of; None, text and objects too.

    Raises:
        ValueError: it is no such array.
    """
    array = checked_array(name, value, "integers", lambda dtype: dtype.kind in "iu", *shapes)
    if isinstance(value, list | tuple) and not _all_integers(np.asarray(value, object)):
        raise ValueError(f"{name} holds bools among its numbers; {_wanted('integers', shapes)}")
    return array


def _wanted(what: object, shapes: tuple[Shape, ...]) -> str:
    return f"it must be {what} " + " or ".join(str(s).replace("None", "K") for s in shapes)


def _has_shape(array: NDArray[Any], shapes: tuple[Shape, ...]) -> bool:
    own = array.shape
    for shape in shapes:
        if len(shape) == len(own) and shape == tuple(
            [None if wanted is None else length for wanted, length in zip(shape, own, strict=True)]
        ):
            return True
    return False


def _all_integers(entries: NDArray[np.object_]) -> bool:
    """NumPy makes integers of a list that has some bools."""
    return set(map(type, entries.flat)) <= INTEGERS or all(
        index_of(entry) is not None for entry in entries.flat
    )
