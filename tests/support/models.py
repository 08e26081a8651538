"""Model files with weights that are drawn, and positions to ask them about."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.save import save_model
from war_envs.batch import make_batch
from war_envs.variant import Variant, make_variant

VARIANT = make_variant("attack-defence", "minimal", num_ranks=5)


def made(folder: Path, seed: int = 0, **more: Any) -> Path:
    """A model with weights drawn from a seed."""
    network = CardNetwork(VARIANT, NetworkShape(embedding=8, hidden=4))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0.0, 1.0, generator=generator)
    return save_model(folder, network, VARIANT, **more)


class Marker:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def positions(variant: Variant, number: int) -> tuple[Any, Any]:
    """Observations and masks of the movers in games that have begun."""
    batch = make_batch(variant.game, number, variant)
    batch.reset(3)
    rng = np.random.default_rng(0)
    for _ in range(25):
        seats = np.zeros(number, int) if variant.game == "attack-defence" else batch.mover
        _, mask = batch.observe(np.arange(number), seats)
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        batch.step(np.stack([actions, actions], axis=1))
    seats = np.zeros(number, int) if variant.game == "attack-defence" else batch.mover
    return batch.observe(np.arange(number), seats)
