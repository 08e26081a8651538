"""What is promised of speed, measured on an idle machine; it fails where one does not hold.

    python benchmarks/promises.py

Needs the ``train`` extra.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from war_agents.bench import aec, batch
from war_agents.bench.measure import rate
from war_envs import attack_defence_v0
from war_train.bench import train
from war_train.vec_env import SelfPlayVecEnv

_FIRST_STEP = """
import time
from war_envs import strategic_war_v0
env = strategic_war_v0.env()
env.reset(seed=1)
env.step(0)
env.last()
print(time.time())
"""


def main() -> None:
    """Prints a line per promise; the exit code is 1 if one does not hold."""
    kept = True
    for name, value, low, high in _promises():
        holds = low <= value <= high
        kept &= holds
        print(f"{name}: {value:.3g}, promised {low:g} to {high:g}{'' if holds else '  FAILS'}")
    sys.exit(not kept)


def _promises() -> Iterator[tuple[str, float, float, float]]:
    with tempfile.TemporaryDirectory() as cache:
        yield "seconds to the first step that compiles", _first_step(Path(cache)), 0, 10
    _first_step()  # whatever has to be compiled still
    yield "seconds to the first step later", min(_first_step() for _ in range(3)), 0, 1.5
    (many,) = batch.measurements("attack-defence", "tokens", 0.5, variant="minimal")
    one = aec.RandomGames(attack_defence_v0.raw_env(minimal=True))
    yield "a batch over the environment", many.median / rate(one.work, 0.5), 20, np.inf
    for rows in (16, 256):
        yield from _masks(rows)
    found = {each.name: each.median for each in train.run(clock=time.process_time)}
    yield "training over its ceiling", found["train/share-of-ceiling"], 0.8, np.inf


def _first_step(cache: Path | None = None) -> float:
    """Seconds from the start of a process to its first step."""
    env = os.environ | ({} if cache is None else {"NUMBA_CACHE_DIR": str(cache)})
    start = time.time()
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_STEP], env=env, stdout=subprocess.PIPE, check=True
    )
    return float(done.stdout) - start


def _masks(rows: int) -> Iterator[tuple[str, float, float, float]]:
    """What masks cost beside a step of self-play."""
    venv = SelfPlayVecEnv("attack-defence", rows, opponents={"random": 1.0}, seed=1)
    venv.reset()
    attack = np.zeros(rows, np.int64)

    def seconds(masks: Callable[[], object]) -> float:
        begun = time.process_time()
        for _ in range(60):
            venv.step(attack)
            masks()
        return time.process_time() - begun

    ways: dict[str, Callable[[], object]] = {
        "none": lambda: None,
        "array": venv.action_masks,
        "sb3": lambda: np.stack(venv.env_method("action_masks")),
    }
    taken = {name: min(seconds(way) for _ in range(7)) for name, way in ways.items()}
    for name in ("array", "sb3"):
        yield (
            f"steps with masks ({name}, {rows} rows) over without",
            taken[name] / taken["none"],
            0,
            1.5,
        )


if __name__ == "__main__":
    main()
