"""The engine beside the reference: hundreds of random games of every variant, choice by choice."""

import random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.reference.attack_defence import ATTACK, DEFEND
from tests.reference.cards import Game, colour, is_one_colour
from tests.reference.strategic_war import SURRENDER
from tests.support.decks import (
    RANKS,
    Options,
    label,
    nearly_fair_hands,
    odd_hands,
    variants,
    whole_deck,
)
from tests.support.drive import (
    Happenings,
    Snapshot,
    attack_defence_row,
    must_be_equal,
    names_of,
    strategic_war_row,
)
from tests.support.envs import AGENTS, raw_env
from tests.support.referees import AttackDefenceReferee, StrategicWarReferee
from war_envs.batch import Batch, Step, make_batch

# Games of a variant, by ranks in the deck: games on small decks are short, and end in more ways.
GAMES_BY_RANKS: dict[Game, dict[int, int]] = {
    "attack-defence": {3: 60, 5: 40, 7: 24, 9: 16, 11: 10, 13: 10},
    "strategic-war": {3: 300, 5: 160, 7: 70, 9: 40, 11: 30, 13: 30},
}
SHORT_LIMITS = (1, 2, 3, 8)
TEMPERS = (0.15, 0.3, 0.5, 0.7, 0.9, 1.0)


def new_batch(game: Game, options: Options, number: int, seed: int) -> tuple[Batch, list[bytes]]:
    batch = make_batch(game, number, **options)
    batch.reset(seed=seed)
    rows = Snapshot(game, batch.games).rows
    for row in rows:
        hands = names_of(game, row)
        assert sorted(hands[0] + hands[1]) == sorted(whole_deck(game, options))
        assert len(hands[0]) == len(hands[1])
        if game == "strategic-war":
            assert [colour(hand[0]) for hand in hands] == ["red", "black"]
            assert is_one_colour(hands[0], "red")
    return batch, rows


def check_ends(
    step: Step,
    batch: Batch,
    referees: list[Any],
    running: list[int],
    happenings: Happenings,
) -> list[int]:
    """Flags, rewards, winner and turns after a step; returns the games that go on."""
    over = {row for row, referee in enumerate(referees) if referee.plays.over}
    ended = [row for row in running if row in over]
    assert step.final_rows.tolist() == ended
    assert batch.games["status"].tolist() == [referee.status for referee in referees]
    assert step.terminated.tolist() == [r.status == 1 for r in referees]
    assert step.truncated.tolist() == [r.status == 2 for r in referees]
    assert batch.games["turn"].tolist() == [r.plays.turn for r in referees]
    winners = [-1 if r.plays.winner is None else r.plays.winner for r in referees]
    assert batch.games["winner"].tolist() == winners
    rewards = np.zeros((len(referees), 2))
    for row in ended:
        rewards[row] = referees[row].plays.rewards()
        happenings.ended(referees[row])
    assert np.array_equal(step.reward, rewards)
    return [row for row in running if row not in over]


def lockstep_attack_defence(options: Options, number: int, seed: int, seen: Happenings) -> None:
    rng = random.Random(seed)
    batch, rows = new_batch("attack-defence", options, number, seed)
    referees = [AttackDefenceReferee(names_of("attack-defence", row), options) for row in rows]
    for referee in referees:
        assert referee.plays.twins_tell == options["fair"]
    attacking = [(rng.choice(TEMPERS), rng.choice(TEMPERS)) for _ in range(number)]
    running = list(range(number))
    for row in running:
        must_be_equal(row, "state", rows[row], attack_defence_row(referees[row]))
    while running:
        _, masks = batch.observe()
        actions = np.full((number, 2), DEFEND)
        for row in running:
            plays = referees[row].plays
            for seat in (0, 1):
                legal = np.flatnonzero(masks[row, seat]).tolist()
                must_be_equal(row, "mask", legal, plays.legal(seat))
                actions[row, seat] = ATTACK if rng.random() < attacking[row][seat] else DEFEND
            plays.play(*actions[row].tolist())
            seen[plays.last["outcome"]] += 1
            seen["extra"] += plays.last["extra"] is not None
        step = batch.step(actions, autoreset=False)
        rows = Snapshot("attack-defence", batch.games).rows
        for row in running:
            must_be_equal(row, "state", rows[row], attack_defence_row(referees[row]))
        running = check_ends(step, batch, referees, running, seen)
    assert not batch.acting.any()


