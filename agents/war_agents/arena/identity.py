"""Who an agent is: a SHA-256 of its code and its attributes, equal in every process.

An agent is taken apart as pickle would, but nothing of where or when it is comes in: no address, no
order of a set or a dict, no file name or line. Code of other modules counts by its name; functions
and classes of the script that runs, and those that have no place in a module, count by what they
do: their byte code, their closures, and the globals that they use.
"""

import copyreg
import dis
import functools
import hashlib
import inspect
import struct
import sys
from collections.abc import Callable, Iterable
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, Final

import numpy as np

SCRIPTS: Final = ("__main__", "__mp_main__")
_OWN_PACKAGE: Final = __name__.partition(".")[0]
_OPAQUE: Final = (BuiltinFunctionType, GetSetDescriptorType, MemberDescriptorType)
# What makes, compares and shows an object; what came of the first is in its attributes.
_UNPLAYED: Final = ("__init__", "__repr__", "__eq__", "__hash__", "__replace__")


class UnidentifiedError(ValueError):
    """Something has no identity; the message says what kind of thing."""


def identity(value: Any) -> bytes:
    """The SHA-256 of ``value``, 32 bytes.

    Raises:
        UnidentifiedError: it holds what cannot be told from another of its kind, such as a lock or
            an open file.
    """
    try:
        return _Identity().of_all(value)
    except UnidentifiedError:
        raise
    except RecursionError:
        raise UnidentifiedError("structure that is nested too deeply") from None
    except Exception as error:  # a user's class may raise anything
        raise UnidentifiedError(f"part that raises {type(error).__name__}") from error


