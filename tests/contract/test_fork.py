"""Models play in processes that were forked from one in which torch has started threads."""

import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import sys

import gymnasium
import numpy as np
import torch
from stable_baselines3.common.vec_env import SubprocVecEnv

import war_envs
from war_agents import make
from war_envs.batch import make_batch

NUMBER = 2000


def play(agent):
    batch = make_batch("attack-defence", NUMBER)
    batch.reset(seed=1)
    observation, mask = batch.observe(np.arange(NUMBER), np.zeros(NUMBER, int))
    agent.act(observation, mask, np.arange(NUMBER, dtype=np.uint64))


def env():
    play(make("champion", game="attack-defence"))  # of as many positions as threads would share
    return gymnasium.make("war_envs/AttackDefence-v0", opponent="champion")


first = env()  # as one looks at its spaces
first.reset(seed=1)
first.step(0)
if sys.argv[1] == "threads":
    assert torch.get_num_threads() > 1
    torch.randn(1000, 1000) @ torch.randn(1000, 1000)

envs = gymnasium.vector.AsyncVectorEnv([env] * 2, context="fork")
envs.reset(seed=1)
envs.step(np.zeros(2, int))
envs.close()
envs = SubprocVecEnv([env] * 2, start_method="fork")
envs.reset()
envs.step(np.zeros(2, int))
envs.close()
print("played")
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize(("who", "threads"), [("models alone", "2"), ("threads", "4")])
def test_a_forked_process_plays_whatever_omp_num_threads_says(who: str, threads: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, who],
        env={**os.environ, "OMP_NUM_THREADS": threads},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(timeout=120)  # for ever, if it hangs
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert out == "played\n"