def choose(legal: list[int], rng: random.Random, surrendering: float) -> int:
    if SURRENDER in legal:
        return SURRENDER if rng.random() < surrendering else legal[0]
    return rng.choice(legal)


def lockstep_strategic_war(options: Options, number: int, seed: int, seen: Happenings) -> None:
    rng = random.Random(seed)
    batch, rows = new_batch("strategic-war", options, number, seed)
    attackers: list[int] = batch.mover.tolist()
    referees = [
        StrategicWarReferee(names_of("strategic-war", row), options, attacker)
        for row, attacker in zip(rows, attackers, strict=True)
    ]
    for referee in referees:
        assert referee.plays.twins_tell == options["fair"]
    surrendering = [rng.choice((0.0, 0.1, 0.4)) for _ in range(number)]
    running = list(range(number))
    for row in running:
        must_be_equal(row, "state", rows[row], strategic_war_row(referees[row]))
    while running:
        movers, acting = batch.mover.tolist(), batch.acting
        _, masks = batch.observe()
        actions: NDArray[np.int64] = np.zeros(number, np.int64)
        for row in running:
            referee = referees[row]
            plays = referee.plays
            must_be_equal(row, "mover", movers[row], plays.mover)
            assert acting[row].tolist() == [plays.mover == 0, plays.mover == 1]
            must_be_equal(row, "mask", np.flatnonzero(masks[row]).tolist(), plays.legal())
            actions[row] = choose(plays.legal(), rng, surrendering[row])
            seen[f"{plays.phase} {'TBFS'[actions[row]]}"] += 1
            seen["long war"] += len(plays.table) >= 16
            referee.play(int(actions[row]))
            if plays.over and plays.table:
                seen[f"out of cards with {len(plays.table) % 8}"] += 1
        step = batch.step(actions, autoreset=False)
        rows = Snapshot("strategic-war", batch.games).rows
        for row in running:
            must_be_equal(row, "state", rows[row], strategic_war_row(referees[row]))
        running = check_ends(step, batch, referees, running, seen)
    assert not batch.acting.any()


LOCKSTEPS = {
    "attack-defence": lockstep_attack_defence,
    "strategic-war": lockstep_strategic_war,
}
MUST_HAPPEN = {
    "attack-defence": {"won", "tie", "swap", "extra"},
    "strategic-war": {
        *(f"{phase} {end}" for phase in ("attack", "defend") for end in "TB"),
        *(f"{phase}-surrender {answer}" for phase in ("defender", "attacker") for answer in "FS"),
        "long war",
        "tie",
        # with two flipped, and with four or six laid down more: before each lay-down
        "out of cards with 2",
        "out of cards with 4",
        "out of cards with 6",
        # before the next flips
        "out of cards with 0",
    },
}


@pytest.mark.slow
@pytest.mark.field_case("M09")
@pytest.mark.parametrize("game", LOCKSTEPS)
def test_every_variant_beside_the_reference(game: Game) -> None:
    seen = Happenings()
    for number, variant in enumerate(variants(game)):
        for ranks in RANKS:
            options = {**variant, "num_ranks": ranks}
            LOCKSTEPS[game](options, GAMES_BY_RANKS[game][ranks], 100 * number + ranks, seen)
        for limit in SHORT_LIMITS:
            options = {**variant, "num_ranks": 3, "max_turns": limit}
            LOCKSTEPS[game](options, 30, 100 * number + 20 + limit, seen)
    must = MUST_HAPPEN[game] | {"won by 0", "won by 1", "truncated", "ended on the last turn"}
    assert must <= set(seen), f"never happened: {must - set(seen)}"
    assert seen["won by 0"] + seen["won by 1"] > 2000


