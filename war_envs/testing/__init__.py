"""Contract checks for environments: ours, your variants of them, and your own two-player games.

>>> from war_envs import attack_defence_v0
>>> from war_envs.testing import check_aec, check_parallel
>>> options = {"minimal": True, "num_ranks": 5, "max_turns": 50}
>>> check_aec(lambda: attack_defence_v0.env(**options))
>>> check_parallel(lambda: attack_defence_v0.parallel_env(**options))

Each check takes a function without arguments that makes the environment, and raises an
AssertionError with a one-line reason. It runs the stock tests of the library in question and then
plays whole games: with and without a seed, through copies, with other code drawing from the global
generators, and with every misuse that must be refused. Warnings are errors throughout.

The stock tests run as they are, wherever they can: `war_envs.testing.stock` says what cannot, and
which of their own warnings are let through.
"""

from collections.abc import Callable
from typing import Any

import gymnasium
from pettingzoo import AECEnv, ParallelEnv

from war_envs.testing import checks, misuse, stock
from war_envs.testing.drivers import AECDriver, Driver, GymnasiumDriver, ParallelDriver
from war_envs.testing.strict import strict

__all__ = ["check_aec", "check_gymnasium", "check_parallel", "check_turn_limit"]


def check_aec(make_env: Callable[[], AECEnv[Any, Any, Any]]) -> None:
    """Checks a turn-based environment of PettingZoo.

    Raises:
        AssertionError: naming the check that failed, and why.
    """
    _run(
        lambda: AECDriver(make_env()),
        (
            stock.pettingzoo_aec_tests,
            *checks.ALL,
            checks.infos_keep_their_form,
            checks.rewards_sum_to_zero,
            checks.agents_leave_one_by_one,
            misuse.before_reset_aec,
            misuse.wrong_steps_aec,
            misuse.refused_seeds,
            misuse.illegal_actions,
        ),
    )


def check_parallel(make_env: Callable[[], ParallelEnv[Any, Any, Any]]) -> None:
    """Checks an environment of PettingZoo in which all agents choose at once.

    Raises:
        AssertionError: naming the check that failed, and why.
    """
    _run(
        lambda: ParallelDriver(make_env()),
        (
            stock.pettingzoo_parallel_tests,
            *checks.ALL,
            checks.infos_keep_their_form,
            checks.rewards_sum_to_zero,
            misuse.before_reset_parallel,
            misuse.wrong_steps_parallel,
            misuse.refused_seeds,
            misuse.illegal_actions,
        ),
    )


def check_gymnasium(make_env: Callable[[], gymnasium.Env[Any, Any]]) -> None:
    """Checks a single-agent environment of Gymnasium, also by Stable-Baselines3 if it is installed.

    Raises:
        AssertionError: naming the check that failed, and why.
    """
    _run(
        lambda: GymnasiumDriver(make_env()),
        (
            stock.gymnasium_and_sb3_checkers,
            *checks.ALL,
            misuse.before_reset_gymnasium,
            misuse.wrong_steps_gymnasium,
            misuse.refused_seeds,
            misuse.illegal_actions,
        ),
    )


def check_turn_limit(
    make_env: Callable[[int], AECEnv[Any, Any, Any]],
    make_parallel_env: Callable[[int], ParallelEnv[Any, Any, Any]],
) -> None:
    """Runs PettingZoo's ``max_cycles_test`` on a game in which both agents choose once a turn.

    Args:
        make_env, make_parallel_env: make the environment with a limit of so many turns, a few of
            which must not end the game.

    Raises:
        AssertionError: a game does not last as long as the limit.
    """
    with strict("the turn limit"):
        stock.turn_limit(make_env, make_parallel_env)


def _run(make: Callable[[], Driver], all_checks: tuple[Callable[..., None], ...]) -> None:
    for check in all_checks:
        with strict(check.__name__.replace("_", " ")):
            check(make)
