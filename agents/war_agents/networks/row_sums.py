"""Sums of a table's rows, with a gradient that is many times as fast as torch's own.

For the gradient torch sorts all row numbers and calls a library for each row that was read; here
each row of the gradient is added where it belongs, one after the other. The results are the same.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from war_envs.engine.jit import kernel


def row_sums(rows: Tensor, table: Tensor) -> Tensor:
    """For each b the sum of ``table[rows[b]]``.

    Args:
        rows: int32 (B, K).
        table: float32 (R, E). Row 0 must be zero, and gets no gradient.

    Returns:
        float32 (B, E).
    """
    if table.requires_grad and torch.is_grad_enabled():
        sums: Tensor = _RowSums.apply(rows, table)  # type: ignore[no-untyped-call]
        return sums
    return _sum(rows, table)


def _sum(rows: Tensor, table: Tensor) -> Tensor:
    # Without ``padding_idx``, with which torch takes a loop that is six times as slow.
    return functional.embedding_bag(rows, table, mode="sum")


class _RowSums(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, rows: Tensor, table: Tensor) -> Tensor:
        """The sums."""
        context.save_for_backward(rows)
        context.shape = table.shape
        return _sum(rows, table)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        """The table's gradient."""
        (rows,) = context.saved_tensors
        result = torch.zeros(context.shape)
        _scatter(rows.numpy(), gradients[0].contiguous().numpy(), result.numpy())
        return None, result


@kernel
def _scatter(rows: Any, gradient: Any, result: Any) -> None:
    """Adds ``gradient[b]`` to ``result[row]`` for all rows of ``rows[b]`` but row 0."""
    width = np.uint64(gradient.shape[1])
    for b in range(np.uint64(rows.shape[0])):
        for k in range(np.uint64(rows.shape[1])):
            row = np.uint64(rows[b, k])
            if row != np.uint64(0):
                for unit in range(width):
                    result[row, unit] += gradient[b, unit]
