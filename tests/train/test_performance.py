"""Threads, devices, masks and memory of training and of trained agents."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from tests.support.memory import SLACK, grown
from tests.support.processes import run
from tests.support.runs import config
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.policy import load_policy
from war_agents.networks.save import save_model
from war_envs.batch import make_batch
from war_envs.variant import GAMES, make_variant
from war_train.ppo.training import train
from war_train.vec_env import SelfPlayVecEnv

BOTH = pytest.mark.parametrize("game", GAMES)
VARIANT = make_variant("attack-defence", "minimal")
HAS_PROC = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="/proc counts the threads"
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The folder of a model as large as those of ``war train``."""
    network = CardNetwork(VARIANT, NetworkShape())
    network.initialise(torch.Generator().manual_seed(1))
    folder = tmp_path / "model"
    folder.mkdir()
    save_model(folder, network, VARIANT)
    return folder


class Watch(BaseCallback):
    """Calls a function with itself at every step."""

    def __init__(self, look: Callable[["Watch"], object]) -> None:
        super().__init__()
        self._look = look

    def _on_step(self) -> bool:
        self._look(self)
        return True


# --- threads ---


@pytest.mark.slow
@pytest.mark.field_case("F01")
@pytest.mark.parametrize("given", [None, 2])
def test_training_uses_the_threads_it_is_told_one_by_default_and_sets_them_back(
    tmp_path: Path, given: int | None
) -> None:
    settings: dict[str, Any] = {"steps": 512} | ({} if given is None else {"threads": given})
    seen: set[int] = set()
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        train(
            config(tmp_path / "a", **settings), [Watch(lambda _: seen.add(torch.get_num_threads()))]
        )
        assert torch.get_num_threads() == 3

        def fail(_: Watch) -> None:
            raise KeyError("on purpose")

        with pytest.raises(KeyError, match="on purpose"):
            train(config(tmp_path / "b", **settings), [Watch(fail)])
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert seen == {1 if given is None else given}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("F01")
@pytest.mark.parametrize("threads", [None, "3"])
def test_an_import_leaves_the_number_of_threads_alone(threads: str | None) -> None:
    code = """
import os, torch
before = dict(os.environ), torch.get_num_threads()
import war_agents.networks.policy, war_train.ppo.training
assert (dict(os.environ), torch.get_num_threads()) == before
"""
    run("-c", code, env={"OMP_NUM_THREADS": threads})


SHORT_RUN = """
from war_train.config import TrainConfig
from war_train.ppo.training import train

def short_run(out):
    train(TrainConfig(
        game="attack-defence", minimal=True, num_ranks=3, steps=1024, num_envs=32, rollout=512,
        batch_size=128, evaluate_every=0, final_deals=20, progress=False, out=out,
    ))
"""
THREADS = """
import sys
from pathlib import Path
import scipy.linalg  # whose BLAS has threads of its own
import torch
from war_agents import make
from war_agents.arena import run_tournament

def threads():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Threads:"))

def play():
    run_tournament(["random", sys.argv[1]], game="attack-defence", variant="minimal", deals=100,
                   seed=1)

"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("F01")
@HAS_PROC
@pytest.mark.parametrize("given", [None, "2"])
def test_a_model_plays_on_one_thread_wherever_it_is_loaded(
    model: Path, tmp_path: Path, given: str | None
) -> None:
    """So that many processes with a model each do not start a thread a core each."""
    code = f"""{THREADS}{SHORT_RUN}
before = threads(), torch.get_num_threads()
agent = make(sys.argv[1], game="attack-defence", variant="minimal")
for _ in range(2):
    play()
    assert (threads(), torch.get_num_threads()) == before, (threads(), before)
short_run(Path(sys.argv[2]) / "run")
assert (threads(), torch.get_num_threads()) == before, (threads(), before)
"""
    run("-c", code, str(model), str(tmp_path), env={"OMP_NUM_THREADS": given})


@pytest.mark.field_case("F01")
def test_a_model_leaves_the_process_setting_as_it_was(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    agent = load_policy(model / "model.safetensors", VARIANT)
    batch = make_batch("attack-defence", 10, VARIANT)
    batch.reset(1)
    positions = batch.observe(np.arange(10), np.zeros(10, int))
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        agent.act(*positions, np.arange(10, dtype=np.uint64))
        assert torch.get_num_threads() == 3
        with pytest.raises(ValueError, match="no legal action"):
            agent.act(positions[0], positions[1] * 0, np.arange(10, dtype=np.uint64))
        with pytest.raises(ValueError, match="uint8"):
            agent.act(positions[0].astype(float), positions[1], np.arange(10, dtype=np.uint64))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


# --- devices ---


@pytest.mark.field_case("F03", "K06", "Z01")
def test_training_stays_on_the_cpu_where_there_is_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also without one: torch is made to promise it, and whoever takes it at its word fails."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    devices = set()

    def look(watch: Watch) -> None:
        devices.add(watch.model.device.type)
        devices.update(parameter.device.type for parameter in watch.model.policy.parameters())

    train(config(tmp_path / "a"), [Watch(look)])
    assert devices == {"cpu"}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("Z01")
def test_nothing_touches_cuda_so_that_workers_may_be_forked(model: Path, tmp_path: Path) -> None:
    code = f"""
