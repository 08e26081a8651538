"""Environments in worker processes, made from an id alone: run by the tests beside it.

python workers.py spawn|forkserver|fork async|sb3
"""

import sys
from typing import Any

import gymnasium
import numpy as np

ID = "war_envs:war_envs/AttackDefence-Minimal-OpenCard-v0"  # an open deal is its observation
OPTIONS: dict[str, Any] = {"num_ranks": 7, "opponent": "attack", "encoding": "tokens", "seat": 1}


def make() -> Any:
    """One environment; nothing here imports the package that registers it."""
    return gymnasium.make(ID, **OPTIONS)


def different(observations: Any) -> None:
    """Every lane has a deal of its own."""
    assert len({row.tobytes() for row in observations}) == len(observations)


def with_gymnasium(method: str) -> None:
    """Gymnasium's vector environment."""
    from gymnasium.vector import AsyncVectorEnv, AutoresetMode

    venv = AsyncVectorEnv(
        [make] * 2, context=method, autoreset_mode=AutoresetMode.SAME_STEP, shared_memory=True
    )
    first, _ = venv.reset(seed=3)
    different(first)
    unseeded, _ = venv.reset()
    different(unseeded)
    assert venv.get_attr("variant")[0].num_ranks == 7
    again, _ = venv.reset(seed=3)
    assert (again == first).all()
    alone = make()
    for lane, row in enumerate(first):
        assert (alone.reset(seed=3 + lane)[0] == row).all()
    ends = 0
    for _ in range(300):
        *_, infos = venv.step(np.zeros(2, np.int64))
        ends += int(infos.get("_final_obs", np.zeros(1)).sum())
    assert ends > 0
    venv.close()


def with_sb3(method: str) -> None:
    """Stable-Baselines3's, with the global generator seeded alike everywhere."""
    from stable_baselines3.common.vec_env import SubprocVecEnv

    np.random.seed(0)  # noqa: NPY002 (it must not decide the deals)
    venv = SubprocVecEnv([make] * 2, start_method=method)
    different(venv.reset())
    venv.seed(3)
    seeded = venv.reset()
    different(seeded)
    alone = make()
    assert all((alone.reset(seed=3 + lane)[0] == row).all() for lane, row in enumerate(seeded))
    assert venv.has_attr("action_masks")
    for _ in range(60):
        masks = np.stack(venv.env_method("action_masks"))
        assert masks.dtype == np.int8
        venv.step(np.zeros(2, np.int64))
    venv.close()


if __name__ == "__main__":
    {"async": with_gymnasium, "sb3": with_sb3}[sys.argv[2]](sys.argv[1])
    assert "war_envs" in sys.modules or sys.argv[1] != "fork"
    print("fine")
