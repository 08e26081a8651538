"""PettingZoo's own tests, unmodified, on every environment and variant."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from tests.reference.cards import Game
from tests.support.decks import label, modes
from tests.support.positions import GAME_KINDS, is_parallel, make

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of what else is installed, or is not
    import pettingzoo.test

stock: Any = pettingzoo.test  # which has few types

VARIANTS = pytest.mark.parametrize("variant", modes(), ids=label)
# Of the tests themselves, which know PettingZoo's own environments by name.
THEIRS = (
    "Observation is not a NumPy array",
    "Observation space for each agent",
    "Action mask numpy",
)


@contextmanager
def one_warning_of_ours() -> Iterator[None]:
    """The tests' own reset option is ignored, with one warning; nothing else is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    said = [str(warning.message) for warning in caught]
    ours = [text for text in said if not text.startswith(THEIRS)]
    assert len(ours) == 1
    assert ours[0].startswith("reset ignores unknown options: 'options'; it takes hands")


@VARIANTS
@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_api(game: Game, kind: str, variant: dict[str, Any]) -> None:
    env = make(game, kind, **variant)
    with one_warning_of_ours():
        if is_parallel(env):
            stock.parallel_api_test(env, num_cycles=100)
        else:
            stock.api_test(env, num_cycles=100)


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_api_with_words_in_infos(game: Game, kind: str) -> None:
    env = make(game, kind, info_text=True, num_ranks=5)
    with one_warning_of_ours():
        if is_parallel(env):
            stock.parallel_api_test(env, num_cycles=100)
        else:
            stock.api_test(env, num_cycles=100)


@VARIANTS
@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_seeds(game: Game, kind: str, variant: dict[str, Any]) -> None:
    if kind == "parallel_env":
        stock.parallel_seed_test(lambda: make(game, kind, **variant), num_cycles=50)
    else:
        stock.seed_test(lambda: make(game, kind, **variant), num_cycles=50)


@VARIANTS
@pytest.mark.parametrize("kind", ["env", "raw_env"])
def test_states_of_attack_and_defence(kind: str, variant: dict[str, Any]) -> None:
    env, parallel = (make("attack-defence", which, **variant) for which in (kind, "parallel_env"))
    stock.state_test(env, parallel, num_cycles=50)


@VARIANTS
def test_states_of_strategic_war(variant: dict[str, Any]) -> None:
    """The test sends illegal actions, which `env` takes; the game is played in turns only."""
    env, other = (make("strategic-war", "env", **variant) for _ in range(2))
    stock.state_test(env, turn_based_aec_to_parallel(other), num_cycles=50)
