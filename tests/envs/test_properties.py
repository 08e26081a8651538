"""What must hold of any game and any environment, tried on examples that Hypothesis makes up."""

import copy
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.cards import Game
from tests.support.decks import GAMES, RANKS, deal, nearly_fair_hands, odd_hands
from tests.support.envs import AGENTS, raw_env
from tests.support.positions import GAME_KINDS, advance, all_of, make, trace
from tests.support.referees import AttackDefenceReferee, StrategicWarReferee
from war_envs.engine.engine import Engine

SEEDS = st.integers(0, 2**63 - 1)
OPTIONS = st.fixed_dictionaries(
    {
        "minimal": st.booleans(),
        "fair": st.booleans(),
        "open_cards": st.booleans(),
        "num_ranks": st.sampled_from(RANKS),
        "max_turns": st.none() | st.integers(1, 60),
    }
)


@settings(max_examples=150)
@given(
    game=st.sampled_from(GAMES),
    options=OPTIONS,
    own_card=st.sampled_from(("bottom", "first")),
    hands=st.sampled_from((deal, odd_hands, nearly_fair_hands)),
    choices=st.lists(st.integers(0, 1), max_size=40),
    luck=st.integers(0, 2**32),
)
def test_a_whole_game(
    game: Game,
    options: dict[str, Any],
    own_card: str,
    hands: Any,
    choices: list[int],
    luck: int,
) -> None:
    """Cards are conserved, rewards sum to zero, masks are the legal sets, and the game ends."""
    rng = random.Random(luck)
    if game == "attack-defence":
        options = {**options, "own_card": own_card}
    dealt = hands(game, options, rng)
    given_hands: dict[str, Any] = {"hands": dealt}
    referee: Any
    if game == "attack-defence":
        referee = AttackDefenceReferee(dealt, options)
    else:
        given_hands["first_attacker"] = rng.choice((0, 1))
        referee = StrategicWarReferee(dealt, options, given_hands["first_attacker"])
    plays = referee.plays
    env = raw_env(game, encoding="tokens", **options)
    env.reset(options=given_hands)
    in_play = sorted(dealt[0] + dealt[1])
    left = list(reversed(choices))
    committed: list[int] = []
    # A war lays at most the whole deck, and each choice of a round lays a card or says so.
    for _ in range(3 * (len(in_play) + 2) * referee.max_turns):
        seat = int(env.agent_selection == "player_1")
        on_table = [card for card, _, _ in plays.table] if game == "strategic-war" else []
        assert sorted(env.hands[0] + env.hands[1] + on_table) == in_play
        assert sum(env.rewards.values()) == 0.0
        masks = [env.observe(agent)["action_mask"] for agent in AGENTS]
        if plays.over:
            assert not any(mask.any() for mask in masks)
            assert env.rewards == dict(zip(AGENTS, plays.rewards(), strict=True))
            return
        assert env.rewards == dict.fromkeys(AGENTS, 0.0)
        legal = plays.legal(seat) if game == "attack-defence" else plays.legal()
        assert np.flatnonzero(masks[seat]).tolist() == legal
        action = legal[(left.pop() if left else rng.choice((0, 0, 1))) % len(legal)]
        env.step(action)
        if game == "strategic-war":
            assert plays.mover == seat
            referee.play(action)
            continue
        committed.append(action)
        if seat:
            plays.play(*committed)
            committed.clear()
    pytest.fail("the game does not end")


# --- copies ---


def by_state(env: Any) -> Any:
    """A fresh environment with the same options, set to the state of ``env``."""
    raw = env.unwrapped
    variant = raw.variant
    kind = "env" if env is not raw else "parallel_env" if raw.api == "parallel" else "raw_env"
    other = make(
        variant.game,
        kind,
        **variant.options,
        encoding=raw.encoding,
        memory=raw.memory,
        render_mode=raw.render_mode,
        render_view=raw.render_view,
    )
    other.reset(seed=5)
    other.unwrapped.set_state(raw.get_state())
    return other


def by_clone(env: Any) -> Any:
    """`clone` where the environment has it, which wrappers have not."""
    return env.clone() if env is env.unwrapped else copy.deepcopy(env)


