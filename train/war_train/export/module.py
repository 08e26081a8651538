"""A policy as the torch module that TorchScript and ONNX files are made from."""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from war_agents.models.model_card import ENCODING
from war_agents.networks.policy import TorchPolicy
from war_envs.engine.engine import ENGINES
from war_envs.variant import Variant

_EXAMPLE_ROWS: Final = 2  # torch takes 0 and 1 for fixed sizes


class PolicyModule(nn.Module):
    """Tokens and masks in, probabilities out, through the network's own layers.

    Args:
        policy: whose probabilities.
        variant: what is played, with the network's own deck or a smaller one.

    Attributes:
        network: the same for this deck, less what only training needs.
        table: its ``table()``, float32 (tokens * slots, embedding).
    """

    table: Tensor

    def __init__(self, policy: TorchPolicy, variant: Variant) -> None:
        super().__init__()
        self.network = policy.network.narrowed(variant)
        self.register_buffer("table", self.network.table().detach())
        del self.network.slots, self.network.value
        self.requires_grad_(False)

    def forward(self, tokens: Tensor, action_mask: Tensor) -> Tensor:
        """Probabilities, float32 (B, A).

        Args:
            tokens: uint8 (B, F), token observations.
            action_mask: int8 (B, A), nonzero for legal actions.
        """
        rows, inputs = self.network.read(tokens)
        # No `row_sums`: in ONNX its embedding_bag would be a loop over positions.
        sums = functional.embedding(rows, self.table).sum(dim=1)
        logits = self.network.policy(torch.relu(sums + self.network.header(inputs)))
        return torch.softmax(logits.masked_fill(~action_mask.bool(), -torch.inf), dim=1)

    def example(self) -> tuple[Tensor, Tensor]:
        """Arguments of `forward`: uint8 (2, F) and int8 (2, A)."""
        engine = ENGINES[self.network.variant.game]
        variant = self.network.variant
        width = engine.layout.size(ENCODING, variant.deck_size, variant.num_later_modes)
        return (
            torch.zeros(_EXAMPLE_ROWS, width, dtype=torch.uint8),
            torch.ones(_EXAMPLE_ROWS, engine.num_actions, dtype=torch.int8),
        )
