"""The array that shows the whole game, decoded beside the true hands."""

import random
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import aec_to_parallel, parallel_to_aec

from tests.reference.cards import Game
from tests.support.decks import CARD_NAMES, label, modes
from tests.support.envs import AGENTS
from tests.support.positions import GAME_KINDS, advance, make
from war_envs.engine.engine import ENGINES

HEADERS = {game: [f.name for f in ENGINES[game].global_layout.header] for game in ENGINES}
LAST = ("action_0", "action_1", "card_0", "card_1", "taker")


def decoded_slot(game: Game, token: int) -> tuple[str, bool, bool] | None:
    """A slot's card, and whether player_0 and player_1 know it."""
    if token == 0:
        return None
    known, card = divmod(token - 1, 52)
    first, second = (known & 1, known >> 1) if game == "attack-defence" else (known, known)
    return CARD_NAMES[game][card], bool(first), bool(second)


def must_tell_the_game(game: Game, env: Any) -> None:
    raw, slots = env.unwrapped, env.unwrapped.variant.deck_size
    state = env.state()
    assert raw.state_space.contains(state)
    names = HEADERS[game]
    header = dict(zip(names, state[: len(names)].tolist(), strict=True))
    rows = state[len(names) :].reshape(-1, slots)
    for player, hand in enumerate(raw.hands):
        known = [raw.known(agent)[player] for agent in AGENTS]
        expected = list(zip(hand, *known, strict=True))
        found = [decoded_slot(game, token) for token in rows[player].tolist()]
        assert found == expected + [None] * (slots - len(hand))
        assert header[f"size_{player}"] == len(hand)
    infos = raw.infos.values()
    for info in infos:
        assert header["over"] == (info["ending"] > 0)
        assert header["winner"] == info["winner"] + 1
        assert [header[f"last_{name}"] for name in LAST] == [
            info[f"last_{name}"] + 1 for name in LAST
        ]
    if game == "strategic-war":
        cards = [slot[0] for token in rows[2].tolist() if (slot := decoded_slot(game, token))]
        assert header["table_size"] == len(cards)
        # Hands and table hold the whole deck.
        assert len({*cards, *raw.hands[0], *raw.hands[1]}) == slots
        mover = 0 if header["over"] else 1 + AGENTS.index(raw.agent_selection)
        assert header["mover"] == mover


@pytest.mark.slow
@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
@pytest.mark.parametrize("variant", modes(), ids=label)
def test_the_global_state_tells_hands_and_who_knows_what(
    game: Game, kind: str, variant: dict[str, Any]
) -> None:
    env = make(game, kind, encoding="tokens", num_ranks=5, max_turns=60, **variant)
    vectors = make(game, kind, num_ranks=5, max_turns=60, **variant)
    space, rng = env.state_space, random.Random(label(variant))
    for seed in range(3):
        env.reset(seed=seed)
        for _ in range(200):
            must_tell_the_game(game, env)
            vectors.unwrapped.set_state(env.unwrapped.get_state())
            assert vectors.state_space.contains(vectors.state())
            if not env.agents:
                break
            advance(env, rng)
    assert env.state_space is space


@pytest.mark.parametrize("game", ENGINES)
def test_vectors_are_tokens_spelt_out(game: Game) -> None:
    env, vectors = make(game, "raw_env", encoding="tokens"), make(game, "raw_env")
    env.reset(seed=1)
    for action in (0, 1, 0):
        env.step(action)
    vectors.set_state(env.get_state())
    tokens, vector = env.state(), vectors.state()
    assert (tokens.dtype, vector.dtype) == (np.uint8, np.float32)
    layout = ENGINES[game].global_layout
    head = len(layout.header)
    np.testing.assert_array_equal(vector[:head], (tokens[:head] / layout.scales).astype("f4"))
    spelt = layout.features[tokens[head:]].reshape(-1)
    np.testing.assert_array_equal(vector[head:], spelt)


def test_a_committed_choice_is_not_in_it() -> None:
    env = make("attack-defence", "env")
    env.reset(seed=1)
    before = env.state().tobytes()
    env.step(1)
    assert env.state().tobytes() == before
    env.step(1)
    assert env.state().tobytes() != before


def test_an_illegal_choice_and_given_hands_stay_in_the_space() -> None:
    env = make("strategic-war", "env")
    env.reset(seed=1, options={"hands": (["2H", "3S"], ["AS"])})
    assert env.state_space.contains(env.state())
    env.step(3)
    assert env.terminations["player_0"]
    assert env.state_space.contains(env.state())


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_each_state_is_the_callers_and_before_reset_there_is_none(game: Game, kind: str) -> None:
    env = make(game, kind)
    with pytest.raises((RuntimeError, AssertionError), match="reset"):
        env.state()
    env.reset(seed=1)
    first = env.state()
    kept = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(env.state(), kept)


def test_it_is_reached_through_wrappers_and_conversions() -> None:
    for wrap in (
        wrappers.BaseWrapper,
        wrappers.OrderEnforcingWrapper,
        lambda env: wrappers.TerminateIllegalWrapper(env, illegal_reward=-1),
        aec_to_parallel,
    ):
        env: Any = wrap(make("attack-defence", "env"))
        env.reset(seed=1)
        assert env.state_space.contains(env.state())
    for env in (
        parallel_to_aec(make("attack-defence", "parallel_env")),
        wrappers.BaseParallelWrapper(make("attack-defence", "parallel_env")),
    ):
        env.reset(seed=1)
        assert env.state_space.contains(env.state())
