"""Games of one simultaneous choice, beside linear programs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.solved import bayesian_value
from war_agents.planning.stage import solve_matrix, solve_stages

PAYOFF = st.integers(-2, 2).map(float) | st.floats(-1, 1, allow_subnormal=False)


@given(st.tuples(PAYOFF, PAYOFF, PAYOFF, PAYOFF))
def test_a_matrix_game_is_worth_what_both_can_secure(payoffs: tuple[float, ...]) -> None:
    value, row, column = solve_matrix(*payoffs)
    game = np.array(payoffs).reshape(2, 2)
    assert min((1 - row) * game[0] + row * game[1]) == pytest.approx(value, abs=1e-9)
    assert max((1 - column) * game[:, 0] + column * game[:, 1]) == pytest.approx(value, abs=1e-9)


def games(rng: np.random.Generator, number: int, degenerate: bool) -> Any:
    """Priors and payoffs of 1 to 6 types a side; degenerate ones have ties, and types that cannot
    be.
    """
    for _ in range(number):
        shape = tuple(rng.integers(1, 7, 2))
        prior, payoffs = rng.random(shape), rng.uniform(-1, 1, (*shape, 2, 2))
        if degenerate:
            prior *= rng.random(shape) < 0.4
            payoffs = rng.integers(-1, 2, (*shape, 2, 2)).astype(float)
        yield prior / max(prior.sum(), 1e-9), payoffs


@pytest.mark.slow
@pytest.mark.parametrize("degenerate", [False, True])
def test_a_bayesian_game_is_worth_what_a_linear_program_says(degenerate: bool) -> None:
    for prior, payoffs in games(np.random.default_rng(1), 1000, degenerate):
        values, rows, columns = solve_stages(prior[None], payoffs[None])
        expected = bayesian_value(prior, payoffs)
        assert values[0] == pytest.approx(expected, abs=1e-9)
        mixed = (1 - rows[0])[:, None, None] * payoffs[:, :, 0] + rows[0][:, None, None] * (
            payoffs[:, :, 1]
        )
        secured = (prior[:, :, None] * mixed).sum(axis=0).min(axis=1).sum()
        assert secured == pytest.approx(expected, abs=1e-9)
        mixed = (1 - columns[0])[None, :, None] * payoffs[..., 0] + columns[0][None, :, None] * (
            payoffs[..., 1]
        )
        conceded = (prior[:, :, None] * mixed).sum(axis=1).max(axis=1).sum()
        assert conceded == pytest.approx(expected, abs=1e-9)


def test_a_game_without_types_is_the_matrix_game() -> None:
    payoffs = np.random.default_rng(2).uniform(-1, 1, (50, 1, 1, 2, 2))
    values, rows, columns = solve_stages(np.ones((50, 1, 1)), payoffs)
    for k in range(50):
        expected = solve_matrix(*payoffs[k, 0, 0].ravel())
        assert (values[k], rows[k, 0], columns[k, 0]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("priors", "payoffs", "words"),
    [
        (np.ones((2, 3, 3)), np.ones((2, 3, 2, 2, 2)), "do not go with priors"),
        (np.ones((3, 3)), np.ones((3, 3, 2, 2)), "do not go with priors"),
        (np.ones((1, 14, 2)), np.ones((1, 14, 2, 2, 2)), "types beyond 1 to 13"),
        (-np.ones((1, 1, 1)), np.ones((1, 1, 1, 2, 2)), "at least 0"),
        (np.ones((1, 1, 1)), np.full((1, 1, 1, 2, 2), np.nan), "must be finite"),
    ],
)
def test_wrong_arrays_are_refused(priors: Any, payoffs: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        solve_stages(priors, payoffs)
