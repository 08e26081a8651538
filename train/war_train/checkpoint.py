"""What a run leaves on disk, written so that a crash at any moment damages nothing."""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors.torch import save

from war_agents.agent import MODEL_FILE
from war_agents.network import CardNetwork
from war_agents.policy import FORMAT, VERSION, TorchPolicy, card_file
from war_envs.variant import Variant


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file that is, at any moment and after any crash, the old one or the new one.

    Raises:
        OSError: it cannot be written; the old file is as it was, and nothing else is left.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Makes a rename in ``folder`` last, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_json(path: Path, value: Any) -> None:
    """`write_whole` of ``value`` as indented JSON."""
    write_whole(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


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
    write_json(card_file(file), card)
    write_whole(file, save(weights))
    return file
