"""The parallel environment gives the AEC environment's games, and refuses wrong action dicts."""

import random
from collections import UserDict
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.support.decks import label, odd_hands, variants
from tests.support.envs import AGENTS, parallel_env, raw_env, wrapped_env

KINDS = list(product(("vector", "tokens"), ("perfect", "table")))


def same_observations(parallel: dict[str, Any], aec: Any) -> None:
    assert set(parallel) == set(AGENTS)
    for agent, observed in parallel.items():
        expected = aec.observe(agent)
        assert set(observed) == set(expected) == {"observation", "action_mask"}
        for name, array in observed.items():
            assert array.dtype == expected[name].dtype
            assert array.tobytes() == expected[name].tobytes()


@pytest.mark.field_case("A08")
@pytest.mark.parametrize("make", [raw_env, wrapped_env], ids=["raw_env", "env"])
@pytest.mark.parametrize("variant", variants("attack-defence"), ids=label)
def test_the_same_choices_give_the_same_games(variant: dict[str, Any], make: Any) -> None:
    rng = random.Random(label(variant))
    for (encoding, memory), limit in zip(KINDS, (None, 3, 10, None), strict=True):
        options = {**variant, "encoding": encoding, "memory": memory}
        options |= {"num_ranks": rng.choice((3, 5)), "max_turns": limit, "render_mode": "ansi"}
        parallel, aec = parallel_env(**options), make("attack-defence", **options)
        # One seed, then deals from the environment's own generator, then given hands.
        hands = odd_hands("attack-defence", options, rng)
        for seed, given in ((11, None), (None, None), (None, {}), (None, {"hands": hands})):
            observations, infos = parallel.reset(seed=seed, options=given)
            aec.reset(seed=seed, options=given)
            assert parallel.hands == aec.unwrapped.hands
            same_observations(observations, aec)
            assert infos == aec.infos
            play_a_game(parallel, aec, rng)


def play_a_game(parallel: Any, aec: Any, rng: random.Random) -> None:
    received = dict.fromkeys(AGENTS, 0.0)
    while parallel.agents:
        assert parallel.agents == aec.agents == list(AGENTS)
        choices = {agent: rng.choice((0, 0, 1)) for agent in AGENTS}
        # The order of the dict means nothing.
        order = AGENTS if rng.random() < 0.5 else AGENTS[::-1]
        results = parallel.step({agent: choices[agent] for agent in order})
        observations, rewards, terminations, truncations, infos = results
        for agent in AGENTS:
            assert aec.agent_selection == agent
            received[agent] += aec.last()[1]
            aec.step(choices[agent])
        same_observations(observations, aec)
        assert rewards == aec.rewards
        assert terminations == aec.terminations
        assert truncations == aec.truncations
        assert infos == aec.infos
        assert parallel.hands == aec.unwrapped.hands
        assert parallel.render() == aec.render()
        for agent in AGENTS:
            assert parallel.known(agent) == aec.unwrapped.known(agent)
            assert type(rewards[agent]) is float
            assert type(terminations[agent]) is type(truncations[agent]) is bool
    assert any(terminations.values()) or any(truncations.values())
    final = dict(rewards)
    for agent in AGENTS:  # the dead steps bring each the final reward, once
        assert aec.agent_selection == agent
        received[agent] += aec.last()[1]
        aec.step(None)
    assert received == final
    assert aec.agents == parallel.agents == []


BOTH = {"player_0": 0, "player_1": 1}
WRONG_ACTIONS = {
    "nothing": {},
    "one missing": {"player_0": 0},
    "the other missing": {"player_1": 0},
    "one too many": {**BOTH, "player_2": 0},
    "unknown instead": {"player_0": 0, "player_9": 0},
    "seat numbers": {0: 0, 1: 1},
    "None": None,
    "a list": [0, 1],
    "an array": np.array([0, 1]),
    "no dict": UserDict(BOTH),
    "too high": {**BOTH, "player_1": 2},
    "too high of player_0": {**BOTH, "player_0": 2},
    "negative": {**BOTH, "player_1": -1},
    "huge": {**BOTH, "player_1": 2**70},
    "a float": {**BOTH, "player_1": 1.0},
    "a bool": {**BOTH, "player_1": True},
    "a NumPy bool": {**BOTH, "player_1": np.True_},
    "a name": {**BOTH, "player_1": "DEFEND"},
    "no action": {**BOTH, "player_1": None},
    "a long array": {**BOTH, "player_1": np.array([0, 1])},
    "NaN": {**BOTH, "player_1": float("nan")},
}


@pytest.mark.field_case("A07")
@pytest.mark.parametrize("actions", WRONG_ACTIONS.values(), ids=WRONG_ACTIONS)
def test_wrong_actions_are_refused_and_change_nothing(actions: Any) -> None:
    env = parallel_env(minimal=True)
    env.reset(seed=3)
    env.step(BOTH)
    state = env.get_state()
    with pytest.raises(ValueError, match="action") as refused:
        env.step(actions)
    assert "\n" not in str(refused.value)
    assert env.get_state() == state
    env.step(BOTH)


def test_integers_of_every_kind_are_actions() -> None:
    states = set()
    for integer in (int, np.int64, np.uint8, np.int8, np.uint64):
        env = parallel_env(minimal=True)
        env.reset(seed=3)
        env.step({agent: integer(1) for agent in AGENTS})
        states.add(env.get_state())
    assert len(states) == 1


def test_a_finished_game_takes_no_more_steps() -> None:
    env = parallel_env(max_turns=1)
    env.reset(seed=3)
    env.step(BOTH)
    assert env.agents == []
    state = env.get_state()
    with pytest.raises(ValueError, match=r"over.*reset\(\)"):
        env.step(BOTH)
    with pytest.raises(ValueError, match=r"over.*reset\(\)"):
        env.step({})
    assert env.get_state() == state


def test_returned_dicts_and_arrays_are_the_callers() -> None:
    """What a caller writes into a result stays out of the game, and out of later results."""
    env, other = parallel_env(minimal=True, num_ranks=5), parallel_env(minimal=True, num_ranks=5)
    results: list[Any] = [*env.reset(seed=3), {}, {}, {}]
    expected: list[Any] = [*other.reset(seed=3), {}, {}, {}]
    while env.agents:
        spoil(*results)
        assert env.agents == other.agents
        results, expected = list(env.step(BOTH)), list(other.step(BOTH))
        for agent in AGENTS:
            for name, array in results[0][agent].items():
                assert array.tobytes() == expected[0][agent][name].tobytes()
        assert results[1:] == expected[1:]
    spoil(*results)
    assert env.agents == []


def spoil(observations: Any, *books: Any) -> None:
    for agent in AGENTS:
        for array in observations[agent].values():
            array[:] = 1
    for book in books:
        book.clear()
