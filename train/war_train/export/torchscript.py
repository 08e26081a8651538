"""A TorchScript module, for ``torch.jit.load``."""

import io
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from war_agents.networks.card_network import CardNetwork, from_numpy
from war_agents.networks.policy import TorchPolicy
from war_envs.variant import Variant
from war_train.export.plain import plain_arrays


class _Plain(nn.Module):
    """The graph that `war_train.export.plain` describes."""

    sizes_at: Tensor
    zone_starts: Tensor
    places: Tensor
    table: Tensor
    inputs_weight: Tensor
    inputs_bias: Tensor
    hidden_weight: Tensor
    hidden_bias: Tensor
    policy_weight: Tensor
    policy_bias: Tensor
    meeting_at: Tensor

    def __init__(self, network: CardNetwork, variant: Variant) -> None:
        super().__init__()
        self.header_size = network.header_size
        self.meetings = network.meetings
        for name, array in plain_arrays(network, variant).items():
            self.register_buffer(name, torch.tensor(array))

    def forward(self, tokens: Tensor, action_mask: Tensor) -> Tensor:
        """Probabilities, float32 (B, A), of tokens, uint8 (B, F), and a mask, int8 (B, A)."""
        header, cards = tokens[:, : self.header_size], tokens[:, self.header_size :].long()
        ends = self.zone_starts + (tokens[:, self.sizes_at].long() - 1).clamp_min(0)
        cards = torch.cat([cards, cards.gather(1, ends)], dim=1)
        sums = self.table[cards * self.places.shape[0] + self.places].sum(dim=1)
        inputs = header.float()
        if self.meetings is not None:
            meetings = self.meetings(header, cards[:, self.meeting_at])
            inputs = torch.cat([inputs, meetings], dim=1)
        units = sums + inputs @ self.inputs_weight + self.inputs_bias
        hidden = torch.relu(torch.relu(units) @ self.hidden_weight + self.hidden_bias)
        logits = hidden @ self.policy_weight + self.policy_bias
        return torch.softmax(logits.masked_fill(action_mask == 0, -torch.inf), dim=1)


def content(policy: TorchPolicy, variant: Variant) -> bytes:
    """The file that computes the probabilities of ``policy`` for the deck of ``variant``."""
    module = _Plain(policy.network, variant).eval()
    width = module.header_size + len(module.places) - len(module.zone_starts)
    example = (
        torch.zeros(2, width, dtype=torch.uint8),
        torch.ones(2, len(module.policy_bias), dtype=torch.int8),
    )
    file = io.BytesIO()
    with torch.no_grad(), _deprecated():
        torch.jit.save(torch.jit.trace(module, example), file)  # type: ignore[no-untyped-call]
    return _without_paths(file.getvalue())


def read(file: Path) -> Any:
    """What a file written from `content` computes: arrays in, an array out."""
    with _deprecated():
        module: Any = torch.jit.load(file)  # type: ignore[no-untyped-call]  # noqa: TID251 - just written

    def probabilities(tokens: NDArray[np.uint8], mask: NDArray[np.int8]) -> NDArray[np.float32]:
        with torch.no_grad():
            result: NDArray[np.float32] = module(from_numpy(tokens), from_numpy(mask)).numpy()
        return result

    return probabilities


def _without_paths(data: bytes) -> bytes:
    """A TorchScript archive without the source lines it came from, which name this machine's files.

    They only serve error messages.
    """
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(result, "w") as new:
        for entry in old.infolist():
            if not entry.filename.endswith(".debug_pkl"):
                new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry))
    return result.getvalue()


@contextmanager
def _deprecated() -> Iterator[None]:
    """Without torch's warnings that it would rather have other formats used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
