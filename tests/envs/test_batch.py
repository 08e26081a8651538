"""Many games at once: the same games as one at a time, in arrays of the caller's own."""

import hashlib
import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.cards import Game
from tests.support.batches import KINDS, both_seats, choices_at, legal_actions
from tests.support.decks import GAMES, label, variants
from tests.support.envs import AGENTS, raw_env
from war_envs.batch import Batch, make_batch

# --- the same games as elsewhere ---


@pytest.mark.parametrize(
    ("game", "variant"),
    [pytest.param(g, v, id=f"{g}-{label(v)}") for g in GAMES for v in variants(g)],
)
def test_lane_0_is_the_environments_game(game: Game, variant: dict[str, Any]) -> None:
    """Deals, also those after the first, observations, masks, rewards and flags."""
    encoding, memory = KINDS[len(label(variant)) % 4]
    options = {**variant, "num_ranks": 5, "encoding": encoding, "memory": memory}
    batch = make_batch(game, 3, **options)
    batch.reset(seed=8, lanes=[5, 0, 9])
    env = raw_env(game, **options)
    env.reset(seed=8)
    games = 0
    for step in range(120):
        observation, mask = batch.observe([1, 1], [0, 1])
        for seat, agent in enumerate(AGENTS):
            observed = env.observe(agent)
            assert observed["observation"].tobytes() == observation[seat].tobytes()
            if batch.acting[1, seat]:
                assert observed["action_mask"].tobytes() == mask[seat].tobytes()
            else:
                assert not observed["action_mask"].any()
                assert mask[seat].all()
        actions = legal_actions(batch, choices_at([5, 0, 9], step))
        result = batch.step(actions)
        for action in np.atleast_1d(actions[1]).tolist():
            env.step(action)
        assert env.rewards == dict(zip(AGENTS, result.reward[1].tolist(), strict=True))
        assert set(env.terminations.values()) == {bool(result.terminated[1])}
        assert set(env.truncations.values()) == {bool(result.truncated[1])}
        if 1 in result.final_rows:
            final = result.final_observation[result.final_rows.tolist().index(1)]
            for seat, agent in enumerate(AGENTS):
                assert env.observe(agent)["observation"].tobytes() == final[seat].tobytes()
            env.reset()
            games += 1
    assert games > 0


def lane_digests(batch: Batch, lanes: list[int], steps: int) -> dict[int, str]:
    """A digest for each lane of all that a batch gives in ``steps`` steps."""
    batch.reset(seed=21, lanes=lanes)
    digests = {lane: hashlib.sha256() for lane in lanes}
    number = len(lanes)
    for step in range(steps):
        result = batch.step(legal_actions(batch, choices_at(lanes, step)))
        rows, seats = both_seats(number)
        observation, mask = batch.observe(rows, seats)
        for row, lane in enumerate(lanes):
            digest = digests[lane]
            for array in (result.reward, result.terminated, result.truncated):
                digest.update(array[row].tobytes())
            digest.update(observation[2 * row : 2 * row + 2].tobytes())
            digest.update(mask[2 * row : 2 * row + 2].tobytes())
            digest.update(batch.games[row].tobytes())
        for row, final in zip(result.final_rows, result.final_observation, strict=True):
            digests[lanes[row]].update(final.tobytes())
    return {lane: digest.hexdigest() for lane, digest in digests.items()}


@pytest.mark.usefixtures("threads_for_a_row")
@pytest.mark.parametrize("game", GAMES)
def test_size_and_threads_change_no_bit(game: Game) -> None:
    for encoding, variant in (("vector", "minimal"), ("tokens", "fair")):
        options: dict[str, Any] = {"encoding": encoding, "num_ranks": 5}

        def digests(lanes: list[int], threads: int, o: Any = options, v: str = variant) -> Any:
            batch = make_batch(game, len(lanes), v, num_threads=threads, **o)
            try:
                return lane_digests(batch, lanes, 60)
            finally:
                batch.close()
                batch.close()  # twice is fine

        alone = digests(list(range(64)), 1)
        assert len(set(alone.values())) == 64
        assert digests(list(range(64)), 3) == alone
        assert digests(list(range(63, -1, -1)), 64) == alone
        for lanes in ([0], [63], [40, 7, 13], list(range(10, 30))):
            found = digests(lanes, 2)
            assert found == {lane: alone[lane] for lane in lanes}


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_threads_change_no_bit_of_a_large_batch(game: Game) -> None:
    number = 40_000  # enough for slices of steps, observations and Strategic War's checks
    batches = [make_batch(game, number, "minimal", num_ranks=3, num_threads=t) for t in (1, 2)]
    for batch in batches:
        batch.reset(seed=4)
    ended = 0
    for step in range(12):
        actions = legal_actions(batches[0], choices_at(np.arange(number), step))
        one, two = (batch.step(actions) for batch in batches)
        for name, array in vars(one).items():
            assert np.array_equal(array, vars(two)[name]), name
        for mine, theirs in zip(batches[0].observe(), batches[1].observe(), strict=True):
            assert np.array_equal(mine, theirs)
        ended += len(one.final_rows)
    assert ended > 1000
    wrong = legal_actions(batches[0], choices_at(np.arange(number), 12)).copy()
    wrong[[30_000, 39_000]] = 9
    with pytest.raises(ValueError, match=r"actions: 9 of player_[01] in game 30000 is illegal"):
        batches[1].step(wrong)
    assert (batches[0].games == batches[1].games).all()
    batches[1].close()


