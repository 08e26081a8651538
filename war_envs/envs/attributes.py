"""Attributes that PettingZoo's loops and wrappers read, write to and assign."""

import copy
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class Book(Generic[T]):
    """An attribute that is made from the game when it is read, and kept until the game moves on.

    What is written into it is lost then, and never reaches the game. What is assigned in its place
    is given back as it is.

    The environment has ``_shown``, what has been made or assigned, by name, ``_assigned``, the
    names of what was assigned, and ``has_reset``: before it there is no book.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, env: None, owner: type) -> "Book[T]": ...

    @overload
    def __get__(self, env: object, owner: type) -> T: ...

    def __get__(self, env: Any, owner: type) -> "T | Book[T]":
        if env is None:
            return self
        shown = env._shown
        if self._name not in shown:
            if not env.has_reset:
                raise AttributeError(self._name)
            shown[self._name] = self._make(env)
        value: T = shown[self._name]
        return value

    def __set__(self, env: Any, value: T) -> None:
        env._shown[self._name] = value
        env._assigned.add(self._name)


class Copied(Generic[T]):
    """An attribute that hands out copies: writing into one changes nothing. It may be assigned.

    Args:
        value: what it is where nothing has been assigned.
        copier: how deep a copy is.
    """

    def __init__(self, value: T, copier: Callable[[T], T] = copy.copy) -> None:
        self._value = value
        self._copier = copier

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, env: Any, owner: type) -> T:
        return self._copier(self._value if env is None else vars(env).get(self._name, self._value))

    def __set__(self, env: Any, value: T) -> None:
        vars(env)[self._name] = self._copier(value)
