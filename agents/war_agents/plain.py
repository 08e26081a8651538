"""What an agent remembers, as JSON: None, text, numbers, arrays of numbers, and nests of these."""

import base64
import math
from typing import Any, Final

import numpy as np

from war_envs.messages import shown

_KINDS: Final = "biufc"  # of arrays: truth values and numbers
_DEPTH: Final = 50  # of nests


def encoded(value: object, depth: int = _DEPTH) -> Any:
    """``value`` as JSON, of which `decoded` makes an equal one; ``depth`` nests are allowed.

    Raises:
        ValueError: it holds anything else; the message says what.
    """
    if value is None or type(value) in (bool, int, float, str):
        return value
    if depth == 0:
        raise ValueError(f"a nest deeper than {_DEPTH}")
    parts: Any = value
    if type(value) in (tuple, list):
        return [type(value).__name__, *(encoded(part, depth - 1) for part in parts)]
    if type(value) is dict and all(type(key) is str for key in parts):
        return ["dict", {key: encoded(part, depth - 1) for key, part in parts.items()}]
    name = "number" if isinstance(value, np.generic) else "array"
    if (name == "number" or type(value) is np.ndarray) and parts.dtype.kind in _KINDS:
        data = base64.b64encode(parts.tobytes()).decode()
        return [name, parts.dtype.str, list(parts.shape), data]
    raise ValueError(f"a {type(value).__name__}: {shown(value)}")


def decoded(content: object, depth: int = _DEPTH) -> Any:
    """What `encoded` has made ``content`` of.

    Raises:
        ValueError: it has made no such thing.
    """
    if content is None or type(content) in (bool, int, float, str):
        return content
    if depth > 0:
        match content:
            case ["tuple", *parts]:
                return tuple(decoded(part, depth - 1) for part in parts)
            case ["list", *parts]:
                return [decoded(part, depth - 1) for part in parts]
            case ["dict", dict(entries)]:
                return {key: decoded(part, depth - 1) for key, part in entries.items()}
            case ["array", str(dtype), list(shape), str(data)]:
                return _array(dtype, shape, data)
            case ["number", str(dtype), [], str(data)]:
                return _array(dtype, [], data)[()]
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
