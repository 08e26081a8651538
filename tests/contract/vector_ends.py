"""Vector environments that are made over and over, or left open: run by the tests beside it.

python vector_ends.py loop FILE | raise
"""

import gc
import multiprocessing
import os
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

ID = "war_envs:war_envs/AttackDefence-Minimal-v0"
LOOPS = 15


class CloseCounter(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Adds a byte to a file whenever it is closed, in whatever process."""

    def __init__(self, env: Any, file: Path) -> None:
        super().__init__(env)
        self._file = file

    def close(self) -> None:
        with self._file.open("ab") as file:
            file.write(b".")
        super().close()


def make() -> Any:
    return gymnasium.make(ID, num_ranks=3)


def held() -> tuple[int, int, int]:
    """Open files, memory maps and child processes of this process."""
    gc.collect()
    files = len(os.listdir("/proc/self/fd"))
    maps = len(Path("/proc/self/maps").read_text().splitlines())
    return files, maps, len(multiprocessing.active_children())


def loop(file: Path) -> None:
    """Makes, plays and closes workers; what the process holds must stay the same."""
    from gymnasium.vector import AsyncVectorEnv

    env = make()
    env.reset(seed=1)
    env.step(0)  # forked workers have the compiled kernels now
    counts = []
    for _ in range(LOOPS):
        venv = AsyncVectorEnv([lambda: CloseCounter(make(), file)] * 4, context="fork")
        venv.reset(seed=1)
        for _ in range(5):
            venv.step(np.zeros(4, np.int64))
        venv.close()
        venv.close()
        del venv
        counts.append(held())
    files, maps, children = zip(*counts, strict=True)
    assert set(children) == {0}, counts
    assert len(set(files[1:])) == 1, counts  # the first ones open what stays
    assert max(maps[5:]) - min(maps[5:]) <= 4, counts
    # Four in workers, and the one that Gymnasium makes to learn the spaces; each of them once.
    assert file.stat().st_size == 5 * LOOPS
    print("fine")


def leave_open() -> None:
    """Fails with everything open that holds threads or processes."""
    from gymnasium.vector import AsyncVectorEnv

    from war_envs import batch

    workers = [AsyncVectorEnv([make] * 2, context=method) for method in ("fork", "forkserver")]
    for venv in workers:
        venv.reset(seed=1)
    workers[0].step_async(np.zeros(2, np.int64))
    native: Any = gymnasium.make_vec(ID, num_envs=4)
    native.reset(seed=1)
    games = batch.make_batch("attack-defence", 2 * batch.LEAST_ROWS["step"], num_threads=2)
    games.reset(seed=1)
    games.step(np.zeros((games.num_games, 2), np.int64))
    raise OSError("on purpose")


if __name__ == "__main__":
    if sys.argv[1] == "loop":
        loop(Path(sys.argv[2]))
    else:
        leave_open()
