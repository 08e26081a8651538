"""What each change to the learner buys: self-play as it is, with one thing undone at a time.

    python benchmarks/learner.py > learner.jsonl

Needs the ``train`` extra.
"""

import contextlib
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from unittest import mock

import torch
from sb3_contrib import MaskablePPO
from torch import Tensor
from torch.nn import functional

from war_agents.bench import report
from war_agents.bench.measure import REPEATS, Measurement
from war_train.bench.train import decisions_per_second, short_run
from war_train.league.config import OPPONENTS
from war_train.vec_env import SelfPlayVecEnv

SECONDS = 1.0  # a repeat
GAME = "attack-defence"

_STABLE_BASELINES: Final = (
    "sb3-contrib's MaskablePPO and MlpPolicy on vector observations, with two layers of 128 units; "
    "games, rollouts, minibatches and passes as in war train; opponents memory and random only"
)

Setting = contextlib.AbstractContextManager[Any]


def main() -> None:
    """Measures and prints."""
    report.print_lines(_measurements())


def _measurements() -> Iterator[Measurement]:
    measured: dict[str, tuple[str, Callable[[], float]]] = {
        "default": ("war train at its default settings", _self_play),
        "games-64": ("64 games at once", lambda: _self_play(num_envs=64)),
        "minibatch-64": ("minibatches of 64, as SB3 has it", lambda: _self_play(batch_size=64)),
        "epochs-1": ("one pass over each rollout", lambda: _self_play(epochs=1)),
        "epochs-10": ("ten passes, as SB3 has it", lambda: _self_play(epochs=10)),
        "units-256": ("a first layer of 256 units", lambda: _self_play(embedding=256)),
        "float32": ("matrix products in float32", lambda: _self_play(_float32)),
        "adam-loops": ("Adam that is not fused", lambda: _self_play(_plain_adam)),
        "torch-bags": (
            "the sum of a position's cards, and its gradient, by torch's embedding_bag",
            lambda: _self_play(_torch_bags),
        ),
        "sb3": (_STABLE_BASELINES, lambda: _stable_baselines(batch_size=1024, n_epochs=3)),
        "sb3-default": ("the same with SB3's minibatches of 64 and ten passes", _stable_baselines),
    }
    rates: dict[str, list[float]] = {name: [] for name in measured}
    for _ in range(REPEATS):  # in turn, so that a slow moment of the machine meets them all
        for name, (_, measure) in measured.items():
            rates[name].append(measure())
    for name, (includes, _) in measured.items():
        yield Measurement.of(
            rates[name],
            name=f"learner/{name}",
            game=GAME,
            variant="standard",
            batch=64 if name == "games-64" else short_run(GAME, Path()).num_envs,
            threads=1,
            unit="decisions/s",
            includes=includes,
        )


def _self_play(setting: Callable[[], Setting] = contextlib.nullcontext, **options: Any) -> float:
    with tempfile.TemporaryDirectory() as folder, setting():
        config = short_run(GAME, Path(folder) / "run", **options)
        return decisions_per_second(config, SECONDS, time.perf_counter)


def _float32() -> Setting:
    return mock.patch("torch.set_float32_matmul_precision")


def _plain_adam() -> Setting:
    original = torch.optim.Adam.__init__

    def start(self: torch.optim.Adam, parameters: Any, **options: Any) -> None:
        original(self, parameters, **options | {"fused": False, "foreach": False})

    return mock.patch.object(torch.optim.Adam, "__init__", start)


def _torch_bags() -> Setting:
    def sums(rows: Tensor, table: Tensor) -> Tensor:
        return functional.embedding_bag(rows, table, mode="sum", padding_idx=0)

    return mock.patch("war_agents.networks.card_network.row_sums", sums)


def _stable_baselines(batch_size: int = 64, n_epochs: int = 10) -> float:
    """Decisions a second of sb3-contrib's own learner and policy, after one rollout and update."""
    torch.set_num_threads(1)
    config = short_run(GAME, Path())
    shares = {name: share for name, share in OPPONENTS.items() if name in ("memory", "random")}
    total = sum(shares.values())
    envs = SelfPlayVecEnv(
        GAME,
        config.num_envs,
        opponents={name: share / total for name, share in shares.items()},
        encoding="vector",
        seed=1,
    )
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=config.rollout // config.num_envs,
        batch_size=batch_size,
        n_epochs=n_epochs,
        policy_kwargs={"net_arch": [128, 128]},
        device="cpu",
    )
    model.learn(config.rollout)
    begun, decisions = time.perf_counter(), 0
    while not decisions or time.perf_counter() - begun < SECONDS:
        model.learn(config.rollout, reset_num_timesteps=False)
        decisions += config.rollout
    return decisions / (time.perf_counter() - begun)


if __name__ == "__main__":
    main()
