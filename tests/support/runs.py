"""Short runs of training, and what they leave."""

import json
import os
import signal
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from war_train.config import TrainConfig
from war_train.run.state import RunState

# Learning and nothing beside it.
PLAIN: dict[str, Any] = {
    "game": "attack-defence",
    "minimal": True,
    "num_ranks": 3,
    "steps": 2048,
    "seed": 1,
    "num_envs": 32,
    "rollout": 512,
    "batch_size": 128,
    "epochs": 1,
    "embedding": 16,
    "hidden": 8,
    "past_every": 500,
    "imitate_steps": 0,
    "evaluate_every": 0,
    "final_deals": 20,
    "progress": False,
}


# All that happens beside learning, in a few updates.
EVENTFUL: dict[str, Any] = {
    "minimal": True,
    "num_ranks": 5,
    "steps": 4096,
    "seed": 1,
    "num_envs": 32,
    "rollout": 512,
    "batch_size": 128,
    "epochs": 2,
    "embedding": 16,
    "hidden": 8,
    "past_every": 700,
    "past_size": 2,
    "evaluate_every": 1500,
    "evaluate_deals": 5,
    "final_deals": 20,
    "save_every": 1024,
    "progress": False,
}


def config(folder: Path, **changes: Any) -> TrainConfig:
    return TrainConfig(**{**PLAIN, "out": folder, **changes})


def eventful_config(folder: Path, game: str = "attack-defence", **changes: Any) -> TrainConfig:
    return TrainConfig(**{**EVENTFUL, "game": game, "out": folder, **changes})


def rows(folder: Path) -> list[dict[str, Any]]:
    """The log, without what depends on the clock."""
    found = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for row in found:
        assert row.pop("seconds") > 0
        assert row.pop("steps_per_second") > 0
    return found


def left(folder: Path) -> tuple[list[dict[str, Any]], bytes, dict[str, bytes], dict[str, Any]]:
    """What a run has left: log, model, arrays and entries of its state, without times."""
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    for row in log:
        del row["seconds"], row["steps_per_second"]
    state = RunState.read(folder)
    arrays = {name: array.tobytes() for name, array in state.arrays.items()}
    entries = {k: v for k, v in state.entries.items() if k not in ("seconds", "log_size")}
    return log, (folder / "model.safetensors").read_bytes(), arrays, entries


class StopAt(BaseCallback):
    """Raises ``error`` at a step, or sends the process a signal."""

    def __init__(self, step: int, error: BaseException | None = None) -> None:
        super().__init__()
        self._at, self._error = step, error

    def _on_step(self) -> bool:
        if self.num_timesteps == self._at:
            if self._error is not None:
                raise self._error
            os.kill(os.getpid(), signal.SIGINT)
        return True
