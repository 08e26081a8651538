"""The games' own generator beside its published outputs and a plain second writing."""

from typing import Any

import numpy as np
import pytest

from tests.support.decks import GAMES
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.engine.kernels import _next, random_below, shuffle
from war_envs.variant import make_variant

# xoshiro256++ from the state (1, 2, 3, 4), as the authors' C code gives it.
PUBLISHED = [
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
]
MASK = 2**64 - 1


@pytest.fixture(params=GAMES)
def game(request: pytest.FixtureRequest) -> Any:
    return ENGINES[request.param].new_games(make_variant(request.param), 1)[0]


def plain_next(state: list[int]) -> int:
    def rotated(x: int, k: int) -> int:
        return (x << k | x >> (64 - k)) & MASK

    result = (rotated((state[0] + state[3]) & MASK, 23) + state[0]) & MASK
    shifted = state[1] << 17 & MASK
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = rotated(state[3], 45)
    return result


def plain_below(state: list[int], n: int) -> int:
    while True:
        product = (plain_next(state) >> 32) * n
        if product % 2**32 >= 2**32 % n:
            return product >> 32


def test_published_outputs(game: Any) -> None:
    game["rng"] = (1, 2, 3, 4)
    assert [int(_next(game)) for _ in PUBLISHED] == PUBLISHED
    state = [1, 2, 3, 4]
    assert [plain_next(state) for _ in PUBLISHED] == PUBLISHED


@pytest.mark.parametrize("start", [(1, 2, 3, 4), (0, 1, 2, 0), (MASK, MASK, 5, MASK)])
def test_draws_below_a_bound(game: Any, start: tuple[int, ...]) -> None:
    """The second start gives 0 first, which a draw without bias rejects."""
    for n in (1, 2, 3, 5, 6, 51, 52, 3 * 2**30):
        game["rng"] = start
        state = list(start)
        drawn = [int(random_below(game, n)) for _ in range(200)]
        assert drawn == [plain_below(state, n) for _ in range(200)]
        assert game["rng"].tolist() == state
        assert min(drawn) >= 0
        assert max(drawn) < n


def test_shuffle_is_fisher_and_yates(game: Any) -> None:
    for n in (1, 2, 13, 26, 52):
        game["rng"] = (9, 8, 7, 6)
        state = [9, 8, 7, 6]
        game["hands"][1, :n] = np.arange(n)
        shuffle(game, 1, n)
        cards = list(range(n))
        for i in range(n - 1, 0, -1):
            j = plain_below(state, i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        assert game["hands"][1, :n].tolist() == cards


def test_seeds_reach_the_generator_as_documented() -> None:
    sequence = np.random.SeedSequence(7, spawn_key=(seeding.EVALUATION, 5))
    expected = sequence.generate_state(4, np.uint64)
    assert np.array_equal(seeding.generator_state(7, seeding.EVALUATION, 5), expected)
    lanes = np.array([3, 5, 3, 2**40], np.uint64)
    states = seeding.generator_states(7, seeding.EVALUATION, lanes)
    assert np.array_equal(states[1], expected)
    assert np.array_equal(states[0], states[2])
    assert len({state.tobytes() for state in states}) == 3


def test_action_seeds_are_splitmix64() -> None:
    """From 0, SplitMix64 gives these first; counters go on where the last one stopped."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    start = np.zeros(1, np.uint64)
    assert [int(seeding.action_seeds(start, step)[0]) for step in range(3)] == published
    counters = np.arange(3, dtype=np.uint64)
    assert seeding.action_seeds(np.zeros(3, np.uint64), counters).tolist() == published
    many = seeding.action_seeds(np.arange(10_000, dtype=np.uint64), 3)
    assert len(np.unique(many)) == 10_000
