"""The libraries' own tests, run as they are but for what they ask of no environment but some.

Unmodified run PettingZoo's ``api_test``, ``parallel_api_test``, ``seed_test`` and
``parallel_seed_test``, Gymnasium's ``check_env`` and that of Stable-Baselines3. All warnings are
errors, but for these of theirs, which are let through:

* They pass an option called ``options`` to reset: an environment may ignore it with a warning.
* They warn of dict observations and of a mask without a legal action at the end, but for a list of
  PettingZoo's own environments.

What cannot run as it is, and why:

* ``render_test`` first opens a window with ``render_mode="human"``, which not everyone has: an
  environment without one is made as it is, and only then asked for each mode of its metadata.
* ``max_cycles_test`` calls the limit ``max_cycles``; `turn_limit` gives it under its own name.
* ``state_test`` and ``parallel_api_test`` may send actions that the mask forbids, and both
  ``check_env`` do: that must end the game, not raise. So ``state_test`` is not for environments
  without wrappers that have masks.
"""

import importlib.util
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

from gymnasium.utils.env_checker import check_env
from pettingzoo import AECEnv, ParallelEnv

from war_envs.testing.checks import Make

CYCLES: Final = 100
_TEST_OPTION: Final = ".*unknown option.*'options'"
_KNOWN_WARNINGS: Final = (
    _TEST_OPTION,
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
    "Action mask numpy array is all zeros",
)


def pettingzoo_aec_tests(make: Make) -> None:
    """PettingZoo's ``api_test``, ``seed_test`` and ``render_test``."""
    tests = _pettingzoo_tests()
    for message in _KNOWN_WARNINGS:
        warnings.filterwarnings("ignore", message)
    tests.api_test(make().env, num_cycles=CYCLES)
    tests.seed_test(lambda: make().env, num_cycles=CYCLES)

    def drawn(render_mode: str) -> Any:
        env = make().env
        if render_mode != "human":
            env.unwrapped.render_mode = render_mode
        return env

    tests.render_test(drawn)


def pettingzoo_parallel_tests(make: Make) -> None:
    """PettingZoo's ``parallel_api_test`` and ``parallel_seed_test``, which stops after a step."""
    tests = _pettingzoo_tests()
    warnings.filterwarnings("ignore", _TEST_OPTION)
    tests.parallel_api_test(make().env, num_cycles=CYCLES)
    tests.parallel_seed_test(lambda: make().env, num_cycles=CYCLES)


def gymnasium_and_sb3_checkers(make: Make) -> None:
    """``check_env`` of Gymnasium, and of Stable-Baselines3 where it is installed."""
    check_env(make().env.unwrapped)
    if importlib.util.find_spec("stable_baselines3") is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of the imports
            from stable_baselines3.common.env_checker import check_env as check_for_sb3
        check_for_sb3(make().env)


def turn_limit(
    make_env: Callable[[int], AECEnv[Any, Any, Any]],
    make_parallel_env: Callable[[int], ParallelEnv[Any, Any, Any]],
) -> None:
    """PettingZoo's ``max_cycles_test``."""
    module = SimpleNamespace(
        env=lambda max_cycles: make_env(max_cycles),
        parallel_env=lambda max_cycles: make_parallel_env(max_cycles),
    )
    _pettingzoo_tests().max_cycles_test(module)


def _pettingzoo_tests() -> Any:
    """``pettingzoo.test``; importing it tries out what else is installed, warnings and all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pettingzoo.test
    return pettingzoo.test
