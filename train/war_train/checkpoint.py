"""What a run leaves on disk, written so that a crash at any moment damages nothing."""

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from filelock import FileLock, Timeout
from safetensors.torch import save

from war_agents.agent import MODEL_FILE
from war_agents.arena.files import write_bytes, write_text
from war_agents.network import CardNetwork
from war_agents.policy import FORMAT, VERSION, TorchPolicy, card_file
from war_envs.variant import Variant, checked_variants
from war_train.config import TrainConfig

CONFIG_FILE: Final = "config.json"


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


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """No other process may work in the folder meanwhile; a process that dies holds no lock.

    Raises:
        ValueError: another one does.
    """
    lock = FileLock(folder / "run.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise ValueError(f"another process is training in {folder}") from error
    try:
        yield
    finally:
        lock.release()


def read_config(folder: Path, **changes: Any) -> TrainConfig:
    """The settings that a run was started with, but for ``changes``.

    Raises:
        ValueError: there are none, or not such as a run can have.
    """
    file = folder / CONFIG_FILE
    try:
        values = json.loads(file.read_bytes())
        if not isinstance(values, dict):
            raise ValueError("no JSON object")
        return TrainConfig(**{**values, "out": folder, **changes})
    except OSError as error:
        raise ValueError(
            f"{folder} is no run to go on with: {file.name}: {error.strerror}"
        ) from error
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"{file} holds no settings of a run: {error}") from error


def save_model(
    folder: Path,
    network: CardNetwork,
    variants: Variant | Sequence[Variant],
    *,
    memory: str = "perfect",
    deterministic: bool = False,
    entries: Mapping[str, Any] | None = None,
) -> Path:
    """Writes a model and its card, for `war_agents.policy.load_policy`.

    Args:
        folder: where; ``model.safetensors`` and ``model.json`` in it are replaced.
        network, variants, memory: what is saved, and what it was trained for.
        deterministic: whether it will always take the likeliest action.
        entries: what else the card says, as JSON has it.

    Returns:
        The model file.
    """
    file = folder / MODEL_FILE
    learned = checked_variants(variants)
    card = {
        "format": FORMAT,
        "version": VERSION,
        "game": learned[0].game,
        "variants": [variant.options for variant in learned],
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
