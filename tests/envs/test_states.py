"""States from elsewhere: what `get_state` did not give is refused, and changes nothing."""

import copy
import json
import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.cards import Game
from tests.support.envs import AGENTS
from tests.support.positions import GAME_KINDS, advance, all_of, is_parallel, legal_choice, make
from war_envs.attack_defence import rules as attack_defence_rules
from war_envs.strategic_war import rules as strategic_war_rules

RECORDS = {"attack-defence": attack_defence_rules.GAME, "strategic-war": strategic_war_rules.GAME}
OPTIONS = {"minimal": True, "fair": True, "num_ranks": 5, "max_turns": 12}
# Both games' raw kinds: the wrappers' state is the raw one.
KINDS = [which for which in GAME_KINDS if which[1] != "env"]
JUNK: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    10**30,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "player_0",
    "player_1",
    "player_2",
    [],
    ["player_0"],
    ["player_1"],
    ["player_1", "player_0"],
    ["player_0", "player_1", "player_2"],
    [[]],
    {},
    {"player_0": 0.0},
    {"player_0": 0.0, "player_1": 7.0},
    {"player_0": True, "player_1": False},
    {"player_0": {}, "player_1": {}},
]


def environments(game: Game, kind: str) -> list[Any]:
    """One environment at each stage of a game, up to the last dead step."""
    env = make(game, kind, encoding="tokens", **OPTIONS)
    rng = random.Random(8)
    stages: dict[str, Any] = {}
    for seed in range(12):
        env.reset(seed=seed)
        for _ in range(200):
            mask = [bool(env.observe(agent)["action_mask"].any()) for agent in AGENTS]
            stage = [len(env.agents), mask, env.unwrapped.get_state().count(b"true")]
            if not is_parallel(env):
                stage += [env.agent_selection, json.loads(env.get_state())["books"]]
                stage[-1] = stage[-1].get("committed")
            if game == "strategic-war":
                stage.append(int(env.unwrapped._position.games[0]["phase"]))
            stages.setdefault(str(stage), copy.deepcopy(env))
            if not env.agents:
                break
            advance(env, rng)
    return list(stages.values())


def play_on(env: Any) -> None:
    """Plays an accepted state to its end: everything must be sound on the way."""
    rng = random.Random(3)
    for _ in range(600):
        env.set_state(env.get_state())  # what may follow from it is accepted, too
        first, second = env.hands
        assert len(set(first + second)) == len(first + second)
        for agent in AGENTS:
            observation = env.observe(agent)
            assert env.observation_space(agent).contains(observation)
        assert isinstance(env.event, str)
        assert isinstance(env.outcome, str)
        if not env.agents:
            break
        if is_parallel(env):
            choices = {agent: legal_choice(env, agent, rng) for agent in AGENTS}
            _, rewards, terminations, truncations, _ = env.step(choices)
            assert sum(rewards.values()) == 0
            assert bool(env.agents) != any([*terminations.values(), *truncations.values()])
            continue
        agent = env.agent_selection
        _, reward, terminated, truncated, info = env.last()
        assert type(reward) is float
        assert reward in (-1.0, 0.0, 1.0)
        assert type(terminated) is bool
        assert type(truncated) is bool
        assert bool(info["ending"]) == bool(env.outcome) == (terminated or truncated)
        if terminated or truncated:
            env.step(None)
        else:
            assert reward == 0.0
            env.step(legal_choice(env, agent, rng))
    assert env.agents == []
    env.reset()
    assert list(env.agents) == list(AGENTS)


def must_be_refused(env: Any, state: Any) -> str:
    before = all_of(env)
    with pytest.raises(ValueError, match="state") as refused:
        env.set_state(state)
    assert "\n" not in str(refused.value)
    assert all_of(env) == before
    return str(refused.value)


