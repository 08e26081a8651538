"""`State`: a position as a value, with keys and other deals that fit what a viewer knows."""

import copy
import json
import pickle
import random
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.reference.cards import Game
from tests.support.decks import GAMES, variants
from tests.support.envs import AGENTS, raw_env
from war_envs.info import Ending
from war_envs.state import State
from war_envs.variant import Variant, make_variant

VIEWERS: tuple[Any, ...] = (0, 1, "public")


def choose(state: State, rng: random.Random) -> list[int]:
    return [rng.choice(state.legal(seat)) for seat in state.acting]


def some_variants(game: Game, ranks: tuple[int, ...] = (3, 5), limit: int = 40) -> list[Variant]:
    return [
        make_variant(game, **options, num_ranks=number, max_turns=limit)
        for options, number in product(variants(game), ranks)
    ]


def positions(variant: Variant, seed: int) -> list[State]:
    """Those of one game, first to last."""
    rng, state = random.Random(seed), State.deal(variant, seed)
    met = [state.clone()]
    while not state.over:
        state.apply(choose(state, rng))
        met.append(state.clone())
    return met


@pytest.mark.parametrize("game", GAMES)
def test_it_is_the_game_of_the_environment(game: Game) -> None:
    for variant in some_variants(game):
        env, rng = raw_env(game, encoding="tokens", **variant.options), random.Random(1)
        env.reset(seed=4)
        state = State.deal(variant, 4)
        for _ in range(3):  # games, each dealt from what the one before left
            while not state.over:
                assert (state.hands, state.turn, state.winner) == (env.hands, env.turn, env.winner)
                assert state.status == env.status == Ending.RUNNING
                assert state.returns == (0.0, 0.0)
                assert AGENTS[state.acting[0]] == env.agent_selection
                for seat, agent in enumerate(AGENTS):
                    seen, mask = state.observe(seat)
                    observed = env.observe(agent)
                    assert seen.tobytes() == observed["observation"].tobytes()
                    assert mask.tobytes() == observed["action_mask"].tobytes()
                    assert state.legal(seat) == tuple(np.flatnonzero(mask))
                    assert state.known(seat) == env.known(agent)
                actions = choose(state, rng)
                state.apply(actions)
                for action in actions:
                    env.step(action)
            assert state.status == env.status == env.infos["player_0"]["ending"] != Ending.RUNNING
            assert state.returns == tuple(env.rewards[agent] for agent in AGENTS)
            assert (state.event, state.outcome) == (env.event, env.outcome)
            assert (state.acting, state.phase, state.legal(0)) == ((), "over", ())
            state = state.next_deal()
            env.reset()


@pytest.mark.parametrize("game", GAMES)
def test_copies_stand_alone_and_go_on_alike(game: Game) -> None:
    for variant in some_variants(game, (5,)):
        for state in positions(variant, 2)[:-1:5]:
            before = state.fields()
            through_json = json.loads(json.dumps(before))
            copies = [
                state.clone(),
                copy.copy(state),
                copy.deepcopy(state),
                pickle.loads(pickle.dumps(state)),
                State.from_fields(variant, through_json),
            ]
            actions = choose(state, random.Random(1))
            after = state.clone()
            after.apply(actions)
            for one in copies:
                assert one.fields() == before
                assert one.observe_all().tobytes() == state.observe_all().tobytes()
                one.apply(actions)
                assert one.fields() == after.fields()
                assert one.next_deal().hands == after.next_deal().hands
            assert state.fields() == before


@pytest.mark.parametrize("game", GAMES)
def test_a_redeal_cannot_be_told_from_the_position(game: Game) -> None:
    differed = 0
    for variant in some_variants(game):
        for state in positions(variant, 3):
            for viewer, seed in product(VIEWERS, (1, 2)):
                other = state.redeal(viewer, seed)
                assert State.from_fields(variant, other.fields()).fields() == other.fields()
                full = {"turn": True, "last": True, "suits": True}
                assert other.key(viewer, **full) == state.key(viewer, **full)
                assert [len(hand) for hand in other.hands] == [len(hand) for hand in state.hands]
                assert other.next_deal().hands == state.next_deal().hands
                differed += other.hands != state.hands
                for seat in (0, 1):
                    assert other.known(seat) == state.known(seat)
                    if viewer == seat:
                        for encoding, memory in product(("vector", "tokens"), ("perfect", "table")):
                            asked = {"encoding": encoding, "memory": memory}
                            mine, theirs = (
                                state.observe(seat, **asked),
                                other.observe(seat, **asked),
                            )
                            assert mine[0].tobytes() == theirs[0].tobytes()
                if variant.open_cards:
                    assert other.hands == state.hands
    assert differed > 300


def test_a_redeal_draws_all_deals_alike() -> None:
    """Six cards, of which the viewer sees its own top one: 5! deals."""
    state = State.deal(make_variant("attack-defence", minimal=True, num_ranks=3), 1)
    top = state.hands[0][0]
    number = 12_000
    found = Counter(tuple(map(tuple, state.redeal(0, seed).hands)) for seed in range(number))
    assert len(found) == 120
    assert all(first[0] == top for first, _ in found)
    expected = number / 120
    chi_square = sum((count - expected) ** 2 / expected for count in found.values())
    assert chi_square < 119 + 4 * (2 * 119) ** 0.5  # the seeds are fixed, so this never varies


