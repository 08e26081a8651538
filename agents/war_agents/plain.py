"""What an agent remembers, as JSON: None, arrays of numbers, and tuples of these."""

import base64
import math
from typing import Any, Final

import numpy as np

from war_envs.messages import shown

_KINDS: Final = "biufc"  # of arrays: truth values and numbers
_DEPTH: Final = 50  # of tuples in tuples


def encoded(value: object, depth: int = _DEPTH) -> Any:
    """``value`` as JSON, of which `decoded` makes an equal one; ``depth`` nests are allowed.

    Raises:
        ValueError: it holds anything else; the message says what.
    """
    if value is None:
        return None
    if depth == 0:
        raise ValueError(f"tuples nested deeper than {_DEPTH}")
    if type(value) is tuple:
        return ["tuple", *(encoded(part, depth - 1) for part in value)]
    if type(value) is np.ndarray and value.dtype.kind in _KINDS:
        data = base64.b64encode(value.tobytes()).decode()
        return ["array", value.dtype.str, list(value.shape), data]
    raise ValueError(f"a {type(value).__name__}: {shown(value)}")


def decoded(content: object, depth: int = _DEPTH) -> Any:
    """What `encoded` has made ``content`` of.

    Raises:
        ValueError: it has made no such thing.
    """
    if content is None:
        return None
    if depth > 0:
        match content:
            case ["tuple", *parts]:
                return tuple(decoded(part, depth - 1) for part in parts)
            case ["array", str(dtype), list(shape), str(data)]:
                return _array(dtype, shape, data)
    raise ValueError(f"{shown(content)} is no plain data")


def _array(dtype: str, shape: list[Any], data: str) -> Any:
    try:
        kind, content = np.dtype(dtype), base64.b64decode(data, validate=True)
        fits = kind.kind in _KINDS and all(type(size) is int and size >= 0 for size in shape)
        if fits and len(content) == kind.itemsize * math.prod(shape):
            return np.frombuffer(content, kind).reshape(shape).copy()
    except (TypeError, ValueError, SyntaxError):  # NumPy parses dtypes, and base64 data
        pass
    raise ValueError(f"an array of dtype {shown(dtype)} and shape {shown(shape)} does not fit")
