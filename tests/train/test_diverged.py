"""Numbers that are not finite end a run, wherever they come from, and are never saved."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from stable_baselines3.common.callbacks import BaseCallback

from tests.support.runs import left
from war_agents.models.model_card import read_card
from war_train.config import TrainConfig
from war_train.finite import TrainingDivergedError
from war_train.ppo.learner import SelfPlayPPO
from war_train.ppo.method import PPO
from war_train.ppo.training import resume, train
from war_train.ppo.watched import PPOLearner
from war_train.run.state import STATE_FILE

SMALL: dict[str, Any] = {
    "game": "attack-defence",
    "minimal": True,
    "num_ranks": 3,
    "steps": 1280,
    "seed": 1,
    "num_envs": 32,
    "rollout": 256,
    "batch_size": 128,
    "epochs": 1,
    "embedding": 8,
    "hidden": 8,
    "opponents": {"self": 1.0, "past": 1.0, "exploiter": 1.0, "memory": 1.0},
    "past_every": 100,
    "exploiter_every": 600,
    "exploiter_steps": 256,
    "average": 500,
    "evaluate_every": 0,
    "final_deals": 2,
    "save_every": 512,
    "progress": False,
}
Poison = Callable[[SelfPlayPPO], None]


def config(folder: Path, **changes: Any) -> TrainConfig:
    return TrainConfig(**{**SMALL, "out": folder, **changes})


class Poisons(BaseCallback):
    """Does something to the learner, once, at a moment after so many steps."""

    def __init__(self, poison: Poison, when: str, step: int) -> None:
        super().__init__()
        self._poison, self._when, self._step = poison, when, step

    def _at(self, when: str) -> None:
        if (when, self.model.num_timesteps) == (self._when, self._step):
            self._poison(self.model)  # type: ignore[arg-type]

    def _on_rollout_start(self) -> None:
        self._at("rollout start")

    def _on_step(self) -> bool:
        self._at("step")
        return True

    def _on_rollout_end(self) -> None:
        self._at("rollout end")


def rate(model: SelfPlayPPO) -> None:
    """Learning itself does it: nothing is finite after one minibatch."""
    model.lr_schedule = lambda _: 1e30


def into(tensor: torch.Tensor, value: float) -> None:
    with torch.no_grad():
        tensor.view(-1)[0] = value


def weight(model: SelfPlayPPO) -> None:
    into(model.policy.network.slots, float("nan"))


def policy_head(model: SelfPlayPPO) -> None:
    """The next action cannot be drawn."""
    head: Any = model.policy.network.policy[2]
    into(head.bias, float("nan"))


def value_head(model: SelfPlayPPO) -> None:
    """Nothing is drawn from it, and its losses can be finite."""
    head: Any = model.policy.network.value[0]
    into(head.weight, float("inf"))


def moment(model: SelfPlayPPO) -> None:
    """Weights stay finite with it, and learn nothing more."""
    into(model.policy.optimizer.state_dict()["state"][0]["exp_avg_sq"], float("inf"))


def average(model: SelfPlayPPO) -> None:
    assert model.policy.average is not None
    into(model.policy.average.slots, float("nan"))


def advantage(model: SelfPlayPPO) -> None:
    """One step of one minibatch."""
    model.rollout_buffer.advantages[0, 0] = np.nan


def past(model: SelfPlayPPO) -> None:
    into(next(iter(model.env.league.networks.values())).slots, float("nan"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("poison", "when", "step", "told"),
    [
        (rate, "rollout end", 768, "step 768 .*policy_loss"),
        (advantage, "rollout end", 768, "step 768 .*policy_loss"),
        (value_head, "step", 704, "step 768 .*network/value.0.weight"),
        (moment, "rollout end", 768, "step 768 .*adam/0/exp_avg_sq"),
        (average, "step", 704, "step 768 .*average/slots"),
        (policy_head, "step", 704, "step 704 .*network/policy.2.bias"),
        (weight, "step", 704, "step 704 .*network/slots"),
        (weight, "step", 768, "step 768 .*policy_loss"),
        (weight, "rollout start", 768, "step 768 .*network/slots"),
        (weight, "rollout end", 1280, "step 1280 .*policy_loss"),
        (rate, "rollout end", 256, "step 256 .*policy_loss"),
    ],
)
def test_the_run_ends_with_an_error_and_goes_on_from_its_last_update(
    tmp_path: Path, poison: Poison, when: str, step: int, told: str, whole: Any
) -> None:
    folder = tmp_path / "a"
    with pytest.raises(TrainingDivergedError, match=told) as error:
        train(config(folder), [Poisons(poison, when, step)])
    assert "\n" not in str(error.value)
    is_finite(folder)
    steps = left(folder)[3]["steps"]
    assert steps == (step - 1) // 256 * 256
    assert read_card(folder / "model.safetensors").entries["steps"] == steps
    resume(folder, progress=False)
    assert left(folder) == whole


def is_finite(folder: Path) -> None:
    for name in (STATE_FILE, "model.safetensors"):
        for array in load_file(folder / name).values():
            assert np.isfinite(array).all()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    train(config(folder))
    return left(folder)


def test_a_past_self_that_is_broken_is_never_saved(tmp_path: Path) -> None:
    changes = {"past_every": 200, "past_size": 9, "save_every": 300}
    with pytest.raises(ValueError, match=r"past network|league/[0-9]+/slots"):
        train(config(tmp_path / "a", **changes), [Poisons(past, "step", 704)])
    is_finite(tmp_path / "a")


def test_an_exploiter_that_diverges_ends_the_run(
    tmp_path: Path, whole: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = PPO.make_learner

    def poisoned(self: PPO, *args: Any, **options: Any) -> PPOLearner:
        learner = make(self, *args, **options)
        if options.get("steps") is not None:  # an exploiter
            rate(learner._model)
        return learner

    with monkeypatch.context() as patch:
        patch.setattr(PPO, "make_learner", poisoned)
        with pytest.raises(TrainingDivergedError, match=r"exploiter of step 768: .* step 256 "):
            train(config(tmp_path / "a"))
    is_finite(tmp_path / "a")
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == whole


@pytest.mark.process
@pytest.mark.slow
def test_the_command_ends_with_one_line(tmp_path: Path) -> None:
    # The learning rate grows beyond all bounds instead of falling.
    program = "import war_train.ppo.method as m; m.LAST_RATE = 1e30\n"
    program += "from war_agents.cli import main; main()"
    options = ["--game", "attack-defence", "--minimal", "--num-ranks", "3", "--out", "run"]
    options += ["--num-envs", "32", "--rollout", "256", "--batch-size", "128", "--steps", "5120"]
    done = subprocess.run(
        [sys.executable, "-c", program, "train", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("war: training has diverged: at step ")
    assert done.stderr.count("\n") == 1
    is_finite(tmp_path / "run")
