"""The libraries' own tests, and the shims between them and an environment that is right as it is.

* PettingZoo's API tests pass an option called ``options`` to reset; here that is an error.
* They warn of dict observations and of a mask without a legal action at the end, but for a list of
  PettingZoo's own environments: these three warnings are let through.
* ``max_cycles_test`` wants an argument ``max_cycles``, ``render_test`` starts with a window.
* Both ``check_env`` send actions that the mask forbids: that must end the episode, not raise.
"""

import importlib.util
import warnings
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

from gymnasium.utils.env_checker import check_env
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

from war_envs.testing.checks import Make

CYCLES: Final = 100
_KNOWN_WARNINGS: Final = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
    "Action mask numpy array is all zeros",
)


def _without_test_option(options: dict[str, Any] | None) -> dict[str, Any] | None:
    return None if options == {"options": 1} else options


class _AEC(BaseWrapper[Any, Any, Any]):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=_without_test_option(options))


class _Parallel(BaseParallelWrapper[Any, Any, Any]):
    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        return super().reset(seed=seed, options=_without_test_option(options))


def pettingzoo_aec_tests(make: Make) -> None:
    """PettingZoo's ``api_test``, ``seed_test`` and ``render_test``."""
    tests = _pettingzoo_tests()
    for message in _KNOWN_WARNINGS:
        warnings.filterwarnings("ignore", message)
    tests.api_test(_AEC(make().env), num_cycles=CYCLES)
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
    tests.parallel_api_test(_Parallel(make().env), num_cycles=CYCLES)
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