def refused_or_sound(env: Any, state: bytes) -> bool:
    """Was the state accepted? If so it has been played to its end; if not, nothing has changed."""
    before = env.get_state()
    message = None
    try:
        env.set_state(state)
    except ValueError as refused:
        message = str(refused)
    if message is not None:
        assert "\n" not in message
        assert env.get_state() == before
        return False
    play_on(env)
    env.set_state(before)
    return True


def edited(state: bytes, **changes: Any) -> bytes:
    return json.dumps(json.loads(state) | changes).encode()


def record_of(state: bytes) -> Any:
    return json.loads(state)["record"]


def places_of(entries: Any) -> list[tuple[int, ...]]:
    """Where the numbers of a field stand: ``()`` for a field that is one."""
    if not isinstance(entries, list):
        return [()]
    return [(i, *rest) for i, inner in enumerate(entries) for rest in places_of(inner)]


def with_number(state: bytes, field: str, place: tuple[int, ...], number: Any) -> bytes:
    """The state with one number of its record replaced."""
    record = record_of(state)
    if not place:
        return edited(state, record={**record, field: number})
    inner = record[field]
    for i in place[:-1]:
        inner = inner[i]
    inner[place[-1]] = number
    return edited(state, record=record)


def test_records_have_no_gaps() -> None:
    """NumPy does not copy what lies between fields: a state would hold whatever memory held."""
    for dtype in RECORDS.values():
        used = np.zeros(dtype.itemsize, bool)
        for field, at, *_ in np.dtype(dtype).fields.values():  # type: ignore[union-attr]
            used[at : at + field.itemsize] = True
        assert used.all()


@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_a_state_is_taken_as_it_was_given(game: Game, kind: str) -> None:
    env = make(game, kind, encoding="tokens", **OPTIONS)
    stages = environments(game, kind)
    assert len(stages) >= (5 if kind == "raw_env" else 2)
    for stage in stages:
        for other in stages:
            other.set_state(stage.get_state())
            assert all_of(other) == all_of(stage)
        # Also by one that was never reset.
        fresh = make(game, kind, encoding="tokens", **OPTIONS)
        fresh.set_state(bytearray(stage.get_state()))
        assert all_of(fresh) == all_of(stage)
        env.set_state(stage.get_state())
        assert all_of(env) == all_of(stage)
        play_on(env)


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_what_is_no_state(game: Game, kind: str) -> None:
    env = make(game, kind, render_mode="ansi", **OPTIONS)
    env.reset(seed=1)
    raw = env.unwrapped
    state = raw.get_state()
    for wrong in (
        None,
        5,
        state.decode(),
        json.loads(state),
        [state],
        memoryview(state),
        b"",
        b"{}",
        b"[]",
        b"null",
        b"5",
        b'"state"',
        b"\xff\xfe\x00",
        b"\x80\x04\x95",
        state[:-1],
        state[1:],
        state + b"x",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
    ):
        must_be_refused(raw, wrong)


@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_states_of_something_else(game: Game, kind: str) -> None:
    env = make(game, kind, **OPTIONS)
    env.reset(seed=1)
    state = env.get_state()
    content = json.loads(state)
    for field in content:
        without = {name: value for name, value in content.items() if name != field}
        must_be_refused(env, json.dumps(without).encode())
        for junk in JUNK:
            if junk != content[field]:
                assert field in must_be_refused(env, edited(state, **{field: junk}))
    for other_game, other_kind in KINDS:
        if (other_game, other_kind) != (game, kind):
            other = make(other_game, other_kind, **OPTIONS)
            other.reset(seed=1)
            must_be_refused(env, other.get_state())
    changes: dict[str, Any] = {
        "minimal": False,
        "fair": False,
        "open_cards": True,
        "num_ranks": 7,
        "max_turns": 13,
    }
    if game == "attack-defence":
        changes["own_card"] = "first"
    assert set(content["variant"]) == set(changes)
    for option, value in changes.items():
        other = make(game, kind, **{**OPTIONS, option: value})
        other.reset(seed=1)
        assert "variant" in must_be_refused(env, other.get_state())
        # A record of another variant, in a state that says it is of this one.
        refused_or_sound(env, edited(state, record=record_of(other.get_state())))


