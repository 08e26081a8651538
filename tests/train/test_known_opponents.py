"""A run meets the agents that it began with, whatever becomes of their files, and no others."""

import dataclasses
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.callbacks import At
from tests.support.players import Player, fixed
from tests.support.runs import left
from war_agents import registry
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.save import save_model
from war_envs.variant import make_variant
from war_train.config import TrainConfig
from war_train.ppo.training import resume, train
from war_train.run.state import RunState

SMALL: dict[str, Any] = {
    "game": "attack-defence",
    "variants": ("minimal", "minimal+fair"),
    "num_ranks": 3,
    "steps": 768,
    "seed": 1,
    "num_envs": 32,
    "rollout": 256,
    "batch_size": 128,
    "epochs": 1,
    "embedding": 8,
    "hidden": 8,
    "evaluate_every": 256,
    "evaluate_deals": 4,
    "final_deals": 4,
    "progress": False,
}
ROLES: dict[str, Callable[[str], dict[str, Any]]] = {
    "an opponent": lambda name: {"opponents": {"self": 1.0, name: 1.0}},
    "a teacher": lambda name: {"imitate": name, "imitate_steps": 512},
}


def config(folder: Path, **changes: Any) -> TrainConfig:
    return TrainConfig(**{**SMALL, "out": folder, **changes})


def model(folder: Path, seed: int, *, deterministic: bool = False) -> str:
    """The folder of a model with weights of its own."""
    network = CardNetwork(
        make_variant("attack-defence", "minimal", num_ranks=3), NetworkShape(8, 8)
    )
    network.initialise(torch.Generator().manual_seed(seed))
    last: Any = network.policy[2]
    with torch.no_grad():
        last.bias[seed % 2] += 5.0  # another one almost always does something else
    folder.mkdir(exist_ok=True)
    variant = make_variant("attack-defence", "minimal", num_ranks=3)
    save_model(folder, network, variant, deterministic=deterministic)
    return str(folder)


def stop() -> bool:
    return False


def refused(folder: Path, name: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(ValueError, match="is not what it was when the run was saved") as error:
        resume(folder, progress=False)
    assert repr(name) in str(error.value)
    assert "\n" not in str(error.value)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("change", ["weights", "card"])
def test_another_model_in_its_place_is_refused(tmp_path: Path, role: str, change: str) -> None:
    given = model(tmp_path / "given", 1)
    changes = ROLES[role](given)
    train(config(tmp_path / "whole", **changes))
    train(config(tmp_path / "a", **changes), [At(320, stop)])
    shutil.copytree(given, tmp_path / "kept")
    if change == "weights":
        model(tmp_path / "given", 2)
    else:
        model(tmp_path / "given", 1, deterministic=True)
    refused(tmp_path / "a", given)
    shutil.rmtree(given)
    with pytest.raises(ValueError, match="given"):
        resume(tmp_path / "a", progress=False)
    shutil.copytree(tmp_path / "kept", given)
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == left(tmp_path / "whole")


@pytest.mark.parametrize("role", ROLES)
def test_a_model_that_is_replaced_meanwhile_stays_what_it_was(tmp_path: Path, role: str) -> None:
    given = model(tmp_path / "given", 1)
    changes = ROLES[role](given)
    train(config(tmp_path / "whole", **changes))

    def replace() -> bool:
        model(tmp_path / "given", 2)
        return True

    train(config(tmp_path / "a", **changes), [At(64, replace)])
    assert left(tmp_path / "a") == left(tmp_path / "whole")


@pytest.mark.parametrize("role", ROLES)
def test_another_agent_of_the_users_under_the_same_name_is_refused(
    tmp_path: Path, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def register(made: Callable[[], Player]) -> None:
        monkeypatch.setitem(registry._FACTORIES["attack-defence"], "mine", lambda variant: made())

    register(lambda: fixed("mine", 0))
    train(config(tmp_path / "a", **ROLES[role]("mine")), [At(320, stop)])
    register(lambda: fixed("mine", 1))
    refused(tmp_path / "a", "mine")
    register(lambda: fixed("mine", 0))
    resume(tmp_path / "a", progress=False)


CODE = """
import numpy as np

class Mine:
    name, encoding, memory = "mine", "tokens", "perfect"

    def act(self, observation, action_mask, seeds, state=None, starts=None):
        return np.where(action_mask[:, {action}] != 0, {action}, {other}), None

def make():
    return Mine()
"""


@pytest.mark.parametrize("role", ROLES)
def test_code_that_has_changed_is_refused(
    tmp_path: Path, role: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    def write(action: int) -> None:
        (tmp_path / "my_agent.py").write_text(CODE.format(action=action, other=1 - action))
        sys.modules.pop("my_agent", None)

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(str(tmp_path))
    write(0)
    train(config(tmp_path / "a", **ROLES[role]("my_agent:make")), [At(320, stop)])
    write(1)
    refused(tmp_path / "a", "my_agent:make")
    write(0)
    resume(tmp_path / "a", progress=False)
    sys.modules.pop("my_agent")


def test_a_state_that_says_nothing_of_opponents_goes_on(tmp_path: Path) -> None:
    """As those that were written before they did."""
    changes = ROLES["an opponent"](model(tmp_path / "given", 1))
    train(config(tmp_path / "whole", **changes))
    train(config(tmp_path / "a", **changes), [At(320, stop)])
    state = RunState.read(tmp_path / "a")
    entries = {name: value for name, value in state.entries.items() if name != "opponents"}
    dataclasses.replace(state, entries=entries).write(tmp_path / "a")
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == left(tmp_path / "whole")


@pytest.mark.parametrize("saved", [[], 3, {"memory": 3}, {}])
def test_a_record_that_is_none_is_refused(tmp_path: Path, saved: object) -> None:
    train(config(tmp_path / "a", opponents={"memory": 1.0}), [At(320, stop)])
    state = RunState.read(tmp_path / "a")
    dataclasses.replace(state, entries={**state.entries, "opponents": saved}).write(tmp_path / "a")
    refused(tmp_path / "a", "memory")
