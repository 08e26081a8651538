"""Networks among the arrays of a run's state."""

from typing import Any

import torch
from numpy.typing import NDArray

from war_agents.networks.card_network import CardNetwork
from war_train.run.state import RunState


def weights(name: str, network: CardNetwork) -> dict[str, NDArray[Any]]:
    """The weights of a network as ``name/key``; they are not copied."""
    tensors = network.state_dict()
    return {f"{name}/{key}": value.detach().numpy() for key, value in tensors.items()}


def set_weights(state: RunState, name: str, network: CardNetwork) -> None:
    """Gives a network the weights that `weights` put under ``name``.

    Raises:
        ValueError: the state has none of this shape.
    """
    with torch.no_grad():
        for key, value in network.state_dict().items():
            value.copy_(torch.from_numpy(state.array(f"{name}/{key}", value.numpy()).copy()))
