"""Whole runs of training, on small decks."""

import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from stable_baselines3.common.callbacks import BaseCallback

import war_agents
from tests.support.command import WAR
from tests.support.processes import wait_for
from tests.support.runs import PLAIN, config, rows
from war_agents import scripted
from war_agents.arena import play_match
from war_agents.networks.save import save_model
from war_train.config import TrainConfig
from war_train.league.config import OPPONENTS
from war_train.ppo.training import train
from war_train.run import loop
from war_train.run.stopping import StopRequest


def global_state() -> tuple[object, ...]:
    numpy_state = np.random.get_state()  # noqa: NPY002
    return random.getstate(), str(numpy_state), torch.get_rng_state().tolist()


class Watch(BaseCallback):
    """Gathers what happens."""

    def __init__(self) -> None:
        super().__init__()
        self.illegal = 0
        self.observations: list[bytes] = []

    def _on_step(self) -> bool:
        self.illegal += sum("illegal_action" in info for info in self.locals["infos"])
        self.observations.append(self.locals["new_obs"].tobytes())
        return True


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_a_run_leaves_a_model_a_card_a_log_and_its_settings(tmp_path: Path, game: str) -> None:
    out, watch = tmp_path / "runs" / "first", Watch()
    threads, before = torch.get_num_threads(), global_state()
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    asked = config(out, game=game, evaluate_every=1000, evaluate_deals=10)
    file = train(asked, [watch])
    assert file == out / "model.safetensors"
    assert global_state() == before
    assert torch.get_num_threads() == threads
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
    assert watch.illegal == 0
    names = {"model.safetensors", "model.json", "config.json", "log.jsonl", "tensorboard"}
    names |= {"state.safetensors", "run.lock"}
    assert {path.name for path in out.iterdir()} == names
    assert any((out / "tensorboard").iterdir())
    assert json.loads((out / "config.json").read_text()) == asked.settings.to_json()

    agent: Any = war_agents.make(out, game=game, variant=asked.settings.run.variant)
    assert agent.name == "first"
    assert agent.card["steps"] == 2048
    assert agent.card["config"] == asked.settings.to_json()
    assert str(tmp_path) not in (out / "model.json").read_text()
    evaluations = agent.card["evaluations"]
    assert [found["steps"] for found in evaluations] == [1024, 2016, 2048]
    assert set(evaluations[-1]["scores"]) == set(scripted.names(game))

    log = rows(out)
    assert [row["steps"] for row in log] == [512, 1024, 1536, 2048]
    for row in log:
        figures = ("policy_loss", "value_loss", "entropy", "approx_kl", "learning_rate")
        assert all(np.isfinite(row[figure]) for figure in figures)
        assert set(row["score"]) == set(row["games"]) <= set(OPPONENTS)
        assert all(0 <= score <= 1 for score in row["score"].values())
    assert log[-1]["evaluation"] == evaluations[-1]["scores"]
    # What the card says of the end is what the saved model does.
    again = play_match(
        agent,
        "random",
        game=game,
        variant=asked.settings.run.variant,
        deals=20,
        seed=asked.seed or 0,
    )
    assert again.score == evaluations[-1]["scores"]["random"]["score"]


def test_the_same_seed_gives_the_same_run_whatever_else_draws(tmp_path: Path) -> None:
    train(config(tmp_path / "a"))
    torch.manual_seed(3)
    random.seed(3)
    train(config(tmp_path / "b"))
    train(config(tmp_path / "c", seed=2))
    assert rows(tmp_path / "a") == rows(tmp_path / "b") != rows(tmp_path / "c")
    models = [(tmp_path / name / "model.safetensors").read_bytes() for name in "abc"]
    assert models[0] == models[1] != models[2]


@pytest.mark.field_case("M04", "T12")
def test_evaluation_does_not_touch_training(tmp_path: Path) -> None:
    watches = [Watch(), Watch()]
    often = config(tmp_path / "a", evaluate_every=100, evaluate_deals=2)
    train(often, [watches[0]])
    train(config(tmp_path / "b"), [watches[1]])
    assert watches[0].observations == watches[1].observations
    found = rows(tmp_path / "a")
    assert all("evaluation" in row for row in found)
    weights = [load_file(tmp_path / name / "model.safetensors") for name in "ab"]
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


