"""Copying a block of entries inside a kernel.

A loop of copies stays a loop as long as the compiler cannot rule out that source and target
overlap. This is the machine's own block copy instead.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload


def copy_block(source: Any, start: Any, target: Any, at: Any, length: Any) -> None:
    """Copies ``length`` entries of ``source`` from ``start`` to ``target`` from ``at``.

    Both are C-contiguous arrays of the same dtype that do not overlap; ``start`` and ``at`` count
    their entries flat. Nothing is checked.
    """
    target.reshape(-1)[at : at + length] = source.reshape(-1)[start : start + length]


def _block_copy(
    typing_context: Any, source: Any, start: Any, target: Any, at: Any, length: Any
) -> tuple[Any, Any]:
    """What Numba wants to know of the instruction: its types, and how it is written."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def pointer(array: int, offset: int) -> Any:
            make = context.make_array(signature.args[array])
            data = make(context, builder, arguments[array]).data
            return builder.gep(data, [arguments[offset]])

        size = context.get_abi_sizeof(context.get_data_type(source.dtype))
        raw_memcpy: Any = cgutils.raw_memcpy
        raw_memcpy(builder, pointer(2, 3), pointer(0, 1), arguments[4], size)
        return context.get_dummy_value()

    number = types.int64
    return types.void(source, number, target, number, number), generate


_copy: Any = intrinsic(_block_copy)


@overload(copy_block)
def _compiled(source: Any, start: Any, target: Any, at: Any, length: Any) -> Any:
    def copy(source: Any, start: Any, target: Any, at: Any, length: Any) -> None:
        _copy(source, start, target, at, length)

    return copy
