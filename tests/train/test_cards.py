"""Which card is whose, and what is said where there is no model."""

import shutil
from pathlib import Path

import pytest

import war_agents
from tests.support.command import refused
from tests.support.models import VARIANT, made
from tests.support.runs import config
from war_agents.files import write_json
from war_agents.models.find import find_model
from war_agents.models.model_card import card_file, read_card
from war_train.ppo.training import resume


@pytest.mark.parametrize(
    ("model", "card"),
    [
        ("model.safetensors", "model.json"),
        ("pair.v1.safetensors", "pair.v1.json"),
        ("pair.v1", "pair.v1.json"),
        ("pair.v2", "pair.v2.json"),
        ("pair", "pair.json"),
        ("a.json", "a.json.json"),
    ],
)
def test_every_model_has_a_card_of_its_own(model: str, card: str) -> None:
    assert card_file(Path("runs") / model) == Path("runs") / card


def renamed(folder: Path, name: str, **more: object) -> Path:
    """A model under another name, with its card."""
    folder.mkdir(exist_ok=True)
    file = made(folder, entries=more)
    card_file(file).rename(card_file(folder / name))
    return file.rename(folder / name)


def test_models_whose_names_differ_behind_a_dot_do_not_share_a_card(tmp_path: Path) -> None:
    files = [renamed(tmp_path, f"pair.v{i}", steps=i) for i in (1, 2)]
    assert [read_card(file).entries["steps"] for file in files] == [1, 2]
    agents = [war_agents.make(file, game=VARIANT.game, variant=VARIANT) for file in files]
    assert [agent.name for agent in agents] == ["pair.v1", "pair.v2"]


def test_a_card_that_could_be_of_two_models_is_of_the_one_with_the_suffix(tmp_path: Path) -> None:
    file = renamed(tmp_path, "pair.v1.safetensors", steps=1)
    other = Path(shutil.copy(file, tmp_path / "pair.v1"))
    assert read_card(file).entries["steps"] == 1
    message = r"pair\.v1\.json is the card of pair\.v1\.safetensors, not of .*/pair\.v1: rename one"
    for use in (read_card, find_model, lambda name: war_agents.make(name, game=VARIANT.game)):
        with pytest.raises(ValueError, match=message):
            use(other)


def test_a_run_that_has_not_been_saved_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    write_json(folder / "config.json", config(folder).settings.to_json())
    said = f"{folder} is a run folder without model.safetensors: it has not been saved yet"
    with pytest.raises(ValueError, match=said):
        war_agents.make(folder, game=VARIANT.game)
    for command in (
        ["models", "show", str(folder)],
        ["export", str(folder), "--to", "sb3", "--out", str(tmp_path / "out")],
        ["tournament", "--game", VARIANT.game, "--agents", "random", str(folder)],
    ):
        assert said in refused(*command, capsys=capsys)
    with pytest.raises(ValueError, match=r"state\.safetensors .*: the run has not been saved yet"):
        resume(folder)
    assert [path.name for path in folder.iterdir()] == ["config.json"]