@pytest.mark.parametrize("game", GAMES)
def test_a_given_first_attacker_and_a_drawn_one(game: Game) -> None:
    batch = make_batch(game, 400, "minimal")
    if game == "attack-defence":
        with pytest.raises(ValueError, match="first_attacker"):
            batch.reset(seed=1, first_attacker=np.zeros(400, int))
        batch.reset(seed=1)
        with pytest.raises(ValueError, match="mover"):
            _ = batch.mover
        return
    batch.reset(seed=1)
    drawn, hands = batch.mover, batch.games["hands"].copy()
    assert 150 < drawn.sum() < 250
    given = np.arange(400) % 2
    batch.reset(seed=1, first_attacker=given)
    assert np.array_equal(batch.mover, given)
    assert np.array_equal(batch.games["hands"], hands), "the deals must be the same either way"
    assert not np.array_equal(drawn, given)
    for wrong in (given[:5], given + 1, given.astype(float), given - 1):
        with pytest.raises(ValueError, match="first_attacker"):
            batch.reset(seed=2, first_attacker=wrong)
    assert np.array_equal(batch.games["hands"], hands)


# --- autoreset ---


@pytest.mark.field_case("V01", "V02")
@pytest.mark.parametrize("game", GAMES)
def test_autoreset_is_same_step_with_the_true_end(game: Game) -> None:
    for (encoding, memory), limit in zip(KINDS, (3, None, 1, 6), strict=True):
        kind: dict[str, Any] = {
            "encoding": encoding,
            "memory": memory,
            "num_ranks": 3,
            "max_turns": limit,
        }
        batch, plain = make_batch(game, 24, **kind), make_batch(game, 24, **kind)
        batch.reset(seed=2)
        plain.reset(seed=2)
        on_first_game = np.ones(24, bool)
        for step in range(60):
            actions = legal_actions(batch, choices_at(np.arange(24), step))
            turns = batch.games["turn"].copy()
            result = batch.step(actions)
            # Where `plain` has ended, it ignores its actions, whatever they are.
            without = actions.copy()
            without[~on_first_game] = 77
            expected = plain.step(without, autoreset=False)
            over = expected.terminated | expected.truncated
            ended = np.flatnonzero(over & on_first_game)
            ended_rows = result.final_rows.tolist()
            assert expected.final_rows.tolist() == ended.tolist()
            assert np.array_equal(np.intersect1d(result.final_rows, ended), ended)
            for name in ("reward", "terminated", "truncated"):
                found = getattr(result, name)[on_first_game]
                assert np.array_equal(found, getattr(expected, name)[on_first_game])
            assert not expected.reward[~on_first_game].any()
            seen, mask = plain.observe(*both_seats(24))
            for place, row in enumerate(ended):
                final = result.final_observation[ended_rows.index(row)]
                assert final.tobytes() == seen[2 * row : 2 * row + 2].tobytes()
                assert final.tobytes() == expected.final_observation[place].tobytes()
            assert mask.reshape(24, -1)[over].all(), "an ended game's mask must be all 1"
            assert not plain.acting[over].any()
            # What goes on, and what has been dealt anew.
            assert (
                result.final_rows.tolist()
                == np.flatnonzero(result.terminated | result.truncated).tolist()
            )
            assert not batch.games["turn"][result.final_rows].any()
            goes_on = np.setdiff1d(np.arange(24), result.final_rows)
            assert (batch.games["turn"][goes_on] >= turns[goes_on]).all()
            assert not batch.games["status"].any()
            on_first_game[ended] = False
        assert on_first_game.sum() < 4


def test_flags_and_rewards_do_not_linger() -> None:
    """The step after an end tells of the new game alone."""
    batch = make_batch("attack-defence", 4, "minimal", max_turns=2)
    batch.reset(seed=1)
    defend = np.ones((4, 2), int)
    flags = [batch.step(defend).truncated.tolist() for _ in range(6)]
    assert flags == [[False] * 4, [True] * 4] * 3


# --- whose arrays ---