@pytest.mark.parametrize("game", GAMES)
def test_a_redeal_keeps_colours_and_twins(game: Game) -> None:
    fair = State.deal(make_variant(game, fair=True, num_ranks=5), 2)
    assert fair.redeal("public", 5).hands != fair.hands
    first, second = fair.redeal("public", 5).hands
    twin = str.maketrans("HSDC", "SHCD")
    assert [card.translate(twin) for card in first] == second
    if game == "strategic-war":
        first, second = State.deal(make_variant(game), 2).redeal("public", 5).hands
        assert {card[1] for card in first} == {"H", "D"}
        assert {card[1] for card in second} == {"S", "C"}


def test_keys_forget_suits_only_where_the_rules_do() -> None:
    rng = random.Random(5)
    swap = str.maketrans("HSDC", "DCHS")
    for minimal, seed in product((False, True), range(20)):
        variant = make_variant("attack-defence", minimal=minimal, num_ranks=5, max_turns=60)
        state = State.deal(variant, seed)
        names = str.maketrans("HS", "SH") if minimal else swap
        hands = [[card.translate(names) for card in hand] for hand in state.hands]
        other = State.from_hands(variant, hands)
        while not state.over:
            for viewer in (*VIEWERS, "all"):
                assert state.key(viewer) == other.key(viewer)
                if viewer != "public":  # to which no card is known at first
                    assert state.key(viewer, suits=True) != other.key(viewer, suits=True)
            actions = choose(state, rng)
            state.apply(actions)
            other.apply(actions)
        assert state.returns == other.returns
    war = State.deal(make_variant("strategic-war"), 1)
    swapped = [[card.translate(swap) for card in hand] for hand in war.hands]
    again = State.from_hands(war.variant, swapped, first_attacker=war.acting[0])
    assert war.key("all") != again.key("all")


def test_equal_keys_of_four_suited_fair_games_go_on_alike() -> None:
    """There suits say which card a seen one tells, so keys must hold them."""
    variant = make_variant("attack-defence", fair=True, num_ranks=3)
    hands = (["AH", "2H", "AD", "2D"], ["AS", "2S", "AC", "2C"])
    other = (["AH", "2H", "AD", "2D"], ["AC", "2S", "AS", "2C"])  # no Fair deal
    first, second = State.from_hands(variant, hands), State.from_hands(variant, other)
    assert first.key(0) != second.key(0)
    assert first.key("all") != second.key("all")


@pytest.mark.parametrize("game", GAMES)
def test_keys_tell_apart_what_differs(game: Game) -> None:
    for variant in some_variants(game, (3,)):
        found: dict[bytes, tuple[Any, ...]] = {}
        for seed in range(30):
            for state in positions(variant, seed):
                key = state.key("all", suits=True)
                knowledge = state.known(0), state.known(1)
                what = (state.hands, state.table, state.phase, state.acting, state.winner)
                known = found.setdefault(key, (*what, knowledge))
                assert known == (*what, knowledge)
        assert len(set(map(repr, found.values()))) == len(found)


def test_what_a_key_may_hold_beside_the_cards() -> None:
    """Two defenders of one card each swap them for ever: only the turn tells those apart."""
    variant = make_variant("attack-defence", num_ranks=3, open_cards=True)
    state = State.from_hands(variant, (["AH"], ["2S"]))
    before = state.clone()
    state.apply((1, 1))
    state.apply((1, 1))
    assert state.key("all") == before.key("all")
    assert state.key("all", turn=True) != before.key("all", turn=True)
    assert state.key("all", last=True) != before.key("all", last=True)
    assert len({before.key(viewer) for viewer in (*VIEWERS, "all")}) == 4
    assert hash(before.key(0)) == hash(state.key(0))


@pytest.mark.parametrize("game", GAMES)
def test_wrong_actions_are_refused_and_change_nothing(game: Game) -> None:
    state = State.deal(make_variant(game, num_ranks=3), 1)
    before = state.fields()
    for wrong in (None, "0", (), (0,) * 3, 4, -1, True, 0.0, (9, 0), [None, 0], {0: 1}):
        with pytest.raises(ValueError, match=r"^action"):
            state.apply(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seat"):
        state.legal(2)
    with pytest.raises(ValueError, match="viewer"):
        state.key("nobody")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="viewer"):
        state.redeal("all", 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed"):
        state.redeal(0, -1)
    assert state.fields() == before
    state.forfeit(0)
    assert (state.status, state.winner, state.returns) == (Ending.WON, 1, (-1.0, 1.0))
    with pytest.raises(ValueError, match="over"):
        state.forfeit(0)
    with pytest.raises(ValueError, match="over"):
        state.apply(0)


def test_what_is_no_variant_and_no_position() -> None:
    for wrong in ("attack-defence", None, 5):
        with pytest.raises(ValueError, match=r"^variant="):
            State.deal(wrong)  # type: ignore[arg-type]
    variant = make_variant("attack-defence")
    with pytest.raises(ValueError, match="card 'XX' is unknown"):
        State.from_hands(variant, [["XX"], ["AH"]])
    fields: Any
    for fields in (None, {}, {"hands": []}, State.deal(variant).fields() | {"turn": "1"}):
        with pytest.raises(ValueError, match=r"^state: "):
            State.from_fields(variant, fields)


def test_only_strategic_war_has_a_first_attacker() -> None:
    war = make_variant("strategic-war", num_ranks=3)
    assert [State.deal(war, 1, first_attacker=seat).acting for seat in (0, 1)] == [(0,), (1,)]
    with pytest.raises(ValueError, match="first_attacker is not for attack-defence"):
        State.deal(make_variant("attack-defence"), 1, first_attacker=0)
