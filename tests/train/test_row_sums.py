"""Sums of rows are torch's, and so are their gradients."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from war_agents.networks.row_sums import row_sums


@pytest.mark.parametrize(("batch", "slots", "units"), [(1, 1, 1), (7, 5, 3), (300, 40, 33)])
def test_values_and_gradients_are_those_of_torch(batch: int, slots: int, units: int) -> None:
    draws = torch.Generator().manual_seed(batch)
    number = 2 * slots
    table = torch.randn(number, units, generator=draws)
    table[0] = 0
    rows = torch.randint(0, number, (batch, slots), generator=draws, dtype=torch.int32)
    weights = torch.randn(units, batch, generator=draws).t()  # its gradient is not contiguous
    gradients = []
    for sums in (
        lambda table: row_sums(rows, table),
        lambda table: functional.embedding_bag(rows, table, mode="sum", padding_idx=0),
    ):
        leaf = table.clone().requires_grad_()
        result: Tensor = sums(leaf)  # type: ignore[no-untyped-call]
        assert torch.allclose(result, table[rows.long()].sum(dim=1), atol=1e-5)
        (result * weights).sum().backward()  # type: ignore[no-untyped-call]
        assert leaf.grad is not None
        gradients.append(leaf.grad)
    assert torch.allclose(gradients[0], gradients[1], atol=1e-5)
    assert torch.equal(row_sums(rows, table), result.detach()), "without gradients the same"
    assert not gradients[0][0].any()
    assert gradients[0].any() or not rows.any()
