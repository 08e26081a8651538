"""``war models show``: what it prints, without torch, and how it refuses what is no model."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import refused, war
from tests.support.models import made
from tests.support.runs import config
from war_agents.models.shipped import GAMES_WITH_CHAMPION
from war_agents.models.show import show_model
from war_envs.variant import VARIANT_NAMES
from war_train.ppo.training import train

EVALUATION = {"random": {"deals": 20, "score": 0.75, "low": 0.5, "high": 0.9}}
ENTRIES: dict[str, Any] = {
    "steps": 1234567,
    "config": {"seed": 5, "opponents": {"self": 0.25, "memory": 1.0}},
    "evaluations": [{"steps": 9, "scores": {}}, {"steps": 1234567, "scores": EVALUATION}],
}


def rows(text: str) -> dict[str, str]:
    """The values in a text, by their names; the first line is the file's."""
    return dict(re.split(r"  +", line, maxsplit=1) for line in text.splitlines()[1:])


def test_the_card_of_a_model_as_a_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = made(tmp_path, entries=ENTRIES)
    show_model(tmp_path)
    text = capsys.readouterr().out
    assert text.splitlines()[0] == str(file)
    # Of five ranks there are 10 cards in two zones, each with a last card: 22 slots of 20 features.
    parameters = 20 * 22 * 8 + (31 * 8 + 8) + (8 * 4 + 4) + (4 * 2 + 2) + (8 * 4 + 4) + (4 + 1)
    assert rows(text) == {
        "game": "attack-defence",
        "variant": "minimal, num_ranks=5, max_turns=400, own_card=bottom",
        "observations": "tokens, perfect memory",
        "network": "embedding 8, hidden 4",
        "parameters": f"{parameters:,} in a file of {file.stat().st_size:,} bytes",
        "plays": "actions by their probability",
        "trained": "1,234,567 steps",
        "seed": "5",
        "opponents": "self 0.25, memory 1",
        "score": "0.750 against random, 0.500 to 0.900 (95 %, 20 deals)",
    }
    made(tmp_path, deterministic=True, memory="table")
    show_model(file)
    bare = rows(capsys.readouterr().out)
    assert bare["observations"] == "tokens, table memory"
    assert bare["plays"] == "its likeliest action"
    assert not {"trained", "seed", "opponents", "score"} & bare.keys()


@pytest.mark.slow
@pytest.mark.process
def test_a_trained_run_is_shown_by_the_command(tmp_path: Path) -> None:
    train(config(tmp_path / "run", steps=512, game="strategic-war"))
    done = war("models", "show", "run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    found = rows(done.stdout)
    assert found["trained"] == "512 steps"
    assert found["seed"] == "1"
    assert "against memory" in found["score"]
    card = (tmp_path / "run" / "model.json").read_text()
    printed = war("models", "show", "run/model.safetensors", "--json", cwd=tmp_path).stdout
    assert json.loads(printed) == json.loads(card)
    assert str(tmp_path) not in card


@pytest.mark.parametrize("game", GAMES_WITH_CHAMPION)
def test_a_champion_is_shown_by_its_name(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_model("champion", game=game)
    text = capsys.readouterr().out
    assert text.count("\nvariant  ") == len(VARIANT_NAMES)
    assert f"\ngame          {game}\n" in text
    assert "standard/memory" in text


def test_a_folder_may_be_called_like_the_champion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "champion"
    folder.mkdir()
    made(folder)
    monkeypatch.chdir(tmp_path)
    show_model("./champion")
    assert "num_ranks=5" in capsys.readouterr().out


@pytest.mark.process
@pytest.mark.slow
def test_neither_torch_nor_safetensors_is_needed(tmp_path: Path) -> None:
    made(tmp_path, entries=ENTRIES)
    program = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'safetensors'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from war_agents.cli import main; main()\n"
    )
    champion = ["champion", "--game", "attack-defence"]
    for arguments in ([str(tmp_path)], [str(tmp_path), "--json"], champion):
        done = subprocess.run(
            [sys.executable, "-c", program, "models", "show", *arguments],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "attack-defence" in done.stdout
        assert ("not counted without safetensors" in done.stdout) == ("--json" not in arguments)


def test_what_is_no_model_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, complaint in (("memory", "a scripted agent"), ("nobody", "no model")):
        assert complaint in refused("models", "show", name, capsys=capsys)
    assert "no model" in refused("models", "show", str(tmp_path), capsys=capsys)
    told = refused("models", "show", "champion", capsys=capsys)
    assert f"choose from {', '.join(GAMES_WITH_CHAMPION)}" in told
    file = made(tmp_path)
    other = refused("models", "show", str(tmp_path), "--game", "strategic-war", capsys=capsys)
    assert "plays attack-defence" in other
    file.unlink()
    assert "model.safetensors" in refused("models", "show", str(tmp_path), capsys=capsys)
    made(tmp_path)
    (tmp_path / "model.json").unlink()
    assert "model.json" in refused("models", "show", str(tmp_path), capsys=capsys)


@pytest.mark.parametrize(
    "entries",
    [
        {"steps": "many"},
        {"steps": -1},
        {"config": []},
        {"config": {"seed": [1]}},
        {"config": {"opponents": 5}},
        {"config": {"opponents": {"memory": "often"}}},
        {"config": {"opponents": {"memory": 10**400}}},
        {"evaluations": 5},
        {"evaluations": [5]},
        {"evaluations": [{"scores": [1]}]},
        {"evaluations": [{"scores": {"memory": {"score": 0.5}}}]},
        {"evaluations": [{"scores": {"memory": {**EVALUATION["random"], "deals": True}}}]},
    ],
)
def test_a_card_whose_training_makes_no_sense_is_refused(
    tmp_path: Path, entries: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path, entries=entries)
    for option in ([], ["--json"]):
        told = refused("models", "show", str(tmp_path), *option, capsys=capsys)
        assert "model.json is damaged" in told
