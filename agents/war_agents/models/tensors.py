"""What tensors a safetensors file holds, from its header alone: no tensor is read.

The file may come from anywhere: all that the header says is checked against the file's size.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from war_agents.files import open_plain, parse_json
from war_envs.messages import one_line, shown
from war_envs.variant import integer

MAX_HEADER_BYTES: Final = 2**20
_MAX_SIDES: Final = 8
_LENGTH_BYTES: Final = 8  # before the header: its length, little-endian
_ITEM_BYTES: Final = {
    **dict.fromkeys(("BOOL", "I8", "U8"), 1),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F64", "I64", "U64"), 8),
}


@dataclass(frozen=True)
class Tensors:
    """A summary of a safetensors file.

    Attributes:
        parameters: numbers in all its tensors.
        file_bytes: the size of the file.
    """

    parameters: int
    file_bytes: int


def read_tensors(file: Path) -> Tensors:
    """A summary of ``file``.

    Raises:
        ValueError: it is missing, or no whole safetensors file; in one line that names it.
    """
    try:
        return _read(file)
    except OSError as error:
        why = error.strerror or "it cannot be read"
        raise ValueError(f"{file} is not a model that can be read: {why}") from error
    except ValueError as error:
        raise ValueError(f"{file} is not a model that can be read: {one_line(error)}") from error


def _read(file: Path) -> Tensors:
    with open_plain(file, linked=True) as opened:
        length = int.from_bytes(opened.read(_LENGTH_BYTES), "little")
        if length > MAX_HEADER_BYTES:
            raise ValueError(f"its header claims {length} bytes, allowed are {MAX_HEADER_BYTES}")
        text = opened.read(length)
    size = file.stat().st_size
    if len(text) != length or size < _LENGTH_BYTES + length:
        raise ValueError("it ends before its header does")
    header = parse_json(text)
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    header.pop("__metadata__", None)
    spans = sorted(_span(name, entry) for name, entry in header.items())
    end = 0
    for begin, after, _ in spans:
        if begin != end:
            raise ValueError("its tensors overlap or leave gaps")
        end = after
    if end != size - _LENGTH_BYTES - length:
        raise ValueError(f"its tensors claim {end} bytes, it has {size - _LENGTH_BYTES - length}")
    return Tensors(sum(count for _, _, count in spans), size)


def _span(name: str, entry: Any) -> tuple[int, int, int]:
    """Where a tensor begins and ends, and how many numbers it has."""
    try:
        shape = [integer("a side", side, 0, 2**48) for side in entry["shape"]]
        begin, end = (integer("an offset", offset, 0, 2**48) for offset in entry["data_offsets"])
        count = math.prod(shape) if len(shape) <= _MAX_SIDES else -1
        if end - begin != count * _ITEM_BYTES[entry["dtype"]]:
            raise ValueError
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"its header does not describe {shown(name)} as a tensor") from error
    return begin, end, count
