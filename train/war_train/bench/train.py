"""Self-play training at its default settings, and what it would reach if games cost nothing.

Needs the extra ``train``.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from war_agents.bench.measure import REPEATS, Clock, Measurement
from war_train.bench.recorded import RecordedVecEnv  # first: without the extra it says so
from war_train.config import TrainConfig
from war_train.ppo import train
from war_train.run.games import MakeEnv
from war_train.vec_env import SelfPlayVecEnv

# isort: split
from stable_baselines3.common.callbacks import BaseCallback

_LEARNER: Final = (
    "learner decisions of war train at its default settings, {settings}: rollouts with the "
    "network's choices, opponents' choices, and updates; without evaluations, the first rollout, "
    "start and end"
)
_CEILING: Final = (
    "the same learner on an environment that hands out observations, masks, rewards and ends "
    "recorded beforehand, and asks the same opponents about recorded positions"
)


def run(
    seconds: float = 15.0,
    *,
    repeats: int = REPEATS,
    game: str = "attack-defence",
    clock: Clock = time.perf_counter,
) -> Iterator[Measurement]:
    """``train/self-play``, ``train/ceiling`` and the share of the second that the first reaches."""
    rates: dict[str, list[float]] = {"self-play": [], "ceiling": []}
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(repeats):  # in turn, so that a slow moment of the machine meets both
            share = seconds / repeats
            config = short_run(game, Path(folder) / f"self-play-{repeat}")
            rates["self-play"].append(decisions_per_second(config, share, clock))
            config = short_run(game, Path(folder) / f"ceiling-{repeat}")
            rates["ceiling"].append(decisions_per_second(config, share, clock, RecordedVecEnv))
    run, ppo = config.settings.run, config.settings.ppo
    opponents = " ".join(
        f"{name} {share:g}" for name, share in config.settings.league.opponents.items()
    )
    settings = (
        f"rollouts of {ppo.rollout}, {ppo.epochs} epochs in minibatches of "
        f"{ppo.batch_size}, opponents {opponents}"
    )
    common: dict[str, Any] = {
        "game": game,
        "variant": run.variant.name,
        "batch": ppo.num_envs,
        "threads": run.threads,
    }
    for name, values in rates.items():
        includes = _LEARNER.format(settings=settings) if name == "self-play" else _CEILING
        yield Measurement.of(
            values, **common, name=f"train/{name}", unit="decisions/s", includes=includes
        )
    yield Measurement.of(
        [own / most for own, most in zip(rates["self-play"], rates["ceiling"], strict=True)],
        **common,
        name="train/share-of-ceiling",
        unit="of the ceiling",
        includes="train/self-play over train/ceiling, measured in turn",
    )


def short_run(game: str, out: Path, **options: Any) -> TrainConfig:
    """The default settings but for ``options``, without evaluations."""
    options = {"seed": 1, "evaluate_every": 0, "final_deals": 0, "progress": False} | options
    return TrainConfig(game=game, out=out, **options)  # type: ignore[arg-type]


class _Watch(BaseCallback):
    """Notes when rollouts start, and ends the run with the last one that is wanted."""

    def __init__(self, seconds: float, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._seconds = seconds
        self.marks: list[tuple[float, int]] = []

    def _on_rollout_start(self) -> None:
        self.marks.append((self._clock(), self.num_timesteps))

    def _on_step(self) -> bool:
        # The first rollout and its update are no part of it, so there are two at least.
        return len(self.marks) < 3 or self.marks[-1][0] - self.marks[1][0] < self._seconds


def decisions_per_second(
    config: TrainConfig,
    seconds: float,
    clock: Clock,
    make_env: MakeEnv = SelfPlayVecEnv,
) -> float:
    """Learner decisions per second of a run that is stopped after about ``seconds``."""
    watch = _Watch(seconds, clock)
    train(config, [watch], make_env=make_env)
    (begun, first), (ended, last) = watch.marks[1], watch.marks[-1]
    return (last - first) / (ended - begun)
