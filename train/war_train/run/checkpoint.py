"""What a run leaves on disk, written so that a crash at any moment damages nothing."""

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from war_agents import files
from war_agents.models.model_card import MAX_CARD_BYTES, card_file
from war_agents.registry import MODEL_FILE
from war_envs.messages import one_line, shown
from war_train.run.config import RunConfig
from war_train.run.state import STATE_FILE

CONFIG_FILE: Final = "config.json"
Config = TypeVar("Config", bound=RunConfig)


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
