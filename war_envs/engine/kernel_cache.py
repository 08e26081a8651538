"""Compiled kernels on disk: Numba's own cache with files that cannot mislead.

Numba keeps an index beside the code, and both hold what whoever wrote last put there: a file that
is cut short or garbled fails every later process, and two processes with different sources can
leave an index that names the other's code. Here each kernel and signature has one file, written in
one step, which says what it was compiled from and has a checksum over all of it. A file that is not
right, or cannot be written, costs a compilation.

The code is pickled, as Numba does it, and the checksum is no signature: whoever can write to the
folder can run code as its users, as with Python's own ``__pycache__``.
"""

import hashlib
import os
import pickle
import secrets
from functools import cache
from pathlib import Path
from typing import Any, Final

import llvmlite  # type: ignore[import-untyped]
import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from war_envs.messages import notice, one_line

_ROOT: Final = Path(__file__).parents[1]
_WITHOUT_KERNELS: Final = frozenset({"envs", "rendering", "testing"})  # of the folders there
_MAGIC: Final = b"war-envs kernel 1\n"
_DIGEST_BYTES: Final = hashlib.sha256().digest_size
_said: set[str] = set()


class KernelCache(FunctionCache):
    """What Numba asks for a kernel's code, and gives it to keep; it never fails.

    Args:
        function: the kernel.

    Raises:
        RuntimeError: there is no folder to write to.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        stamp = hashlib.sha256(_versions())
        stamp.update(_contents(_ROOT))
        stamp.update(_contents(Path(function.__code__.co_filename).parent))
        folder = Path(self._cache_path)
        files = _KernelFiles(folder, self._impl.filename_base, stamp.digest())
        self._cache_file = files  # type: ignore[assignment]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for a signature, or None."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # noqa: BLE001 - whatever reading a bad file may raise
            _say_once("a compiled kernel cannot be used and is compiled anew", error)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keeps the code for a signature, if that is possible."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except Exception as error:  # noqa: BLE001 - the kernel is there, kept or not
            _say_once("kernels cannot be kept, so every process compiles them", error)


class _KernelFiles:
    """The files of one kernel, one per signature.

    A file is `_MAGIC`, the SHA-256 of all that follows, the stamp of what it was compiled from, and
    a pickle of whose code it is and the code.
    """

    def __init__(self, folder: Path, base: str, stamp: bytes) -> None:
        self._folder = folder
        self._base = base
        self._stamp = stamp

    def _path(self, key: object) -> Path:
        return (
            self._folder / f"{self._base}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        )

    def load(self, key: object) -> Any:
        """The code for ``key``; None if there is none, or it was compiled from something else.

        Raises:
            ValueError, OSError: the file is damaged, or cannot be read.
        """
        path = self._path(key)
        if not path.exists():
            return None
        if not path.is_file():  # reading a pipe would never end
            raise ValueError(f"{path} is no plain file")
        content = path.read_bytes()
        start = len(_MAGIC) + _DIGEST_BYTES
        body = content[start:]
        if content[:start] != _MAGIC + hashlib.sha256(body).digest():
            raise ValueError(f"{path} is damaged")
        if not body.startswith(self._stamp):
            return None
        known, code = pickle.loads(body[len(self._stamp) :])  # noqa: S301 - see above
        return code if known == (self._base, key) else None

    def save(self, key: object, code: object) -> None:
        """Keeps the code for ``key``, in place of what was there.

        Raises:
            OSError: it cannot be written; what was there still is.
        """
        body = self._stamp + dumps(((self._base, key), code))  # type: ignore[no-untyped-call]
        path = self._path(key)
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.tmp")
        try:
            draft.write_bytes(_MAGIC + hashlib.sha256(body).digest() + body)
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)

    def flush(self) -> None:
        """Forgets all signatures."""
        for path in self._folder.glob(f"{self._base}.*.nbc"):
            path.unlink(missing_ok=True)


def _versions() -> bytes:
    """What compiles: the index key of Numba tells processors apart, but no versions."""
    return f"{numba.__version__} {llvmlite.__version__}\n".encode()


@cache
def _contents(folder: Path) -> bytes:
    """What tells one state of a folder's sources from another: what is in them, not when it came.

    Copies, checkouts and reproducible builds give different files the same times and sizes. Of a
    folder in a zip file, the whole zip file.
    """
    found = hashlib.sha256()
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else folder.parents
    for file in filter(Path.is_file, files):  # an editor's lock is a link to nowhere
        name = os.path.relpath(file, folder)
        if folder == _ROOT and Path(name).parts[0] in _WITHOUT_KERNELS:
            continue
        content = file.read_bytes()
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.digest()


def _say_once(what: str, error: Exception) -> None:
    if what not in _said:
        _said.add(what)
        notice(f"war-envs: {what}: {one_line(error)}")
