"""What a run leaves on disk, written so that a crash at any moment damages nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save

from war_agents.agent import MODEL_FILE
from war_agents.arena.files import write_bytes, write_text
from war_agents.network import CardNetwork
from war_agents.policy import FORMAT, VERSION, TorchPolicy, card_file
from war_envs.variant import Variant


def write_json(path: Path, value: Any) -> None:
    """Writes ``value`` as indented JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def start_folder(folder: Path) -> None:
    """Makes the folder of a new run.

    Raises:
        ValueError: there is something in it already, or it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise ValueError(f"out={str(folder)!r} cannot be made: {error.strerror}") from error
    if taken:
        raise ValueError(
            f"out={str(folder)!r} is not empty, and runs are never overwritten: "
            "give another folder, or remove this one"
        )


def save_model(
    folder: Path,
    network: CardNetwork,
    variant: Variant,
    *,
    memory: str = "perfect",
    deterministic: bool = False,
    entries: Mapping[str, Any] | None = None,
) -> Path:
    """Writes a model and its card, for `war_agents.policy.load_policy`.

    Args:
        folder: where; ``model.safetensors`` and ``model.json`` in it are replaced.
        network, variant, memory: what is saved, and what it was trained for.
        deterministic: whether it will always take the likeliest action.
        entries: what else the card says, as JSON has it.

    Returns:
        The model file.
    """
    file = folder / MODEL_FILE
    card = {
        "format": FORMAT,
        "version": VERSION,
        "game": variant.game,
        "variant": variant.options,
        "encoding": TorchPolicy.encoding,
        "memory": memory,
        "network": {"embedding": network.shape.embedding, "hidden": network.shape.hidden},
        "deterministic": deterministic,
        **(entries or {}),
    }
    weights = {key: value.detach().contiguous() for key, value in network.state_dict().items()}
    # All that loading needs of the card stays the same in a run: old and new files go together.
    # The model comes first: a card never describes one that is not there.
    write_bytes(file, save(weights))
    write_json(card_file(file), card)
    return file