import signal
import sys
import warnings
from pathlib import Path
import gymnasium
import numpy as np
import torch
torch.cuda.is_available = lambda: True  # on a machine without a GPU, whoever wants one fails
import war_agents.arena, war_envs.batch
from gymnasium.vector import AsyncVectorEnv
{SHORT_RUN}
short_run(Path(sys.argv[2]) / "run")
war_agents.arena.play_match(
    sys.argv[1], "memory", game="attack-defence", variant="minimal", deals=20, seed=1
)
assert not torch.cuda.is_initialized()
# The user's own work, on a thread a core: a fork copies none of them, and whoever waits for them
# there waits for ever.
torch.randn(3_000_000).relu()
warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of just that

def make():
    signal.alarm(60)
    return gymnasium.make("war_envs/AttackDefence-Minimal-v0", opponent=sys.argv[1])

venv = AsyncVectorEnv([make] * 2, context="fork")
venv.reset(seed=1)
for _ in range(20):
    venv.step_async(np.zeros(2, np.int64))
    venv.step_wait(timeout=60)
venv.close()
print("fine")
"""
    done = run("-c", code, str(model), str(tmp_path), env={"OMP_NUM_THREADS": None})
    assert done.stdout == "fine\n"


# --- masks ---


class Counting(SelfPlayVecEnv):
    """Counts what it is asked."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.asked = {"steps": 0, "action_masks": 0, "env_method": 0, "get_attr": 0}
        super().__init__(*args, **kwargs)

    def step_wait(self) -> Any:
        self.asked["steps"] += 1
        return super().step_wait()

    def action_masks(self) -> Any:
        self.asked["action_masks"] += 1
        return super().action_masks()

    def env_method(self, *args: Any, **kwargs: Any) -> list[Any]:
        self.asked["env_method"] += 1
        return super().env_method(*args, **kwargs)

    def get_attr(self, *args: Any, **kwargs: Any) -> list[Any]:
        self.asked["get_attr"] += 1
        return super().get_attr(*args, **kwargs)


@pytest.mark.field_case("F02")
def test_masks_are_asked_for_once_a_step_and_not_once_a_row() -> None:
    counts = []
    for updates in (1, 3):
        venv = Counting("strategic-war", 16, opponents={"random": 1.0}, seed=1, num_ranks=5)
        model = MaskablePPO("MlpPolicy", venv, n_steps=8, batch_size=64, n_epochs=1, device="cpu")
        model.learn(updates * 8 * 16)
        counts.append(venv.asked)
    for asked, steps in zip(counts, (8, 24), strict=True):
        assert asked["steps"] == asked["env_method"] == asked["action_masks"] == steps
    # Whether there are masks at all, at the start and once an update.
    assert [asked["get_attr"] for asked in counts] == [2, 4]


@pytest.mark.field_case("F02")
def test_the_trainer_takes_masks_as_they_are(tmp_path: Path) -> None:
    asked: dict[str, int] = {}
    settings = config(tmp_path / "a", steps=1024)
    watch = Watch(lambda watch: asked.update(watch.training_env.asked))  # type: ignore[attr-defined]
    train(settings, [watch], make_env=Counting)
    assert asked["steps"] == asked["action_masks"] == 1024 // settings.num_envs
    assert asked["env_method"] == 0


# --- memory ---


@pytest.mark.slow
@pytest.mark.field_case("F04")
@BOTH
def test_steps_of_self_play_leave_nothing(game: str) -> None:
    venv = SelfPlayVecEnv(
        game, 64, opponents={"random": 1.0, "memory": 1.0}, seed=1, minimal=True, num_ranks=3
    )
    venv.reset()
    rng = np.random.default_rng(1)

    def work() -> None:
        for _ in range(20):
            mask = venv.action_masks()
            venv.step((rng.random(mask.shape) * mask).argmax(axis=1))
        venv.reset()

    assert grown(work, warm=8, times=10) < SLACK


@pytest.mark.field_case("F04")
def test_a_model_that_is_asked_again_and_again_keeps_nothing(model: Path) -> None:
    agent = load_policy(model / "model.safetensors", VARIANT)
    batch = make_batch("attack-defence", 50, VARIANT)
    batch.reset(1)
    observation, mask = batch.observe(np.arange(50), np.arange(50) % 2)
    seeds = np.arange(50, dtype=np.uint64)
    assert grown(lambda: agent.act(observation, mask, seeds), warm=20, times=400) < SLACK
