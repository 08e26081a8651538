"""However and wherever a run ends, its log, state and model agree, and it goes on as if it had not.

Updates come every 256 steps, saves are due at 600 and 1200, evaluations at 500 and 1000, exploiters
at 400 and 800, past selves at 300, 600, ...
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stable_baselines3.common.callbacks import BaseCallback

from tests.support.callbacks import At
from tests.support.runs import left
from war_agents import registry
from war_agents.models.model_card import read_card
from war_train.config import TrainConfig
from war_train.league.growth import Growth
from war_train.ppo.training import resume, train
from war_train.run.loop import Loop
from war_train.run.state import RunState
from war_train.run.stopping import TrainingStoppedError

UPDATE = 256
SMALL: dict[str, Any] = {
    "game": "attack-defence",
    "minimal": True,
    "num_ranks": 3,
    "steps": 1280,
    "seed": 1,
    "num_envs": 32,
    "rollout": UPDATE,
    "batch_size": 128,
    "epochs": 1,
    "embedding": 8,
    "hidden": 8,
    "opponents": {"self": 1.0, "past": 1.0, "exploiter": 1.0, "memory": 1.0},
    "past_every": 300,
    "past_size": 2,
    "exploiter_every": 400,
    "exploiter_steps": 256,
    "evaluate_every": 500,
    "evaluate_deals": 2,
    "final_deals": 4,
    "save_every": 600,
    "progress": False,
}


def config(folder: Path, **changes: Any) -> TrainConfig:
    return TrainConfig(**{**SMALL, "out": folder, **changes})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("runs") / "whole"
    train(config(folder))
    return left(folder)


def fail() -> bool:
    raise RuntimeError("a fault")


def leave() -> bool:
    raise SystemExit(3)


def send(number: int) -> Callable[[], bool]:
    def sends() -> bool:
        os.kill(os.getpid(), number)
        return True

    return sends


ENDS: dict[str, tuple[Callable[[], bool], type[BaseException] | None]] = {
    "False": (lambda: False, None),
    "Ctrl-C": (send(signal.SIGINT), TrainingStoppedError),
    "SIGTERM": (send(signal.SIGTERM), TrainingStoppedError),
    "an exception": (fail, RuntimeError),
    "SystemExit": (leave, SystemExit),
}


def ended(run: Callable[[list[BaseCallback]], Path], at: int, how: str) -> None:
    what, error = ENDS[how]
    if error is None:
        assert run([At(at, what)]).name == "model.safetensors"
    else:
        with pytest.raises(error):
            run([At(at, what)])


def agrees(folder: Path, steps: int, evaluations: tuple[int, ...] = (512, 1024)) -> None:
    """Do log, state, model and card all tell of the update after ``steps``?"""
    log, _, arrays, entries = left(folder)
    assert [row["steps"] for row in log] == list(range(UPDATE, steps + 1, UPDATE))
    assert entries["steps"] == steps
    card = read_card(folder / "model.safetensors").entries
    assert card["steps"] == steps
    evaluated = [found["steps"] for found in card["evaluations"]]
    assert evaluated == [at for at in evaluations if at <= steps]
    assert entries["evaluations"] == card["evaluations"]
    weights = {name: data for name, data in arrays.items() if name.startswith("network/")}
    model = (folder / "model.safetensors").read_bytes()
    assert all(data in model for data in weights.values())


@pytest.mark.parametrize("how", ENDS)
def test_a_run_that_ends_within_a_rollout_stands_at_its_last_update(
    tmp_path: Path, how: str, whole: Any
) -> None:
    ended(lambda callbacks: train(config(tmp_path / "a"), callbacks), 800, how)
    agrees(tmp_path / "a", 768)
    ended(lambda callbacks: resume(tmp_path / "a", callbacks, progress=False), 1184, how)
    agrees(tmp_path / "a", 1024)
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == whole


@pytest.mark.slow
@pytest.mark.parametrize(
    "at",
    [32, 224, 256, 416, 512, 608, 1024, 1248, 1280],
    ids=[
        "the first step",
        "the last step but one of the first rollout",
        "the last step of the first rollout",
        "an exploiter due",
        "an evaluation",
        "a save due",
        "an evaluation in a rollout's last step",
        "the last step but one",
        "the last step",
    ],
)
def test_a_run_goes_on_from_any_step(tmp_path: Path, at: int, whole: Any) -> None:
    ended(lambda callbacks: train(config(tmp_path / "a"), callbacks), at, "False")
    agrees(tmp_path / "a", (at - 1) // UPDATE * UPDATE)
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == whole


class Within(BaseCallback):
    """Fails where it is told to."""

    def __init__(self, place: str, steps: int) -> None:
        super().__init__()
        self._place, self._steps = place, steps

    def _may_fail(self, place: str) -> None:
        if place == self._place and self.model.num_timesteps == self._steps:
            fail()

    def _on_training_start(self) -> None:
        self._may_fail("training start")

    def _on_rollout_start(self) -> None:
        self._may_fail("rollout start")

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        self._may_fail("rollout end")

    def _on_training_end(self) -> None:
        self._may_fail("training end")


@pytest.mark.parametrize(
    ("place", "steps"),
    [("rollout start", 0), ("rollout start", 768), ("rollout end", 768), ("training end", 1280)],
)
def test_a_callback_that_fails_between_steps_loses_nothing(
    tmp_path: Path, place: str, steps: int, whole: Any
) -> None:
    with pytest.raises(RuntimeError, match="a fault"):
        train(config(tmp_path / "a"), [Within(place, steps)])
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == whole


class Failing:
    """An opponent that fails in the call that it is told to."""

    name, encoding, memory = "failing", "tokens", "perfect"
    calls = fails_at = 0

    def act(self, observation: Any, action_mask: Any, seeds: Any, *_: Any) -> Any:
        Failing.calls += 1
        if Failing.calls == Failing.fails_at:
            fail()
        return np.asarray(action_mask).argmax(axis=1), None


def test_an_opponent_that_fails_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._FACTORIES["attack-defence"], "failing", lambda variant: Failing())
    changes = {"opponents": {"self": 1.0, "failing": 1.0}, "steps": 768, "evaluate_every": 0}
    train(config(tmp_path / "whole", **changes))
    monkeypatch.setattr(Failing, "calls", 0)
    monkeypatch.setattr(Failing, "fails_at", 20)
    with pytest.raises(RuntimeError, match="a fault"):
        train(config(tmp_path / "a", **changes))
    agrees(tmp_path / "a", 512, evaluations=())
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == left(tmp_path / "whole")


@pytest.mark.parametrize(
    ("owner", "method", "at", "stands_at"),
    [
        (Loop, "_require_no_signal", 512, 256),
        (Loop, "_require_no_signal", 1280, 1024),
        (Growth, "_may_go_on", 512, 512),
        (Loop, "_write_row", 1280, 1280),
    ],
    ids=["an evaluation", "the last evaluation", "an exploiter", "the end"],
)
def test_a_signal_beside_the_steps_loses_nothing(
    tmp_path: Path,
    owner: type[Any],
    method: str,
    at: int,
    stands_at: int,
    whole: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = getattr(owner, method)

    def stops(self: Any, *args: Any) -> Any:
        if self._learner.steps == at:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(owner, method, stops)
        with pytest.raises(TrainingStoppedError, match=f"after {stands_at} steps") as stopped:
            train(config(tmp_path / "a"))
    assert stopped.value.exit_code == 128 + signal.SIGTERM
    if stands_at == SMALL["steps"]:
        assert "it had finished" in str(stopped.value)
    else:
        agrees(tmp_path / "a", stands_at)
        resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == whole


def test_a_run_can_go_on_from_its_first_moment(tmp_path: Path, whole: Any) -> None:
    class Peek(BaseCallback):
        def _on_step(self) -> bool:
            if self.num_timesteps == 32:  # as a crash would leave it
                assert RunState.read(tmp_path / "a").count("steps") == 0
            return True

    train(config(tmp_path / "a"), [Peek()])
    assert left(tmp_path / "a") == whole
