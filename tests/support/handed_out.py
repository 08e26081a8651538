"""What environments hand out: it must be new each time, stay as it was, and be the caller's."""

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LATELY = 60  # of what came before, this many arrays are looked at for shared memory


def _parts(value: Any) -> Iterator[Any]:
    """The arrays, dicts and lists in ``value``, at any depth."""
    if isinstance(value, dict | list | tuple):
        if not isinstance(value, tuple):
            yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _parts(part)
    elif isinstance(value, np.ndarray):
        yield value
        if value.dtype == object:
            for part in value.tolist():
                yield from _parts(part)


class HandedOut:
    """Keeps all that it is given, with copies made at once."""

    def __init__(self) -> None:
        self._arrays: list[tuple[NDArray[Any], NDArray[Any]]] = []
        self._others: list[dict[Any, Any] | list[Any]] = []
        self._ids: set[int] = set()

    def take(self, value: Any) -> list[Any]:
        """Keeps the parts of ``value``, none of which may have been there before."""
        parts = list(_parts(value))
        lately = [array for array, _ in self._arrays[-_LATELY:]]
        for part in parts:
            assert id(part) not in self._ids, "an object was handed out twice"
            self._ids.add(id(part))
            if isinstance(part, np.ndarray):
                assert not any(np.shares_memory(part, old) for old in lately if part.size)
                self._arrays.append((part, part.copy()))
            else:
                self._others.append(part)
        return parts

    def spoil(self, parts: list[Any]) -> None:
        """Writes garbage wherever the caller can."""
        for part in parts:
            if isinstance(part, np.ndarray):
                part[...] = None if part.dtype == object else 1
            else:
                part.clear()
        spoilt = {id(part) for part in parts}
        self._arrays = [(a, a.copy() if id(a) in spoilt else copy) for a, copy in self._arrays]

    def check(self) -> None:
        """Everything must still be as it was handed out, or as the caller has left it."""
        for array, copy in self._arrays:
            if array.dtype == object:  # its arrays are kept for themselves
                assert all(map(operator.is_, array.tolist(), copy.tolist()))
            else:
                np.testing.assert_array_equal(array, copy)


def assert_same(one: Any, other: Any) -> None:
    """Both hold the same, at any depth."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list | tuple):
        for ours, theirs in zip(one, other, strict=True):
            assert_same(ours, theirs)
    elif isinstance(one, np.ndarray) and one.dtype == object:
        assert_same(one.tolist(), other.tolist())
    else:
        np.testing.assert_array_equal(one, other, strict=True)
