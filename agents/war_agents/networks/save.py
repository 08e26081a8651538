"""A network written to disk as a model, for `war_agents.networks.policy` to read."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors.torch import save

from war_agents.files import write_bytes
from war_agents.models.model_card import write_card
from war_agents.networks.card_network import CardNetwork
from war_agents.registry import MODEL_FILE
from war_envs.variant import Variant, checked_variants


def save_model(
    folder: Path,
    network: CardNetwork,
    variants: Variant | Sequence[Variant],
    *,
    memory: str = "perfect",
    deterministic: bool = False,
    entries: Mapping[str, Any] | None = None,
) -> Path:
    """Writes a model and its card, for `war_agents.networks.policy.load_policy`.

    Args:
        folder: where; ``model.safetensors`` and ``model.json`` in it are replaced.
        network: what is saved.
        variants, memory: what it was trained for.
        deterministic: whether it will always take its most probable action.
        entries: what else the card says, as JSON has it.

    Returns:
        The model file.

    Raises:
        ValueError: no variant, or variants of two games.
        OSError: a file cannot be written; the old one is still there.
    """
    file = folder / MODEL_FILE
    learned = checked_variants(variants)
    weights = {key: value.detach().contiguous() for key, value in network.state_dict().items()}
    data = save(weights)
    # All that loading needs of the card stays the same in a run: old and new files go together.
    # The model comes first: a card never describes one that is not there.
    write_bytes(file, data)
    write_card(
        file,
        variants=learned,
        memory=memory,
        network=asdict(network.shape),
        deterministic=deterministic,
        sha256=hashlib.sha256(data).hexdigest(),
        entries=entries or {},
    )
    return file