class _Identity:
    """One walk through all that a value holds."""

    def __init__(self) -> None:
        self._within: list[int] = []  # what is being taken apart, by id, the outermost first
        self._found: dict[int, Any] = {}  # code to look into, by id
        self._waiting: list[Any] = []

    def of_all(self, value: Any) -> bytes:
        """Of a value, and of all code that it leads to."""
        whole = self.of(value)
        parts = []
        while self._waiting:
            code = self._waiting.pop()
            parts.append(self._of_class(code) if isinstance(code, type) else self._of_calls(code))
        return _digest("all", whole, *sorted(parts))

    def of(self, value: Any) -> bytes:
        """Of a value; code in it counts by its name and its own byte code alone."""
        if value is None or type(value) in (bool, int, str, bytes, type(...), type(NotImplemented)):
            return _digest(type(value).__name__, repr(value))
        if type(value) is float:
            return _digest("float", struct.pack("<d", value))
        if id(value) in self._within:
            return _digest("within", str(len(self._within) - self._within.index(id(value))))
        self._within.append(id(value))
        try:
            return self._of_parts(value)
        finally:
            self._within.pop()

    def _of_parts(self, value: Any) -> bytes:
        kind = type(value)
        if kind in (list, tuple):
            return _digest(kind.__name__, *map(self.of, value))
        if kind is dict:
            return self._of_dict(value)
        if kind in (set, frozenset):
            return _digest(kind.__name__, *sorted(map(self.of, value)))
        if kind is np.ndarray and not value.dtype.hasobject:
            descr = value.dtype.descr if value.dtype.names else value.dtype.str
            return _digest("array", repr(descr), repr(value.shape), value.tobytes())
        if kind.__module__ == "torch" and hasattr(value, "untyped_storage"):
            return self._of_tensor(value)
        if isinstance(value, ModuleType):
            return _digest("module", value.__name__)
        if isinstance(value, type | FunctionType):
            return self._of_code(value)
        if isinstance(value, MethodType):
            return _digest("method", self.of(value.__func__), self.of(value.__self__))
        if isinstance(value, CellType):
            return _digest("cell", *map(self.of, _contents(value)))
        if isinstance(value, staticmethod | classmethod):
            return _digest(kind.__name__, self.of(value.__func__))
        if isinstance(value, property):
            return _digest("property", *map(self.of, (value.fget, value.fset, value.fdel)))
        if isinstance(value, functools.cached_property):
            return _digest("cached_property", self.of(value.func))
        if isinstance(getattr(value, "__wrapped__", None), FunctionType):  # compiled, or cached
            return _digest("wrapped", self.of(kind), self.of(value.__wrapped__))
        return self._of_object(value)

    def _of_dict(self, value: dict[Any, Any]) -> bytes:
        return _digest("dict", *sorted(self.of(key) + self.of(item) for key, item in value.items()))

    def _of_tensor(self, value: Any) -> bytes:
        import torch  # which is loaded, as there is a tensor

        data = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        return _digest("tensor", str(value.dtype), repr(tuple(value.shape)), data.numpy().tobytes())

    def _of_object(self, value: Any) -> bytes:
        """Of what pickle would take apart: how it is made, from what, and its attributes."""
        kind = type(value)
        reduce: Callable[[Any], Any] | None = copyreg.dispatch_table.get(kind)
        try:
            reduced = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as error:  # as pickle says: this kind cannot be taken apart
            raise UnidentifiedError(f"{kind.__module__}.{kind.__qualname__}") from error
        if isinstance(reduced, str):
            return _digest("global", str(getattr(value, "__module__", "")), reduced)
        made_by, made_from, state, items, pairs = (*reduced, None, None, None)[:5]
        if kind.__module__.partition(".")[0] == _OWN_PACKAGE and isinstance(state, dict):
            # How fast it plays, not what.
            state = {name: part for name, part in state.items() if name != "threads"}
        return _digest(
            "object",
            self.of(made_by),
            self.of(made_from),
            self.of(state),
            *map(self.of, items or ()),
            self._of_dict(dict(pairs or ())),
        )

    def _of_code(self, value: Any) -> bytes:
        """Of a class or function: by its name; what stands in no module is looked into later."""
        name = value.__qualname__
        if _is_found(value):
            return _digest("name", value.__module__, name)
        if id(value) not in self._found:
            self._found[id(value)] = value
            self._waiting.append(value)
        if isinstance(value, type):
            return _digest("class", name, *sorted(vars(value)))
        return _digest("function", name, self._of_bytecode(value.__code__))

    def _of_bytecode(self, code: CodeType) -> bytes:
        constants = (
            self._of_bytecode(each) if isinstance(each, CodeType) else self.of(each)
            for each in code.co_consts
        )
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        return _digest(
            "code", repr((names, counts)), code.co_code, code.co_exceptiontable, *constants
        )

    def _of_calls(self, function: FunctionType) -> bytes:
        """Of a function with all that it uses."""
        used = {
            name: function.__globals__[name]
            for name in sorted(_global_names(function.__code__))
            if name in function.__globals__
        }
        return _digest(
            "calls",
            self.of(function),
            *map(self.of, (function.__defaults__, function.__kwdefaults__, function.__closure__)),
            self.of(used),
        )

    def _of_class(self, value: type) -> bytes:
        """Of a class with all of its own that plays a part."""
        parts = {
            name: part
            for name, part in vars(value).items()
            if name not in _UNPLAYED
            and not name.startswith("_abc_")
            and not isinstance(part, _OPAQUE)
            and (isinstance(part, FunctionType) or not _is_dunder(name))
        }
        return _digest("members", self.of(value), self.of(value.__bases__), self.of(parts))


def _digest(kind: str, *parts: bytes | str) -> bytes:
    """Of ``parts`` in their order; no other parts give the same."""
    whole = hashlib.sha256(kind.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        whole.update(struct.pack("<q", len(data)) + data)
    return whole.digest()


def _contents(cell: CellType) -> Iterable[Any]:
    try:
        return (cell.cell_contents,)
    except ValueError:  # it is empty
        return ()


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_found(code: Any) -> bool:
    """Is it found by its name in a module other than the script that runs?"""
    module = sys.modules.get(str(code.__module__))
    if module is None or code.__module__ in SCRIPTS:
        return False
    try:
        return inspect.getattr_static(_owner(module, code), code.__name__) is code
    except AttributeError:
        return False


def _owner(module: ModuleType, code: Any) -> Any:
    """The module or class that a class or function stands in."""
    owner: Any = module
    for name in code.__qualname__.split(".")[:-1]:
        owner = getattr(owner, name)
    return owner


def _global_names(code: CodeType) -> set[str]:
    """The globals that a function uses, and the functions in it."""
    names = {each.argval for each in dis.get_instructions(code) if "GLOBAL" in each.opname}
    names |= {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_NAME"}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            names |= _global_names(each)
    return names