WAYS: dict[str, Callable[[Any], Any]] = {
    "clone": by_clone,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "oldest pickle": lambda env: pickle.loads(pickle.dumps(env, protocol=0)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
    "state": by_state,
}


def mutable_parts(value: Any, found: dict[int, Any]) -> Iterator[Any]:
    """Every array, dict and list that an environment holds, spaces and the game's engine apart."""
    if id(value) in found or isinstance(value, str | bytes | int | float | type | Engine | None):
        return
    found[id(value)] = value
    if isinstance(value, np.ndarray | dict | list):
        yield value
    if isinstance(value, dict):
        inner = [v for k, v in value.items() if not str(k).endswith("_spaces")]
    elif isinstance(value, list | tuple):
        inner = list(value)
    else:
        inner = [vars(value)] if hasattr(value, "__dict__") else []
    for part in inner:
        yield from mutable_parts(part, found)


def assert_nothing_shared(env: Any, other: Any) -> None:
    own = list(mutable_parts(env, {}))
    others = list(mutable_parts(other, {}))
    assert any(isinstance(part, np.ndarray) for part in own)
    assert not {id(part) for part in own} & {id(part) for part in others}
    for part in own:
        for another in others:
            if isinstance(part, np.ndarray) and isinstance(another, np.ndarray):
                assert not np.shares_memory(part, another)


@pytest.mark.slow
@pytest.mark.field_case("A09", "A10", "S09")
@settings(max_examples=80)
@given(
    which=st.sampled_from(GAME_KINDS),
    options=OPTIONS,
    encoding=st.sampled_from(("vector", "tokens")),
    memory=st.sampled_from(("perfect", "table")),
    view=st.sampled_from((*AGENTS, "all")),
    seed=SEEDS,
    steps=st.integers(0, 60),
    luck=st.integers(0, 2**32),
)
def test_copies_continue_identically(
    which: tuple[Game, str],
    options: dict[str, Any],
    encoding: str,
    memory: str,
    view: str,
    seed: int,
    steps: int,
    luck: int,
) -> None:
    rng = random.Random(luck)
    game, kind = which
    settings_ = {"encoding": encoding, "memory": memory, "render_view": view}
    env = make(game, kind, **options, **settings_, render_mode="ansi")
    env.reset(seed=seed)
    for _ in range(steps):
        advance(env, rng)
    now, moves = all_of(env), rng.randrange(2**32)
    traces = {}
    for way, copied in WAYS.items():
        twin = copied(env)
        assert type(twin) is type(env)
        for name in ("encoding", "memory", "render_view", "render_mode", "variant"):
            assert getattr(twin.unwrapped, name) == getattr(env.unwrapped, name), way
        for agent in AGENTS:
            assert twin.observation_space(agent) == env.observation_space(agent)
            assert twin.action_space(agent) == env.action_space(agent)
        assert_nothing_shared(env, twin)
        traces[way] = trace(twin, 25, moves)
        assert all_of(env) == now, f"playing on in a copy by {way} changed the original"
        deals = [twin.unwrapped.hands]
        for _ in range(2):
            twin.reset()
            deals.append(twin.unwrapped.hands)
        traces[way].append(tuple(deals))
    expected: list[Any] = trace(env, 25, moves)
    deals = [env.unwrapped.hands]
    for _ in range(2):
        env.reset()
        deals.append(env.unwrapped.hands)
    expected.append(tuple(deals))
    for way, found in traces.items():
        assert found == expected, way


@pytest.mark.parametrize("way", [way for way in WAYS if way != "state"])
@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_copies_before_the_first_reset(game: Game, kind: str, way: str) -> None:
    env = make(game, kind, minimal=True, max_turns=3)
    twin = WAYS[way](env)
    for fresh in (env, twin):
        with pytest.raises((RuntimeError, AttributeError), match=r"reset\(\)"):
            _ = fresh.unwrapped.hands
        fresh.reset(seed=2)
    assert trace(twin, 20, 1) == trace(env, 20, 1)
    assert twin.unwrapped.variant == env.unwrapped.variant


@pytest.mark.field_case("A11")
@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_options_outlive_every_reset(game: Game, kind: str) -> None:
    """With a seed and without, with options and without: the same rules."""
    env = make(game, kind, minimal=True, num_ranks=3, max_turns=1)
    for arguments in ({}, {"seed": 5}, {"seed": 5, "options": {}}, {"options": None}, {}):
        env.reset(**arguments)
        assert sorted(len(hand) for hand in env.unwrapped.hands) == [3, 3]
        rng = random.Random(2)
        for _ in range(60):
            if not env.agents or (
                not env.observe("player_0")["action_mask"].any()
                and not (env.observe("player_1")["action_mask"].any())
            ):
                break
            advance(env, rng)
        assert env.unwrapped.variant.max_turns == 1