@pytest.mark.slow
@pytest.mark.field_case("T04")
@pytest.mark.parametrize("num_envs", [1, 4, 32])
def test_the_model_is_saved_every_so_many_steps_with_any_number_of_games(
    tmp_path: Path, num_envs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []

    def save_and_note(*args: Any, **kwargs: Any) -> Path:
        saved.append(kwargs["entries"]["steps"])
        return save_model(*args, **kwargs)

    monkeypatch.setattr(loop, "save_model", save_and_note)
    train(
        config(tmp_path / "a", num_envs=num_envs, save_every=512, final_deals=0, past_every=10**9)
    )
    assert saved == [512, 1024, 1536, 2048]


@pytest.mark.field_case("T07")
def test_past_selves_are_copies_and_stay_what_they_were(tmp_path: Path) -> None:
    class Pool(BaseCallback):
        def __init__(self) -> None:
            super().__init__()
            self.first: dict[int, dict[str, torch.Tensor]] = {}
            self.networks: dict[int, Any] = {}

        def _on_step(self) -> bool:
            league = self.locals["env"].league
            for number, network in league.networks.items():
                if number not in self.networks:
                    self.networks[number] = network
                    state = network.state_dict()
                    self.first[number] = {key: value.clone() for key, value in state.items()}
            return True

    pool = Pool()
    train(config(tmp_path / "a", opponents={"past": 1.0}), [pool])
    assert len(pool.networks) >= 4
    storages = set()
    for number, network in pool.networks.items():
        for key, value in network.state_dict().items():
            assert torch.equal(value, pool.first[number][key])
            storages.add(value.data_ptr())
    slots = [first["slots"] for first in pool.first.values()]
    assert not any(torch.equal(a, b) for a, b in itertools.pairwise(slots))
    assert len(storages) == len(pool.networks) * len(pool.first[min(pool.first)])


@pytest.mark.slow
def test_it_learns_to_beat_random_and_the_model_file_does_too(tmp_path: Path) -> None:
    changes = {"steps": 80_000, "rollout": 2048, "batch_size": 512, "epochs": 3, "final_deals": 0}
    sizes = {"num_envs": 128, "embedding": 64, "hidden": 32, "learning_rate": 0.003}
    asked = config(tmp_path / "a", **changes, **sizes)
    train(asked)
    agents: dict[str, str | Path] = {"trained": tmp_path / "a", "random": "random"}
    scores = {
        name: play_match(
            agent,
            "random",
            game="attack-defence",
            variant=asked.settings.run.variant,
            deals=300,
            seed=5,
        )
        for name, agent in agents.items()
    }
    assert scores["random"].high < 0.6
    assert scores["trained"].low > 0.7


def test_a_folder_with_anything_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match=f"out='{tmp_path}' is not empty.*another folder"):
        train(config(tmp_path))
    with pytest.raises(ValueError, match=r"notes\.txt' cannot be made"):
        train(config(tmp_path / "notes.txt"))
    with pytest.raises(ValueError, match="nobody"):
        train(config(tmp_path / "new", opponents={"nobody": 1.0}))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("T13")
@pytest.mark.parametrize(
    ("signals", "code", "more"),
    [
        ([signal.SIGINT], 130, []),
        (itertools.repeat(signal.SIGTERM), 143, []),
        (itertools.repeat(signal.SIGINT), 130, ["--steps", "3072", "--final-deals", "1000000"]),
    ],
    ids=["SIGINT", "SIGTERM, on and on", "in an evaluation, on and on"],
)
def test_a_signal_stops_a_run_and_its_model_is_saved(
    tmp_path: Path, signals: Iterable[signal.Signals], code: int, more: list[str]
) -> None:
    """However many come after it, to the last moment of the process."""
    options = ["--game", "attack-defence", "--minimal", "--num-ranks", "3", "--out", "run"]
    options += ["--num-envs", "64", "--rollout", "1024", "--batch-size", "256", "--seed", "1"]
    log, updates = tmp_path / "run" / "log.jsonl", 2 if more else 1
    with subprocess.Popen(
        [*WAR, "train", *options, *more], cwd=tmp_path, stderr=subprocess.PIPE
    ) as process:
        wait_for(
            lambda: (
                (log.exists() and log.read_text().count("\n") >= updates)
                or process.poll() is not None
            ),
            seconds=60,
        )
        for number in signals:
            if process.poll() is not None:
                break
            process.send_signal(number)
            time.sleep(0.002)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    told = err.decode().splitlines()[-1]
    assert told.startswith(f"war: stopped by {signal.Signals(code - 128).name} after ")
    assert b"Traceback" not in err
    variant = TrainConfig(**{**PLAIN, "out": tmp_path}).settings.run.variant
    agent: Any = war_agents.make(tmp_path / "run", game="attack-defence", variant=variant)
    assert agent.card["steps"] >= json.loads(log.read_text().splitlines()[-1])["steps"]


LATE = """
import atexit, os, signal, sys
from war_agents import cli

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

class Interrupted(type(sys.stdout)):
    def write(self, text):
        interrupt()
        return super().write(text)

signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(interrupt)
sys.stdout = Interrupted(open(1, "wb", closefd=False), line_buffering=True)
cli.main()
"""


@pytest.mark.process
@pytest.mark.slow
def test_signals_that_come_when_a_run_is_over_change_nothing(tmp_path: Path) -> None:
    """While its summary is printed, and while the interpreter ends."""
    options = ["--game", "attack-defence", "--minimal", "--num-ranks", "3", "--out", "run"]
    options += ["--num-envs", "32", "--rollout", "1024", "--steps", "1024", "--final-deals", "5"]
    done = subprocess.run(
        [sys.executable, "-c", LATE, "train", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert not {"Traceback", "interrupted", "stopped"} & set(re.findall(r"\w+", done.stderr))
    assert done.stdout.splitlines()[-1].startswith("The model is in ")


def test_a_stop_request_within_another_takes_over_what_came_before() -> None:
    with StopRequest() as outer:
        os.kill(os.getpid(), signal.SIGTERM)
        with StopRequest() as inner:
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
    assert inner.number == outer.number == signal.SIGTERM