@pytest.mark.field_case("V03")
@pytest.mark.parametrize("game", GAMES)
def test_arrays_belong_to_the_caller(game: Game) -> None:
    batch, other = (make_batch(game, 9, num_ranks=3, encoding="vector") for _ in range(2))
    batch.reset(seed=4)
    other.reset(seed=4)
    kept: list[tuple[NDArray[Any], NDArray[Any]]] = []
    for step in range(50):
        actions = legal_actions(other, choices_at(np.arange(9), step))
        mine = actions.copy()
        seen, mask = batch.observe()
        result = batch.step(mine)
        expected = other.step(actions)
        arrays = [seen, mask, batch.acting, *vars(result).values()]
        assert np.array_equal(result.reward, expected.reward)
        assert np.array_equal(batch.games, other.games)
        for array in arrays:
            assert array.flags.writeable
            assert not np.shares_memory(array, batch.games)
            assert not any(np.shares_memory(array, old) for old, _ in kept[-12:])
        kept += [(array, array.copy()) for array in arrays]
        mine[:] = 99  # the caller's, too
        if step % 2:
            for array, copy in kept[-len(arrays) :]:
                array.fill(1)
                copy.fill(1)
    for array, copy in kept:
        assert np.array_equal(array, copy)


# --- observe ---


@pytest.mark.usefixtures("threads_for_a_row")
@pytest.mark.parametrize("game", GAMES)
def test_observe_gives_the_views_asked_for(game: Game) -> None:
    rng = np.random.default_rng(1)
    batch = make_batch(game, 20, "minimal", num_threads=2)
    batch.reset(seed=6)
    for step in range(20):
        batch.step(legal_actions(batch, choices_at(np.arange(20), step)), autoreset=step < 15)
        every, masks = batch.observe(*both_seats(20))
        rows, seats = rng.integers(0, 20, 33), rng.integers(0, 2, 33)
        observation, mask = batch.observe(rows, seats)
        assert np.array_equal(observation, every[2 * rows + seats])
        assert np.array_equal(mask, masks[2 * rows + seats])
        assert observation.shape == (33, *batch.observation_shape)
        assert mask.shape == (33, batch.num_actions)
        assert observation.dtype == batch.observation_dtype
        assert mask.dtype == np.int8
        default, default_mask = batch.observe()
        if game == "attack-defence":
            assert np.array_equal(default, every.reshape(20, 2, -1))
            assert np.array_equal(default_mask, masks.reshape(20, 2, -1))
        else:
            assert np.array_equal(default, every[2 * np.arange(20) + batch.mover])
            assert np.array_equal(default_mask, masks[2 * np.arange(20) + batch.mover])
    empty: list[Any] = [[], np.array([], int)]
    for nothing in empty:
        observation, mask = batch.observe(nothing, nothing)
        assert observation.shape == (0, *batch.observation_shape)
        assert mask.shape == (0, batch.num_actions)
    batch.close()


@pytest.mark.parametrize("game", GAMES)
def test_observe_in_another_encoding_or_memory(game: Game) -> None:
    batches = {
        (encoding, memory): make_batch(game, 5, encoding=encoding, memory=memory)
        for encoding, memory in KINDS
    }
    actions: Any = None
    for batch in batches.values():
        batch.reset(seed=3)
        for step in range(9):
            actions = legal_actions(batch, choices_at(np.arange(5), step))
            batch.step(actions)
    for batch, (encoding, memory) in product(batches.values(), KINDS):
        found, _ = batch.observe(encoding=encoding, memory=memory)
        expected, _ = batches[encoding, memory].observe()
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("game", GAMES)
def test_without_copies_the_same_comes_in_buffers_that_are_used_again(game: Game) -> None:
    batches = [make_batch(game, 40, minimal=True) for _ in range(2)]
    for batch in batches:
        batch.reset(seed=3)
    addresses = set()
    for _ in range(60):
        own, mask = batches[0].observe()
        shared, shared_mask = batches[1].observe(copy=False)
        assert np.array_equal(own, shared)
        assert np.array_equal(mask, shared_mask)
        actions = mask.argmax(-1)
        own_step = batches[0].step(actions)
        shared_step = batches[1].step(actions, copy=False)
        for name in ("reward", "terminated", "truncated", "final_observation"):
            assert np.array_equal(getattr(own_step, name), getattr(shared_step, name))
        addresses.add((shared.ctypes.data, shared_step.reward.ctypes.data))
    assert len(addresses) == 1


@pytest.mark.parametrize("game", GAMES)
def test_without_copies_a_step_allocates_nothing_that_grows_with_the_batch(game: Game) -> None:
    batch = make_batch(game, 20_000, minimal=True)
    batch.reset(seed=3)

    def step() -> None:
        _, mask = batch.observe(copy=False)
        batch.step(mask.argmax(-1), copy=False)

    for _ in range(3):  # no game ends so soon
        step()
    _, mask = batch.observe(copy=False)
    actions = mask.argmax(-1)
    tracemalloc.start()
    try:
        batch.step(actions, copy=False)
        batch.observe(copy=False)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10_000  # not even a byte for each game
