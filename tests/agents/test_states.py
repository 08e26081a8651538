"""What agents remember: the same wherever they play, and refused by name where it cannot be."""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np
import pytest

import war_envs  # noqa: F401 - registers the Gymnasium ids
from tests.support.players import chance, pick
from war_agents.arena import Tournament, play_match
from war_agents.states import States
from war_envs.variant import GAMES, make_variant

ROWS = np.arange(3)


class Carried(NamedTuple):
    hidden: Any
    steps: Any


class Counting:
    """Keeps how often it chose, in a state that is made from that, and plays by it.

    Args:
        pack: the state for such counts, int64 (B,).
        unpack: the counts in such a state.
    """

    name, encoding, memory = "counting", "tokens", "table"

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        self.pack, self.unpack = pack, unpack

    def act(
        self, observation: Any, action_mask: Any, seeds: Any, state: Any = None, starts: Any = None
    ) -> Any:
        number = len(action_mask)
        counts = np.zeros(number, np.int64) if state is None else self.unpack(state).astype(int)
        if starts is not None:
            counts = np.where(starts, 0, counts)
        chosen = pick(action_mask.astype(bool), (counts % 3).astype(np.uint64))
        return chosen, self.pack(counts + 1)


def objects(counts: Any) -> Any:
    """Lists that the agent keeps no hold of, as objects."""
    array = np.empty(len(counts), object)
    for i, count in enumerate(counts.tolist()):
        array[i] = [count]
    return array


def of_objects(state: Any) -> Any:
    """The counts in `objects`, which are written over afterwards."""
    counts = np.array([each[0] if each else 0 for each in state], int)
    for each in filter(None, state):
        each[0] = -1
    return counts


SOUND: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "int": (lambda counts: counts, lambda state: state),
    "float32 of two axes": (
        lambda counts: np.stack([counts, -counts], axis=1).astype(np.float32),
        lambda state: state[:, 0],
    ),
    "nested tuples": (
        lambda counts: (counts.astype(bool), ((counts,), ())),
        lambda state: state[1][0][0],
    ),
    "a named tuple": (
        lambda counts: Carried(counts.astype(np.float32), counts),
        lambda state: state.steps,
    ),
    "text": (lambda counts: counts.astype("U8"), lambda state: np.where(state == "", "0", state)),
    "objects": (objects, of_objects),
}


def view_results(agent: Any, game: str, games: int) -> list[float]:
    """What a player who always takes the first legal action gets against ``agent``."""
    ids = {"attack-defence": "AttackDefence", "strategic-war": "StrategicWar"}
    env = gymnasium.make(
        f"war_envs/{ids[game]}-v0", opponent=agent, minimal=True, num_ranks=5, seat=0
    )
    rewards = []
    for number in range(games):
        _, info = env.reset(seed=number)
        ended, reward = False, 0.0
        while not ended:
            _, given, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
            reward, ended = float(given), terminated or truncated
        rewards.append(reward)
    return rewards


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("kind", SOUND)
def test_states_of_many_games_are_those_of_one_game_at_a_time(kind: str, game: str) -> None:
    variant = make_variant(game, "minimal", num_ranks=5)
    options: dict[str, Any] = {"game": game, "variant": variant, "deals": 12, "seed": 3}
    plain = play_match(Counting(*SOUND["int"]), chance(), **options)
    for chunk_games in (1, 10_000):
        agent = Counting(*SOUND[kind])
        match = play_match(agent, chance(), **options, chunk_games=chunk_games)
        assert (match.results == plain.results).all()
        assert (match.lengths == plain.lengths).all()
    result = Tournament(
        [Counting(*SOUND[kind]), chance()],
        game=game,
        variants=variant,
        deals=12,
        seed=3,
        workers=0,
    ).run()
    assert (result.matches[0].results == plain.results).all()
    assert not result.forfeits
    views = [view_results(Counting(*SOUND[each]), game, 6) for each in (kind, "int")]
    assert views[0] == views[1]


def test_none_at_a_games_first_choice_is_no_memory_of_it() -> None:
    """So each of its choices is a first one."""
    options: dict[str, Any] = {"game": "strategic-war", "deals": 6, "seed": 3}
    pack = SOUND["int"][0]
    forgetful = Counting(lambda counts: None if (counts == 1).all() else pack(counts), first_part)
    none = Counting(lambda counts: None, first_part)
    results = [play_match(agent, chance(), **options).results for agent in (forgetful, none)]
    assert (results[0] == results[1]).all()


