"""What is recorded is what played, though its files are replaced before or in the midst of it."""

import hashlib
import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from tests.support.processes import arena_workers
from war_agents.arena import Tournament, TournamentResult
from war_agents.models.model_card import card_file
from war_agents.models.shipped import champion_file

GAME = "attack-defence"
SHIPPED = champion_file(GAME)
OPTIONS: dict[str, Any] = {"game": GAME, "variants": "minimal", "deals": 20, "seed": 1}
CODE = """
from tests.support.bad_agents import Healthy

class Own(Healthy):
    def act(self, observation, action_mask, *rest):
        return action_mask.argmax(axis=1), None
"""
FACTORY = """
from war_agents.networks.policy import load_policy

class Held:
    name, encoding, memory = "held", "tokens", "perfect"

    def __init__(self, variant):
        self.policy = load_policy({file!r}, variant)

    def act(self, *arguments):
        return self.policy.act(*arguments)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model in a run folder, the shipped one."""
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(SHIPPED, folder / "model.safetensors")
    shutil.copy(card_file(SHIPPED), folder / "model.json")
    return folder


def spoil(folder: Path) -> None:
    """Another save of the run: a network that does the opposite."""
    weights = load_file(SHIPPED)
    for name in ("policy.2.weight", "policy.2.bias"):
        weights[name] = -weights[name]
    save_file(weights, folder / "new.safetensors")
    (folder / "new.safetensors").replace(folder / "model.safetensors")


def played(result: TournamentResult) -> list[Any]:
    return [match.results.tolist() for match in result.matches]


def after_a_block(change: Callable[[], object]) -> Callable[[int, int], None]:
    """Changes something when a block has been played, and kills the worker."""
    changed: list[int] = []

    def progress(done: int, total: int) -> None:
        if done >= 40 and not changed:
            changed.append(done)
            change()
            for worker in arena_workers(os.getpid()):
                os.kill(worker, signal.SIGKILL)

    return progress


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_a_model_plays_as_it_was_when_the_tournament_was_made(model: Path, workers: int) -> None:
    agents: list[Any] = [model, "random", "attack"]
    expected = Tournament(agents, **OPTIONS, workers=0).run()
    made = Tournament(agents, **OPTIONS, workers=workers)
    spoil(model)
    result = made.run()
    assert played(result) == played(expected)
    assert result.players[0].sha256 == hashlib.sha256(SHIPPED.read_bytes()).hexdigest()
    other = Tournament(agents, **OPTIONS, workers=0).run()
    assert other.pairs[0].score < expected.pairs[0].score
    assert other.players[0].sha256 != expected.players[0].sha256


@pytest.mark.process
@pytest.mark.slow
def test_a_model_that_is_replaced_in_the_midst_plays_on_as_it_was(model: Path) -> None:
    agents: list[Any] = ["random", "attack", model]
    expected = Tournament(agents, **OPTIONS, workers=0).run()
    result = Tournament(agents, **OPTIONS, workers=1).run(
        progress=after_a_block(lambda: spoil(model))
    )
    assert played(result) == played(expected)


def test_a_card_that_has_changed_makes_another_player(model: Path, tmp_path: Path) -> None:
    agents: list[Any] = [model, "random"]
    Tournament(agents, **OPTIONS, workers=0).run(tmp_path / "out")
    card = model / "model.json"
    card.write_text(json.dumps(json.loads(card.read_text()) | {"memory": "table"}))
    with pytest.raises(ValueError, match=r"players\[0\]\.memory is 'perfect' there, 'table' here"):
        Tournament(agents, **OPTIONS, workers=0).run(tmp_path / "out", resume=True)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module of the user's own, of which nothing is cached."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return tmp_path


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("when", ["before", "in the midst"])
def test_code_that_changes_is_refused_in_one_line(module: Path, when: str) -> None:
    name = f"own_agent_{when.replace(' ', '_')}"
    source = module / f"{name}.py"
    source.write_text(CODE)
    agents = [f"{name}:Own", "random", "attack"]
    made = Tournament(agents, **OPTIONS, workers=1)

    def change() -> None:
        source.write_text(CODE.replace("argmax", "argmin"))

    if when == "before":
        change()
    with pytest.raises(ValueError, match="is no longer what it was when the tournament") as raised:
        made.run(progress=after_a_block(change))
    assert str(raised.value).startswith(f"agent '{name}:Own' ")
    assert "\n" not in str(raised.value)


@pytest.mark.process
@pytest.mark.slow
def test_a_network_that_code_holds_is_the_same_in_each_process(module: Path, model: Path) -> None:
    (module / "own_holder.py").write_text(FACTORY.format(file=str(model / "model.safetensors")))
    agents = ["own_holder:Held", "random"]
    same = Tournament(agents, **OPTIONS, workers=1)
    expected = Tournament([model, "random"], **OPTIONS, workers=0).run()
    assert played(same.run()) == played(expected)
    spoil(model)
    with pytest.raises(ValueError, match="'own_holder:Held' is no longer what it was"):
        same.run()
    assert Tournament(agents, **OPTIONS).players[0].sha256 != same.players[0].sha256


def test_the_sha256_of_code_is_that_of_its_source_file(module: Path) -> None:
    source = module / "own_plain.py"
    source.write_text(CODE)
    player = Tournament(["own_plain:Own", "random"], **OPTIONS).players[0]
    assert player.sha256 == hashlib.sha256(source.read_bytes()).hexdigest()


@pytest.mark.process
def test_a_factory_in_another_module_than_its_agent_counts_too(module: Path) -> None:
    (module / "own_parts.py").write_text(CODE)
    maker = module / "own_maker.py"
    maker.write_text("from own_parts import Own\nmake = Own\n")
    made = Tournament(["own_maker:make", "random"], **OPTIONS, workers=1)
    maker.write_text("from own_parts import Own\nmake = lambda: Own()\n")
    with pytest.raises(ValueError, match="'own_maker:make' is no longer what it was"):
        made.run()
