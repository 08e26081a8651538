"""Training leaves its process as it found it, however it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import gc, locale, logging, os, random, signal, sys, threading, warnings
from pathlib import Path

import numpy as np
import torch

from stable_baselines3.common.callbacks import BaseCallback
from war_train.config import TrainConfig
from war_train.ppo.training import resume, train

torch.set_num_threads(3)  # another number than that of the runs
PREPARATION

def precision():
    found = {}
    for name, backend in (("cpu", torch.backends.mkldnn), ("cuda", torch.backends.cuda)):
        for part in ("matmul", "conv", "rnn"):
            found[name, part] = getattr(getattr(backend, part, None), "fp32_precision", None)
    try:
        found["all"] = torch.get_float32_matmul_precision()
    except RuntimeError as error:  # torch does not say, once one device has been set
        found["all"] = type(error)
    return found

def loggers():
    known = {"": logging.root, **logging.root.manager.loggerDict}
    return {
        name: (each.level, list(each.handlers), list(each.filters), each.disabled, each.propagate)
        for name, each in known.items() if isinstance(each, logging.Logger)
    }

LOGGERS = set(loggers())

def surroundings():
    return {
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "files": len(os.listdir("/dev/fd")),
        "path": list(sys.path),
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook, sys.displayhook),
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "recursion": sys.getrecursionlimit(),
        "collector": (gc.isenabled(), gc.get_threshold()),
        "locale": locale.setlocale(locale.LC_ALL),
        "warnings": list(warnings.filters),
        # Loading a module makes its logger; none that was there has changed.
        "loggers": {name: each for name, each in loggers().items() if name in LOGGERS},
        "handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "generators": (
            random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()
        ),
        "numpy": (np.geterr(), np.get_printoptions()),
        "torch": (
            torch.get_num_threads(),
            torch.get_num_interop_threads(),
            torch.is_grad_enabled(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
            torch.is_anomaly_enabled(),
            torch.initial_seed(),
        ),
        "precision": precision(),
    }

class At(BaseCallback):
    def __init__(self, step, what):
        super().__init__()
        self.step, self.what = step, what

    def _on_step(self):
        return self.num_timesteps != self.step or self.what(self.model)

def fail(model):
    raise RuntimeError("a fault")

def interrupt(model):
    os.kill(os.getpid(), signal.SIGINT)
    return True

def poison(model):
    model.policy.network.policy[2].bias.data[0] = float("nan")
    return True

def config(name):
    return TrainConfig(
        game="attack-defence", out=Path(name), minimal=True, num_ranks=3, steps=512, seed=1,
        num_envs=32, rollout=256, batch_size=128, epochs=1, embedding=8, hidden=8,
        opponents={"self": 1.0, "past": 1.0, "exploiter": 1.0, "memory": 1.0, "random": 1.0},
        past_every=100, exploiter_every=200, exploiter_steps=256, evaluate_every=200,
        evaluate_deals=2, final_deals=2, threads=1,
    )

before = surroundings()
ENDS = {"fault": fail, "signal": interrupt, "end": lambda model: False, "nan": poison}
for name in sys.argv[1:]:
    what = ENDS[name]
    try:
        train(config(name), [At(288, what)])
    except (RuntimeError, KeyboardInterrupt, ValueError):
        pass
    now = surroundings()
    assert now == before, (name, [key for key in before if now[key] != before[key]])
    resume(name)
    now = surroundings()
    assert now == before, (name, "resumed", [key for key in before if now[key] != before[key]])
try:
    resume(name)
    raise AssertionError("it had finished")
except ValueError:
    now = surroundings()
    assert now == before, ("refused", [key for key in before if now[key] != before[key]])
"""
PREPARATIONS = {
    "untouched": ("", "fault", "signal", "end", "nan"),
    "set for all devices": ("torch.set_float32_matmul_precision('high')", "end"),
    "set for one device": ("torch.backends.cuda.matmul.fp32_precision = 'tf32'", "end"),
}


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("name", PREPARATIONS)
def test_nothing_is_changed(tmp_path: Path, name: str) -> None:
    preparation, *ends = PREPARATIONS[name]
    program = PROGRAM.replace("PREPARATION", preparation)
    done = subprocess.run(
        [sys.executable, "-c", program, *ends], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