@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_wrong_books(game: Game, kind: str) -> None:
    """Each book, and each agent's entry, replaced by what does not belong there."""
    accepted, tried = 0, 0
    for env in environments(game, kind):
        state = env.get_state()
        books = json.loads(state)["books"]
        for name, book in books.items():
            wrong = [{**books, name: junk} for junk in JUNK]
            wrong.append({key: value for key, value in books.items() if key != name})
            wrong.append({**books, "more": 1})
            if isinstance(book, dict):
                for agent in book:
                    wrong += [{**books, name: {**book, agent: junk}} for junk in JUNK]
                    wrong.append({**books, name: {a: v for a, v in book.items() if a != agent}})
            for changed in wrong:
                if json.dumps(changed) != json.dumps(books):
                    tried += 1
                    accepted += refused_or_sound(env, edited(state, books=changed))
    assert tried > 100
    assert accepted < tried / 10


NUMBERS = [0, 1, 2, 3, 4, 5, 8, 12, 20, 52, 53, 63, 64, 255]
EXTREMES = [-1, -(2**63), 2**31, 2**63 - 1]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "kind"), KINDS)
def test_wrong_records(game: Game, kind: str) -> None:
    """Each entry of the record replaced by numbers of all kinds."""
    rng = random.Random(1)
    for env in environments(game, kind):
        state = env.get_state()
        for name, entries in record_of(state).items():
            places = places_of(entries)
            for place in places if len(places) < 4 else rng.sample(places, 3):
                numbers = [*NUMBERS, *EXTREMES, *JUNK]
                for number in numbers if len(places) < 4 else rng.sample(numbers, 5):
                    changed = with_number(state, name, place, number)
                    if changed != state:
                        refused_or_sound(env, changed)


def test_phase_and_table_must_go_together() -> None:
    """Flips begin on no open round, answers on one war's cards: eights, one more, or four more."""
    laid_for_phase = (0, 1, 4, 4)
    accepted = set()
    for env in environments("strategic-war", "raw_env"):
        state = env.get_state()
        record = record_of(state)
        if record["status"] or not all(record["hands"]):
            continue
        laid = record["table_size"] % 8
        for phase, attacker in product(range(4), range(2)):
            forged = edited(state, record={**record, "phase": phase, "attacker": attacker})
            if laid == laid_for_phase[phase]:
                env.set_state(forged)
                accepted.add(phase)
            else:
                assert "phase" in must_be_refused(env, forged)
    assert accepted == {0, 1, 2, 3}


@settings(max_examples=300)
@given(
    which=st.sampled_from(KINDS),
    steps=st.integers(0, 30),
    places=st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=4),
    inside=st.booleans(),
)
def test_fuzzed_states(
    which: tuple[Game, str], steps: int, places: list[tuple[int, int]], inside: bool
) -> None:
    """Bytes changed anywhere: in the record, or in the JSON around it."""
    game, kind = which
    env = make(game, kind, encoding="tokens", **OPTIONS)
    env.reset(seed=steps)
    rng = random.Random(steps)
    for _ in range(steps):
        advance(env, rng)
    state = env.get_state()
    if inside:
        changed = state
        for place, value in places:
            record = record_of(changed)
            every = [(name, at) for name in record for at in places_of(record[name])]
            changed = with_number(changed, *every[place % len(every)], value)
        refused_or_sound(env, changed)
    else:
        raw = bytearray(state)
        for place, value in places:
            raw[place % len(raw)] = value
        refused_or_sound(env, bytes(raw))


@pytest.mark.slow
@settings(max_examples=150)
@given(
    state=st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode())
)
def test_fuzzed_bytes(state: bytes) -> None:
    env = make("strategic-war", "raw_env", **OPTIONS)
    env.reset(seed=1)
    must_be_refused(env, state)
