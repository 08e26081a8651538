"""safetensors files, which may come from anywhere, by safetensors' own reader."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from war_agents.files import open_plain
from war_envs.messages import one_line

MAX_HEADER_BYTES: Final = 16 * 2**20
MAX_TOLD: Final = 200  # characters of what safetensors says, which quotes the file
_LENGTH_BYTES: Final = 8  # before the header: its length, little-endian
_MAX_SIDES: Final = 8


@dataclass(frozen=True)
class Tensors:
    """A summary of a safetensors file.

    Attributes:
        parameters: numbers in all its tensors; None without safetensors, which base installs lack.
        file_bytes: the size of the file.
    """

    parameters: int | None
    file_bytes: int


@contextmanager
def opened_tensors(file: Path, *, linked: bool = False) -> Iterator[Any]:
    """A safetensors file as `safetensors.safe_open` has it, for NumPy; no tensor has been read.

    Args:
        file: the file.
        linked: may it be a link? See `war_agents.files.open_plain`.

    Raises:
        ValueError: it is missing, no plain file, or no whole safetensors file; the message does not
            name it.
        ModuleNotFoundError: safetensors is missing.
    """
    try:
        # What safetensors lets pass: pipes, for which it waits, and headers of up to 100 MB.
        with open_plain(file, linked=linked) as plain:
            length = int.from_bytes(plain.read(_LENGTH_BYTES), "little")
        if length > MAX_HEADER_BYTES:
            raise ValueError(f"its header claims {length} bytes, allowed are {MAX_HEADER_BYTES}")
        from safetensors import SafetensorError, safe_open  # base installs lack it

        try:
            with safe_open(file, framework="numpy") as opened:
                yield opened
        except SafetensorError as error:
            raise ValueError(one_line(error)[:MAX_TOLD]) from error
    except OSError as error:
        raise ValueError(error.strerror or "it cannot be read") from error


def read_tensors(file: Path) -> Tensors:
    """A summary of ``file``, from its header alone.

    Raises:
        ValueError: it is missing, or no whole safetensors file; in one line that names it.
    """
    try:
        with opened_tensors(file, linked=True) as opened:
            shapes = [opened.get_slice(name).get_shape() for name in opened.keys()]  # noqa: SIM118
        if any(len(shape) > _MAX_SIDES for shape in shapes):
            raise ValueError(f"a tensor has more than {_MAX_SIDES} dimensions")
    except ModuleNotFoundError:
        return Tensors(None, file.stat().st_size)
    except ValueError as error:
        raise ValueError(f"{file} is not a model that can be read: {error}") from error
    return Tensors(sum(map(math.prod, shapes)), file.stat().st_size)
