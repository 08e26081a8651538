"""All that a run needs to go on as if it had never stopped, in one file of arrays and JSON."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from war_agents.files import json_text, parse_json, write_bytes
from war_agents.models.tensors import opened_tensors

STATE_FILE: Final = "state.safetensors"
VERSION: Final = 1


@dataclass(frozen=True)
class RunState:
    """Where a run stands between two updates.

    Attributes:
        arrays: weights, the optimiser's moments, generators and games, by name.
        entries: counters and everything else, as JSON has it.
    """

    arrays: Mapping[str, NDArray[Any]]
    entries: Mapping[str, Any]

    def write(self, folder: Path) -> None:
        """Replaces the folder's state, whole or not at all.

        Raises:
            OSError: it cannot be written; the old one is still there.
        """
        arrays = {name: np.asarray(array, order="C") for name, array in self.arrays.items()}
        text = json_text({"version": VERSION, **self.entries})
        write_bytes(folder / STATE_FILE, save(arrays, {"state": text}))

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The folder's state: data, none of which is run.

        Raises:
            ValueError: there is none, or it is damaged.
        """
        file = folder / STATE_FILE
        if not os.path.lexists(file):
            why = "there is none: the run has not been saved yet, so start it anew"
            raise ValueError(f"{file} cannot be read: {why}")
        try:
            with opened_tensors(file) as opened:
                arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
                entries = parse_json(opened.metadata()["state"])
        except (AttributeError, KeyError, TypeError) as error:  # an unknown dtype among them
            raise ValueError(f"{file} is damaged: it is no state of a run") from error
        except ValueError as error:
            raise ValueError(f"{file} cannot be read: {error}") from error
        if not isinstance(entries, dict) or entries.get("version") != VERSION:
            raise ValueError(f"{file} is of another version of war-envs, or no state of a run")
        return cls(arrays, entries)

    def array(self, name: str, like: NDArray[Any]) -> NDArray[Any]:
        """The array of a name, which must have the shape and the dtype of ``like``.

        Raises:
            ValueError: it has others, or there is none.
        """
        found = self.arrays.get(name)
        if found is None or found.shape != like.shape or found.dtype != like.dtype:
            is_ = "missing" if found is None else f"{found.dtype} {found.shape}"
            raise ValueError(f"{name} is {is_}, not {like.dtype} {like.shape}")
        if found.dtype.kind == "f" and not np.isfinite(found).all():
            raise ValueError(f"{name} holds numbers that are not finite")
        return found

    def count(self, name: str) -> int:
        """The entry of a name, an integer of 0 or more.

        Raises:
            ValueError: it is none.
        """
        value = self.entries.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
            raise ValueError(f"{name} is {value!r}, not a count")
        return value
