"""What a run leaves on disk, written so that a crash at any moment damages nothing."""

import contextlib
import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from safetensors.torch import save

from war_agents import files
from war_agents.models.model_card import ENCODING, FORMAT, MAX_CARD_BYTES, VERSION, card_file
from war_agents.networks.card_network import CardNetwork
from war_agents.registry import MODEL_FILE
from war_envs.messages import one_line, shown
from war_envs.variant import Variant, checked_variants
from war_train.run.config import RunConfig
from war_train.run.state import STATE_FILE

CONFIG_FILE: Final = "config.json"
Config = TypeVar("Config", bound=RunConfig)


def write_json(path: Path, value: Any) -> None:
    """Writes ``value`` as indented JSON, whole or not at all."""
    files.write_text(path, files.json_text(value, indent=2) + "\n")


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
    """No other process may train in the folder meanwhile: see `war_agents.files.locked`."""
    with files.locked(folder / "run.lock", f"another process is training in {folder}"):
        yield


def remove_parts(folder: Path) -> None:
    """Removes what a crash left of files that were just being written; under the lock only."""
    names = (CONFIG_FILE, STATE_FILE, MODEL_FILE, card_file(folder / MODEL_FILE).name)
    files.remove_parts(folder, names)


def read_config(folder: Path, kind: type[Config], **changes: Any) -> Config:
    """The settings that a run was started with, but for ``changes``.

    Args:
        folder: the run's.
        kind: what is made of them.
        changes: settings in place of those of the file.

    Raises:
        ValueError: there are none, or not such as a run can have.
    """
    file = folder / CONFIG_FILE
    try:
        data = files.read_limited(file, MAX_CARD_BYTES)
    except ValueError as error:
        raise ValueError(f"{folder} is no run to go on with: {file.name}: {error}") from error
    try:
        values = files.parse_json(data)
        if not isinstance(values, dict):
            raise ValueError("it is no JSON object")
        settings = {**values, "out": folder, **changes}
        known = {field.name for field in dataclasses.fields(kind)}
        for name in settings:
            if name not in known:
                raise ValueError(f"{shown(name)} is no setting")
        if "game" not in settings:
            raise ValueError("it has no game")
        return kind(**settings)
    except TypeError as error:
        raise ValueError(f"{file} holds no settings of a run: one is of a wrong type") from error
    except ValueError as error:
        raise ValueError(f"{file} holds no settings of a run: {one_line(error)}") from error


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
        network, variants, memory: what is saved, and what it was trained for.
        deterministic: whether it will always take the likeliest action.
        entries: what else the card says, as JSON has it.

    Returns:
        The model file.
    """
    file = folder / MODEL_FILE
    learned = checked_variants(variants)
    weights = {key: value.detach().contiguous() for key, value in network.state_dict().items()}
    data = save(weights)
    card = {
        "format": FORMAT,
        "version": VERSION,
        "game": learned[0].game,
        "variants": [variant.options for variant in learned],
        "encoding": ENCODING,
        "memory": memory,
        "network": {"embedding": network.shape.embedding, "hidden": network.shape.hidden},
        "deterministic": deterministic,
        **(entries or {}),
        "sha256": hashlib.sha256(data).hexdigest(),  # so that readers can tell whose card it is
    }
    # All that loading needs of the card stays the same in a run: old and new files go together.
    # The model comes first: a card never describes one that is not there.
    files.write_bytes(file, data)
    write_json(card_file(file), card)
    return file
