"""What a run leaves on disk can be read anywhere, and needs no pickle."""

import json
import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import run
from tests.support.runs import StopAt
from tests.support.runs import eventful_config as config
from war_agents.arena import run_tournament
from war_train.ppo.training import train
from war_train.run.stopping import TrainingStoppedError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that can go on, with evaluations, past selves and a model."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    with pytest.raises(TrainingStoppedError):
        train(config(folder), [StopAt(2560)])
    return folder


def header(file: Path) -> dict[str, Any]:
    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    found = json.loads(data[8 : 8 + length])
    assert isinstance(found, dict)
    return found


def events(file: Path) -> int:
    """How many records a TensorBoard file holds; each has its length in front, and checksums."""
    data, number = file.read_bytes(), 0
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert len(data) >= length + 16
        data, number = data[length + 16 :], number + 1
    return number


@pytest.mark.field_case("K04")
def test_every_file_of_a_run_is_tensors_json_or_events_and_names_no_place(stopped: Path) -> None:
    seen = set()
    for file in stopped.rglob("*"):
        if file.is_dir():
            continue
        data = file.read_bytes()
        for place in (stopped.parent, Path.home(), ROOT):
            assert str(place).encode() not in data, f"{file} names {place}"
        seen.add(file.suffix if file.parent == stopped else file.parent.name)
        if file.suffix == ".safetensors":
            assert {key for key in header(file) if key != "__metadata__"}
        elif file.suffix == ".json":
            assert isinstance(json.loads(data), dict)
        elif file.suffix == ".jsonl":
            assert all(isinstance(json.loads(line), dict) for line in data.splitlines())
        elif file.suffix == ".lock":
            assert not data
        else:
            assert ".tfevents." in file.name
            assert events(file) > 1
    assert seen == {".safetensors", ".json", ".jsonl", ".lock", "tensorboard"}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("K04", "K06")
def test_a_run_that_was_moved_is_played_and_goes_on_in_another_process(
    tmp_path: Path, stopped: Path
) -> None:
    shutil.copytree(stopped, tmp_path / "first" / "run")
    (tmp_path / "first").rename(tmp_path / "second")
    code = """
import sys
from war_agents.arena import play_match
from war_envs.variant import make_variant
from war_agents.arena import run_tournament
from war_train.ppo.training import resume
variant = make_variant("attack-defence", "minimal", num_ranks=5)
play_match(sys.argv[1], "random", game=variant.game, variant=variant, deals=5, seed=1)
print(resume(sys.argv[1], progress=False))
"""
    folder = str(tmp_path / "second" / "run")
    done = run("-c", code, folder, env={"PYTHONHASHSEED": "7", "CUDA_VISIBLE_DEVICES": ""})
    assert done.stdout.strip() == f"{folder}/model.safetensors"


@pytest.mark.field_case("K06")
def test_no_file_says_on_which_device_it_was_made(stopped: Path) -> None:
    for name in ("model.safetensors", "state.safetensors"):
        text = json.dumps(header(stopped / name)).lower()
        assert "cuda" not in text
        assert "device" not in text
    for name in ("model.json", "config.json"):
        assert b"device" not in (stopped / name).read_bytes()


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("K04", "K08")
def test_reading_the_files_of_a_run_unpickles_nothing(stopped: Path) -> None:
    """Python itself reports whatever a pickle looks up; the second reading must not."""
    code = """
import sys
from pathlib import Path
from war_agents import make
from war_agents.models.show import show_model
from war_envs.variant import make_variant
from war_train.config import TrainConfig
from war_train.run.checkpoint import read_config
from war_train.run.state import RunState

variant = make_variant("attack-defence", "minimal", num_ranks=5)

def read(folder):
    read_config(folder, TrainConfig)
    RunState.read(folder)
    show_model(folder)
    make(folder, game=variant.game, variant=variant)

folder = Path(sys.argv[1])
read(folder)  # compiled code may be loaded here, and Numba keeps it in pickles
found = []
sys.addaudithook(lambda event, args: found.append(args) if event.startswith("pickle.") else None)
read(folder)
assert not found, found
import pickle
pickle.loads(pickle.dumps(Path))
assert found, "the hook does not work"
"""
    run("-c", code, str(stopped))


def test_what_is_called_json_is_json(stopped: Path, tmp_path: Path) -> None:
    """Also where numbers are not finite, as the rating of an agent that has won every game."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    everything = {"game": "attack-defence", "variant": "minimal", "deals": 1, "seed": 1}
    run_tournament(["defend", "memory"], **everything, out=tmp_path)  # type: ignore[arg-type]
    files = [*stopped.rglob("*.json*"), *tmp_path.rglob("*.json*")]
    assert {file.name for file in files} >= {"log.jsonl", "model.json", "results.json"}
    for file in files:
        text = file.read_text()
        for part in text.splitlines() if file.suffix == ".jsonl" else [text]:
            json.loads(part, parse_constant=refuse)
