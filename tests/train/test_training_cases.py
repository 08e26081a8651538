"""Training cases from the field: another number of games, games without end, absent packages."""

import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.support.installs import Install
from tests.support.players import fixed
from tests.support.runs import PLAIN
from war_agents.arena import play_match, run_tournament
from war_agents.models.model_card import read_card
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.policy import TorchPolicy
from war_envs.variant import make_variant
from war_train.config import TrainConfig
from war_train.ppo.training import resume, train
from war_train.run.evaluation import evaluate
from war_train.run.state import STATE_FILE
from war_train.run.stopping import TrainingStoppedError

SMALL: dict[str, Any] = {**PLAIN, "final_deals": 5}


def config(folder: Path, **changes: Any) -> TrainConfig:
    return TrainConfig(**{**SMALL, "out": folder, **changes})


def files(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


# T10: another number of games at once


class Stop(BaseCallback):
    """Interrupts the run in its third update."""

    def _on_step(self) -> bool:
        if self.num_timesteps > 1024:
            os.kill(os.getpid(), signal.SIGINT)
        return True


class Sizes(BaseCallback):
    """Notes how many games a step plays, and after how many steps an update comes."""

    def __init__(self) -> None:
        super().__init__()
        self.games: set[int] = set()
        self.updates: list[int] = []

    def _on_rollout_end(self) -> None:
        self.updates.append(self.num_timesteps)

    def _on_step(self) -> bool:
        self.games.add(len(self.locals["dones"]))
        return True


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 32 games at once that was interrupted."""
    folder = tmp_path_factory.mktemp("runs") / "a"
    with pytest.raises(TrainingStoppedError):
        train(config(folder), [Stop()])
    return folder


@pytest.mark.field_case("T10")
@pytest.mark.parametrize("number", [16, 64, 512])
def test_a_run_does_not_go_on_with_another_number_of_games(
    tmp_path: Path, stopped: Path, number: int
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, "num_envs": number}))
    before = files(tmp_path)
    with pytest.raises(ValueError, match=rf"\b32\b.*\b{number}\b|\b{number}\b.*\b32\b") as error:
        resume(folder, progress=False)
    assert "\n" not in str(error.value)
    assert files(tmp_path) == before


@pytest.mark.field_case("T10")
def test_the_state_of_a_run_of_another_size_is_refused(tmp_path: Path, stopped: Path) -> None:
    other, folder = tmp_path / "other", tmp_path / "run"
    with pytest.raises(TrainingStoppedError):
        train(config(other, num_envs=64), [Stop()])
    shutil.copytree(stopped, folder)
    shutil.copyfile(other / STATE_FILE, folder / STATE_FILE)
    before = files(tmp_path)
    with pytest.raises(ValueError, match=r"state\.safetensors.*num_envs is 32.*64") as error:
        resume(folder, progress=False)
    assert "\n" not in str(error.value)
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_envs", 64),
        ("rollout", 1024),
        ("memory", "table"),
        # As many as before, but other agents under the numbers of the games that go on.
        ("opponents", {"attack": 0.5, "self": 0.3, "past": 0.1, "defend": 0.1}),
    ],
)
def test_a_run_goes_on_with_its_own_settings_only_and_names_those_that_differ(
    tmp_path: Path, stopped: Path, name: str, value: object
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(stopped, folder)
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**settings, name: value}))
    before = files(tmp_path)
    with pytest.raises(ValueError, match=name) as error:
        resume(folder, progress=False)
    assert "\n" not in str(error.value)
    assert files(tmp_path) == before


@pytest.mark.field_case("T10")
@pytest.mark.parametrize("sizes", [(16, 256), (32, 512), (128, 1024)])
def test_the_sizes_that_a_run_reports_are_those_it_uses_before_and_after_a_break(
    tmp_path: Path, sizes: tuple[int, int]
) -> None:
    num_envs, rollout = sizes
    before, after = Sizes(), Sizes()
    with pytest.raises(TrainingStoppedError):
        train(config(tmp_path / "a", num_envs=num_envs, rollout=rollout), [before, Stop()])
    file = resume(tmp_path / "a", [after], progress=False)
    assert before.games == after.games == {num_envs}
    written = json.loads((tmp_path / "a" / "config.json").read_text())
    for reported in (written, read_card(file).entries["config"]):
        assert (reported["num_envs"], reported["rollout"]) == sizes
    assert [row["steps"] for row in rows(tmp_path / "a")] == list(range(rollout, 2049, rollout))
    assert before.updates + after.updates == list(range(rollout, 2049, rollout))


# T14: games that never end

ENDLESS = make_variant("attack-defence", "minimal+fair", num_ranks=3)  # if both always attack


@pytest.fixture
def a_minute() -> Iterator[None]:
    """What has not returned after a minute never will."""

    def expire(*_: object) -> None:
        raise TimeoutError("a minute has gone by")

    before = signal.signal(signal.SIGALRM, expire)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def always_attacks(network: CardNetwork) -> None:
    """Gives a network the same logits everywhere, by which the first action is certain."""
    last = network.policy[-1]
    assert isinstance(last, torch.nn.Linear)
    with torch.no_grad():
        last.weight.zero_()
        last.bias.copy_(torch.tensor([50.0, -50.0]))


@pytest.mark.field_case("T14")
@pytest.mark.usefixtures("a_minute")
def test_a_match_of_games_without_end_returns_and_says_so() -> None:
    a, b = fixed("a", 0), fixed("b", 0)
    result = play_match(a, b, game=ENDLESS.game, variant=ENDLESS, deals=20, seed=1)
    assert result.truncated.all()
    assert (result.lengths == ENDLESS.max_turns).all()
    assert (result.wins, result.draws, result.losses) == (0, 40, 0)
    assert result.score == 0.5
    # Strategic War goes on for long if both always take the bottom card.
    war = play_match(fixed("a", 1), fixed("b", 1), game="strategic-war", deals=20, seed=1)
    assert 0 < war.truncated.sum() < war.games
    assert not war.results[war.truncated].any()
    assert war.draws >= war.truncated.sum()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.field_case("T14")
@pytest.mark.usefixtures("a_minute")
def test_a_tournament_of_games_without_end_returns_and_counts_them_as_draws(tmp_path: Path) -> None:
    result = run_tournament(
        [fixed("a", 0), fixed("b", 0)],
        game=ENDLESS.game,
        variant=ENDLESS,
        deals=20,
        seed=1,
        out=tmp_path,
    )
    (pair,) = result.pairs
    assert (pair.wins, pair.draws, pair.losses, pair.score) == (0, 40, 0, 0.5)
    (written,) = json.loads((tmp_path / "results.json").read_text())["pairs"]
    assert (written["wins"], written["draws"], written["losses"]) == (0, 40, 0)
    assert "games cut off at the turn limit are draws" in (tmp_path / "report.md").read_text()


@pytest.mark.field_case("T14")
@pytest.mark.usefixtures("a_minute")
@pytest.mark.parametrize("deterministic", [False, True])
def test_the_evaluation_of_constant_logits_returns(deterministic: bool) -> None:
    network = CardNetwork(ENDLESS, NetworkShape(16, 8))
    network.initialise(torch.Generator().manual_seed(1))
    always_attacks(network)
    policy = TorchPolicy(network, name="constant", deterministic=deterministic)
    scores = evaluate(policy, [ENDLESS], ["attack"], deals=10, seed=1)
    assert scores["attack"]["score"] == 0.5  # not one of these games has a winner
    assert scores["attack"]["deals"] == 10


class Constant(BaseCallback):
    """Makes the learner always attack, and notes how games end."""

    def __init__(self) -> None:
        super().__init__()
        self.truncated: list[bool] = []

    def _on_training_start(self) -> None:
        network = self.model.policy.network
        assert isinstance(network, CardNetwork)
        always_attacks(network)

    def _on_step(self) -> bool:
        self.truncated += [i["TimeLimit.truncated"] for i in self.locals["infos"] if "episode" in i]
        return True


@pytest.mark.field_case("T14")
@pytest.mark.usefixtures("a_minute")
def test_a_run_whose_policy_never_ends_a_game_does_end(tmp_path: Path) -> None:
    endings = Constant()
    settings = {"fair": True, "learning_rate": 0.0, "opponents": {"attack": 1.0}}
    sizes = {"num_envs": 16, "steps": 8192, "evaluate_every": 4096, "evaluate_deals": 5}
    file = train(config(tmp_path / "a", **settings, **sizes), [endings])
    assert len(endings.truncated) == 2 * 16
    assert all(endings.truncated)
    played = [row for row in rows(tmp_path / "a") if row["games"]]
    assert sum(row["games"]["attack"] for row in played) == len(endings.truncated)
    assert {row["score"]["attack"] for row in played} == {0.5}
    evaluations = read_card(file).entries["evaluations"]
    assert [found["steps"] for found in evaluations] == [4096, 8192]
    assert {found["scores"]["attack"]["score"] for found in evaluations} == {0.5}


# T15: what shows and records progress

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
EXTRA = [
    requirement.split(">")[0].replace("-", "_")
    for requirement in PROJECT["optional-dependencies"]["train"]
]
FLAGS = ("--game", "attack-defence", "--minimal", "--num-ranks", "3", "--out", "run")


def hint(process: "subprocess.Popen[str]") -> str:
    """The one line with which a command ends that lacks a package."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert not out
    assert err.count("\n") == 1
    assert err.startswith("war: training needs ")
    assert err.endswith(' is missing: pip install "war-envs[train]"\n')
    return err


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Install:
    """Without the extra ``train``."""
    return Install(tmp_path_factory.mktemp("base"), EXTRA)


@pytest.mark.process
@pytest.mark.field_case("T15")
def test_a_base_install_says_what_training_needs_before_anything_is_written(
    tmp_path: Path, base: Install, stopped: Path
) -> None:
    shutil.copytree(stopped, tmp_path / "stopped")
    before = files(tmp_path)
    hint(base.war("train", *FLAGS, cwd=tmp_path))
    hint(base.war("train", "--resume", "stopped", cwd=tmp_path))
    program = "try: import war_train.ppo.training\nexcept ImportError as error: print(error)"
    out, err = base.python(program, cwd=tmp_path).communicate(timeout=60)
    assert 'pip install "war-envs[train]"' in out
    assert out.count("\n") == 1
    assert not err
    assert files(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["stopped"]


@pytest.mark.process
@pytest.mark.field_case("T15")
@pytest.mark.parametrize("package", EXTRA)
def test_every_package_of_the_extra_is_missed_by_name(tmp_path: Path, package: str) -> None:
    links, home = tmp_path / "links", tmp_path / "home"
    links.mkdir()
    home.mkdir()
    assert f" {package}, " in hint(Install(links, [package]).war("train", *FLAGS, cwd=home))
    assert not list(home.iterdir())


def shown_on(terminal: int) -> str:
    """All that is written to a terminal until nobody has it open any more."""
    shown = b""
    with contextlib.suppress(OSError):  # how Linux tells that the other side is closed
        while data := os.read(terminal, 4096):
            shown += data
    os.close(terminal)
    return shown.decode()


@pytest.mark.process
@pytest.mark.field_case("T15")
def test_with_the_extra_the_bar_and_tensorboard_work_by_default(tmp_path: Path) -> None:
    """In a terminal, and without the package that SB3's own progress bar needs."""
    (tmp_path / "links").mkdir()
    terminal, theirs = pty.openpty()
    flags = (*FLAGS, "--steps", "16384", "--final-deals", "5")
    process = Install(tmp_path / "links", ["tqdm"]).war(
        "train", *flags, cwd=tmp_path, stderr=theirs
    )
    os.close(theirs)
    shown = shown_on(terminal)
    process.communicate(timeout=60)
    assert process.returncode == 0, shown
    assert "training" in shown
    assert "100%" in shown
    board = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    board.Reload()
    log = rows(tmp_path / "run")
    assert [row["steps"] for row in log] == [8192, 16384]
    for figure in ("entropy", "learning_rate", "steps_per_second"):
        recorded = [(event.step, event.value) for event in board.Scalars(figure)]
        assert recorded == [(row["steps"], pytest.approx(row[figure])) for row in log]
    assert board.Scalars("evaluation/memory/score")
