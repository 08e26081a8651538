"""Networks that no longer learn, many of them asked at once."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from war_agents.agent import Agent
from war_agents.given import checked_mask
from war_agents.networks.card_network import CardNetwork, from_numpy
from war_agents.networks.policy import TorchPolicy, drawn, legal_probabilities
from war_agents.networks.row_sums import row_sums


class FrozenNetworks:
    """Networks of one shape, by number, evaluated together: each position by one of them.

    A call for all of them costs hardly more than one for a single network.

    Args:
        networks: by number; all for the same game, deck and shape. Their weights are copied.
        memory: what they observe.
    """

    def __init__(self, networks: Mapping[int, CardNetwork], memory: str) -> None:
        self.networks = dict(networks)
        self._memory = memory
        self._one = next(iter(self.networks.values()))
        self._numbers = np.array(sorted(self.networks))
        each = [self.networks[number] for number in self._numbers.tolist()]
        with torch.no_grad():
            tables = [network.table() for network in each]
            self._rows = len(tables[0])
            self._table = torch.cat(tables)
            self._layers = [
                _stacked([layer(network) for network in each])
                for layer in (_header, _hidden, _output)
            ]

    def players(self, numbers: NDArray[np.int64]) -> Agent:
        """An agent for positions whose k-th belongs to the network ``numbers[k]``."""
        return _Players(self, np.searchsorted(self._numbers, numbers), self._memory)

    def logits(self, tokens: Tensor, which: NDArray[np.int64]) -> Tensor:
        """The logits of each position's network, float32 (B, A).

        Args:
            tokens: uint8 (B, F).
            which: int64 (B,): places in the ascending order of the networks' numbers.
        """
        index = torch.from_numpy(which)
        rows, inputs = self._one.read(tokens)
        # Row 0, which is zero, is the first network's own: empty slots of all read it.
        rows = rows + (index * self._rows).int()[:, None] * (rows != 0)
        units = row_sums(rows, self._table)
        # Positions are sorted by network, so that each layer is one product of stacked matrices.
        counts = np.bincount(which, minlength=len(self._numbers))
        order = np.argsort(which, kind="stable")
        within = np.arange(len(which)) - np.repeat(counts.cumsum() - counts, counts)
        at = (index[order], torch.from_numpy(within))
        shape = (len(self._numbers), int(counts.max()))
        first = _product(_spread(inputs[order], at, shape), self._layers[0])
        first = torch.relu(first + _spread(units[order], at, shape))
        second = torch.relu(_product(first, self._layers[1]))
        found = _product(second, self._layers[2])[at]
        logits = torch.empty_like(found)
        logits[order] = found
        return logits


class _Players:
    """The networks of ``which``, one per position."""

    name = "past"
    encoding = TorchPolicy.encoding

    def __init__(self, networks: FrozenNetworks, which: NDArray[np.int64], memory: str) -> None:
        self._networks = networks
        self._which = which
        self.memory = memory

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], None]:
        """See `war_agents.agent.Agent`."""
        with torch.no_grad():
            found = self._networks.logits(from_numpy(observation), self._which)
        logits, legal = found.double().numpy(), checked_mask(action_mask)
        if not np.isfinite(logits).all():
            raise ValueError(
                f"opponents: a network of {self.name} gives numbers that are not finite"
            )
        return drawn(legal_probabilities(logits, legal), seeds), None


Layer = tuple[Tensor, Tensor]


def _header(network: CardNetwork) -> Layer:
    return network.header.weight, network.header.bias


def _hidden(network: CardNetwork) -> Layer:
    layer: Any = network.policy[0]
    return layer.weight, layer.bias


def _output(network: CardNetwork) -> Layer:
    layer: Any = network.policy[2]
    return layer.weight, layer.bias


def _stacked(layers: list[Layer]) -> Layer:
    """Weights (N, inputs, outputs) and biases (N, 1, outputs)."""
    weights = torch.stack([weight.T for weight, _ in layers]).contiguous()
    return weights, torch.stack([bias for _, bias in layers])[:, None]


def _product(inputs: Tensor, layer: Layer) -> Tensor:
    weights, biases = layer
    return torch.baddbmm(biases, inputs, weights)


def _spread(values: Tensor, at: tuple[Tensor, Tensor], shape: tuple[int, int]) -> Tensor:
    """``values`` (B, E) at their places in zeros (networks, most positions of one, E)."""
    spread = values.new_zeros(*shape, values.shape[1])
    spread[at] = values
    return spread