def late(first: Callable[[Any], Any], then: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A state that is made otherwise from the second choice on."""
    return lambda counts: first(counts) if counts.max() < 2 else then(counts)


CHANGING: dict[str, Callable[[Any], Any]] = {
    "int to float": late(lambda c: c, lambda c: c + 0.5),
    "float32 to float64": late(lambda c: c.astype(np.float32), lambda c: c.astype(float)),
    "bool to int": late(lambda c: c > 0, lambda c: c),
    "growing last axis": lambda c: np.repeat(c[:, None], c.max(), axis=1),
    "array to tuple": late(lambda c: c, lambda c: (c,)),
    "tuple to array": late(lambda c: (c,), lambda c: c),
    "one part more": late(lambda c: (c,), lambda c: (c, c)),
    "another nesting": late(lambda c: (c, (c,)), lambda c: ((c,), c)),
    "named to plain": late(lambda c: Carried(c, c), lambda c: (c, c)),
    "numbers to objects": late(lambda c: c, objects),
    "list": lambda c: c.tolist(),
    "dict": lambda c: {"counts": c},
    "number": lambda c: 1,
    "matrix": lambda c: np.ma.masked_array(c, c > 1),
    "one game short": lambda c: c[1:],
    "no axis": lambda c: np.array(1),
}


@pytest.mark.parametrize("kind", CHANGING)
def test_other_states_are_refused_by_name_wherever_they_are_kept(kind: str) -> None:
    agent = Counting(CHANGING[kind], first_part)
    options: dict[str, Any] = {"game": "attack-defence", "deals": 2, "seed": 1}
    with pytest.raises(ValueError, match=r"agent 'counting' returned a wrong state: ") as raised:
        play_match(agent, "random", **options)
    assert "\n" not in str(raised.value)
    result = Tournament([agent, "random"], **options, workers=0).run()
    assert {forfeit.agent for forfeit in result.forfeits} == {"counting"}
    assert result.pairs[0].forfeits_a == 4
    with pytest.raises(RuntimeError, match=r"'counting', has failed: it returned a wrong state: "):
        view_results(agent, "attack-defence", 1)


def first_part(state: Any) -> Any:
    """The counts in whatever state, as columns of the same numbers."""
    while isinstance(state, tuple):
        state = state[0]
    return state if state.ndim == 1 else state[:, 0]


def test_what_changed_is_said() -> None:
    states = States(3)
    states.keep(ROWS, (np.zeros((3, 2), np.int64),))
    with pytest.raises(ValueError, match=r"state is \(float64\[2\]\), and was \(int64\[2\]\)"):
        states.keep(ROWS, (np.zeros((3, 2)),))
    states.keep(ROWS, (np.ones((3, 2), np.int64),))


def test_a_refused_state_changes_nothing() -> None:
    states = States(3)
    states.keep(ROWS, (np.arange(3), np.arange(3.0)))
    with pytest.raises(ValueError, match="state is"):
        states.keep(ROWS[1:], (np.full(2, 9), np.full(2, 9)))
    kept, starts = states.recall(ROWS)
    assert [part.tolist() for part in kept] == [[0, 1, 2], [0, 1, 2]]
    assert starts is not None
    assert not starts.any()


def test_none_forgets_the_games_that_were_asked_and_no_others() -> None:
    states = States(3)
    assert states.recall(ROWS) == (None, None)
    states.keep(ROWS[:2], np.array([7, 8]))
    kept, starts = states.recall(ROWS)
    assert (kept.tolist(), starts is not None and starts.tolist()) == (
        [7, 8, 0],
        [False] * 2 + [True],
    )
    states.keep(ROWS[:1], None)
    kept, starts = states.recall(ROWS)
    assert (kept.tolist(), starts is not None and starts.tolist()) == (
        [0, 8, 0],
        [True, False, True],
    )
    assert states.recall(ROWS[:1]) == (None, None)


def test_what_an_agent_keeps_a_hold_of_is_not_what_is_kept() -> None:
    states = States(2)
    held, listed = np.zeros(2, np.int64), objects(np.zeros(2, np.int64))
    states.keep(np.arange(2), (held, listed))
    held[:] = 5
    listed[0][0] = 5
    (numbers, lists), _ = states.recall(np.arange(2))
    assert numbers.tolist() == [0, 0]
    assert lists.tolist() == [[0], [0]]
    numbers[:] = 6
    lists[0][0] = 6
    (numbers, lists), _ = states.recall(np.arange(2))
    assert numbers.tolist() == [0, 0]
    assert lists.tolist() == [[0], [0]]
