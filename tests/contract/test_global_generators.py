"""Nobody's random numbers depend on whether our packages have been imported or used."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import importlib
import os
import random
import sys

import numpy as np
import torch


def states():
    numpy_state = np.random.get_state(legacy=False)
    return random.getstate(), repr(numpy_state), torch.get_rng_state().numpy().tobytes()


def alone(what, *arguments):
    # Each in a process that has imported nothing of ours before.
    child = os.fork()
    if child == 0:
        before = states()
        try:
            what(*arguments)
            moved = states() != before
        finally:
            os._exit(2 if sys.exc_info()[0] else int(moved))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        print("fails" if code == 2 else "moves", what.__name__, *arguments, flush=True)


def use():
    from war_agents import make
    from war_agents.arena import play_match, run_tournament
    from war_envs.batch import make_batch

    make("champion", game="strategic-war")
    make_batch("attack-defence", 2).reset()
    play_match("champion", "memory", game="attack-defence", deals=2, seed=1)
    run_tournament(["random", "memory"], game="attack-defence", deals=2, seed=1)


modules = sys.argv[1:]
assert not any(name.startswith(("war_", "rich")) for name in sys.modules)
for module in modules:
    alone(importlib.import_module, module)
alone(use)
"""
MODULES = [
    "war_envs",
    "war_envs.testing",
    "war_agents",
    "war_agents.cli",
    "war_agents.networks.policy",
    "war_agents.versus.vector",
    "war_train",
    "war_train.run.log",
    "war_train.ppo.training",
]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_no_import_and_no_use_moves_a_global_generator() -> None:
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, *MODULES], capture_output=True, text=True, timeout=300
    )
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