@pytest.mark.slow
@pytest.mark.parametrize("hands", [odd_hands, nearly_fair_hands], ids=["odd", "nearly fair"])
@pytest.mark.parametrize("game", LOCKSTEPS)
def test_given_hands_beside_the_reference(game: Game, hands: Any) -> None:
    rng = random.Random(f"{game} {hands.__name__}")
    seen = Happenings()
    for variant in variants(game):
        for ranks in RANKS:
            for limit in (1, 4, None, None):
                options = {**variant, "num_ranks": ranks, "max_turns": limit}
                play_given_hands(game, options, hands(game, options, rng), rng, seen)
    assert {"won by 0", "won by 1", "truncated", "twins"} <= set(seen)


def play_given_hands(
    game: Game, options: Options, hands: Any, rng: random.Random, seen: Happenings
) -> None:
    """One game through the AEC environment, everything compared after each choice."""
    env = raw_env(game, **options)
    given: dict[str, Any] = {"hands": hands}
    referee: Any
    if game == "attack-defence":
        referee = AttackDefenceReferee(hands, options)
    else:
        given["first_attacker"] = rng.choice((0, 1))
        referee = StrategicWarReferee(hands, options, given["first_attacker"])
    env.reset(seed=rng.randrange(1000), options=given)
    plays = referee.plays
    seen["twins"] += plays.twins_tell
    mover = 0
    committed: list[int] = []
    for _ in range(300):
        assert env.hands == (plays.hands[0], plays.hands[1]), label(options)
        for viewer, agent in enumerate(AGENTS):
            known = plays.known(viewer) if game == "attack-defence" else plays.known()
            assert env.known(agent) == known
            assert env.rewards[agent] == plays.rewards()[viewer]
            assert env.terminations[agent] == (referee.status == 1)
            assert env.truncations[agent] == (referee.status == 2)
            assert bool(env.infos[agent]["ending"]) == bool(env.outcome) == plays.over
        if plays.over:
            seen.ended(referee)
            return
        if game == "strategic-war":
            mover = plays.mover
        assert env.agent_selection == AGENTS[mover]
        legal = plays.legal(mover) if game == "attack-defence" else plays.legal()
        mask = env.observe(AGENTS[mover])["action_mask"]
        assert np.flatnonzero(mask).tolist() == legal
        if game == "strategic-war":
            assert not env.observe(AGENTS[1 - mover])["action_mask"].any()
        action = choose(legal, rng, 0.2)
        env.step(action)
        if game == "strategic-war":
            referee.play(action)
            continue
        committed.append(action)
        mover = 1 - mover
        if len(committed) == 2:
            plays.play(*committed)
            committed.clear()


@pytest.mark.field_case("A12")
def test_the_limit_at_the_natural_length() -> None:
    """A game that ends on the last turn has really ended; one turn earlier it is truncated."""
    for game in LOCKSTEPS:
        for seed in range(20):
            length = finished(game, None, seed)[0]
            assert finished(game, length, seed) == (length, True, False)
            if length > 1:
                assert finished(game, length - 1, seed) == (length - 1, False, True)


def finished(game: str, max_turns: int | None, seed: int) -> tuple[int, bool, bool]:
    """Turns begun, terminated and truncated of a game by a seed's choices."""
    rng = random.Random(seed)
    batch = make_batch(game, 1, "minimal", num_ranks=5, max_turns=max_turns)
    batch.reset(seed=seed)
    while True:
        seats = [0, 1] if game == "attack-defence" else [int(batch.mover[0])]
        _, masks = batch.observe([0] * len(seats), seats)
        choices = [rng.choice(np.flatnonzero(mask).tolist()) for mask in masks]
        actions = [choices] if game == "attack-defence" else choices
        step = batch.step(np.array(actions), autoreset=False)
        if len(step.final_rows):
            turns = int(batch.games["turn"][0])
            if game == "strategic-war" and batch.games["table_size"][0]:
                turns += 1  # out of cards in a war, which is not counted
            return turns, bool(step.terminated[0]), bool(step.truncated[0])
