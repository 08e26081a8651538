"""Nothing hidden leaks: what a player cannot know is dealt anew, and no byte that they get changes.

A card that a player has never seen has never been played or shown, so a game from other initial
hands, which differ only in such cards, has the same public history under the same choices.
"""

import json
import random
from itertools import product
from typing import Any

import pytest

from tests.reference.cards import Game, colour, twin
from tests.support.decks import (
    Hands,
    Options,
    deal,
    label,
    nearly_fair_hands,
    odd_hands,
    variants,
)
from tests.support.drive import Happenings
from tests.support.envs import AGENTS, raw_env, wrapped_env
from tests.support.referees import AttackDefenceReferee, StrategicWarReferee

GAMES: tuple[Game, ...] = ("attack-defence", "strategic-war")
KINDS = list(product(("vector", "tokens"), ("perfect", "table")))


class Position:
    """A game played from given hands by given choices: environment and reference."""

    def __init__(self, game: Game, options: Options, hands: Hands, attacker: int) -> None:
        self.game, self.options, self.hands, self.attacker = game, options, hands, attacker
        self.actions: list[int] = []
        self.env = raw_env(game, **options)
        given: dict[str, Any] = {"hands": hands}
        self.referee: Any
        if game == "attack-defence":
            self.referee = AttackDefenceReferee(hands, options)
        else:
            given["first_attacker"] = attacker
            self.referee = StrategicWarReferee(hands, options, attacker)
        self.env.reset(seed=1, options=given)

    def choose(self, action: int) -> None:
        self.env.step(action)
        self.actions.append(action)
        if self.game == "strategic-war":
            self.referee.play(action)
        elif len(self.actions) % 2 == 0:
            self.referee.plays.play(*self.actions[-2:])

    def from_other_hands(self, hands: Hands) -> "Position":
        """The same choices from other hands."""
        other = Position(self.game, self.options, hands, self.attacker)
        for action in self.actions:
            other.choose(action)
        return other

    def unknown(self, viewer: int) -> list[str]:
        """The cards in play that ``viewer`` cannot place."""
        plays = self.referee.plays
        if self.game == "attack-defence":
            known, piles = plays.known(viewer), plays.hands
        else:
            known = [*plays.known(), plays.known_table()]
            piles = [*plays.hands, [card for card, _, _ in plays.table]]
        return [
            card
            for pile, flags in zip(piles, known, strict=True)
            for card, flag in zip(pile, flags, strict=True)
            if not flag
        ]


def dealt_anew(position: Position, viewer: int, rng: random.Random) -> Hands | None:
    """Other initial hands that ``viewer`` cannot tell from these; None if the same were drawn."""
    unknown = position.unknown(viewer)
    twins = position.referee.plays.twins_tell
    # What may be exchanged: anything unknown; by colour in Strategic War; by pairs in a Fair deal.
    if twins:
        groups = [[card for card in unknown if colour(card) == "red"]]
    elif position.game == "strategic-war":
        groups = [[c for c in unknown if colour(c) == kind] for kind in ("red", "black")]
    else:
        groups = [unknown]
    other: dict[str, str] = {}
    for group in groups:
        mixed = list(group)
        rng.shuffle(mixed)
        other.update(zip(group, mixed, strict=True))
    if twins:
        other.update({twin(card): twin(new) for card, new in list(other.items())})
    assert all(card in other for card in unknown)
    if all(card == new for card, new in other.items()):
        return None
    first, second = ([other.get(card, card) for card in hand] for hand in position.hands)
    return first, second


class Seats:
    """Environments of one variant that show a position to a viewer: one of each kind and view."""

    def __init__(self, game: Game, options: Options) -> None:
        self.envs = [
            [
                raw_env(
                    game,
                    encoding=encoding,
                    memory=memory,
                    render_mode="ansi",
                    render_view=agent,
                    **options,
                )
                for encoding, memory in KINDS
            ]
            for agent in AGENTS
        ]

    def all_that_a_player_gets(self, position: Position, viewer: int) -> list[Any]:
        """Every byte that ``viewer`` can reach, in each encoding and memory."""
        state = position.env.get_state()
        for env in self.envs[viewer]:
            env.set_state(state)
        return [what_env_shows(env, viewer) for env in self.envs[viewer]]


def what_env_shows(env: Any, viewer: int) -> list[Any]:
    agent = AGENTS[viewer]
    observed = env.observe(agent)
    shown = [observed["observation"].tobytes(), observed["action_mask"].tobytes(), env.render()]
    public = (env.infos, env.rewards, env.terminations, env.truncations, env.agents)
    shown.append(json.dumps([public, env.agent_selection]))
    # At which places whom knows a card is common knowledge.
    shown.append(json.dumps([env.unwrapped.known(agent) for agent in AGENTS]))
    if env.agent_selection == agent:
        last, *rest = env.last()
        shown += [last["observation"].tobytes(), last["action_mask"].tobytes(), json.dumps(rest)]
    return shown


def random_choice(position: Position, rng: random.Random) -> int:
    plays = position.referee.plays
    if position.game == "attack-defence":
        return rng.choice((0, 0, 1))
    legal = plays.legal()
    return 2 if 3 in legal and rng.random() < 0.7 else rng.choice(legal)


def situation(position: Position) -> str:
    """The phase a position is in, as far as hiding could depend on it."""
    if position.referee.plays.over:
        return "over"
    if position.game == "attack-defence":
        return "committed" if len(position.actions) % 2 else "choosing"
    return str(position.referee.plays.phase)


SITUATIONS = {
    "attack-defence": {"choosing", "committed", "over"},
    "strategic-war": {
        "attack",
        "defend",
        "defender-surrender",
        "attacker-surrender",
        "over",
    },
}


@pytest.mark.slow
@pytest.mark.field_case("A15")
@pytest.mark.parametrize("game", GAMES)
def test_what_a_player_cannot_know_changes_no_byte(game: Game) -> None:
    rng = random.Random(game)
    compared: dict[int, Happenings] = {0: Happenings(), 1: Happenings()}
    makers = (deal, deal, odd_hands, nearly_fair_hands)
    for variant, ranks, limit in product(variants(game), (3, 5, 13), (None, 4)):
        if variant["open_cards"] and ranks > 3:
            continue  # there is nothing to hide
        options = {**variant, "num_ranks": ranks, "max_turns": limit}
        seats = Seats(game, options)
        for make_hands in (2 if game == "attack-defence" else 3) * makers:
            hands = make_hands(game, options, rng)
            position = Position(game, options, hands, rng.choice((0, 1)))
            for _ in range(8 * ranks):
                if position.referee.plays.over or rng.random() < 0.7 / ranks:
                    compare(position, seats, rng, compared)
                if position.referee.plays.over:
                    break
                position.choose(random_choice(position, rng))
    for viewer in (0, 1):
        assert set(compared[viewer]) == SITUATIONS[game]
        assert sum(compared[viewer].values()) > 400
        assert min(compared[viewer].values()) > 10


def compare(
    position: Position, seats: Seats, rng: random.Random, compared: dict[int, Happenings]
) -> None:
    for viewer in (0, 1):
        if position.options["open_cards"]:
            assert position.unknown(viewer) == []
            continue
        hands = dealt_anew(position, viewer, rng)
        if hands is None:
            continue
        other = position.from_other_hands(hands)
        if other.referee.plays.twins_tell != position.referee.plays.twins_tell:
            continue  # by chance a Fair deal, which a player could tell
        assert other.env.get_state() != position.env.get_state()
        found = seats.all_that_a_player_gets(other, viewer)
        expected = seats.all_that_a_player_gets(position, viewer)
        assert found == expected, label(position.options)
        compared[viewer][situation(position)] += 1


@pytest.mark.field_case("A15")
@pytest.mark.parametrize("game", GAMES)
def test_what_a_player_sees_does_change_the_bytes(game: Game) -> None:
    """The comparison above can fail: another face, another choice."""
    rng = random.Random(9)
    for variant in variants(game):
        seats = Seats(game, variant)
        position = Position(game, variant, deal(game, variant, rng), 0)
        position.choose(0)
        position.choose(0)
        # Exchange what player_0 played first with a card that still lies deep in the hand.
        hands = [list(hand) for hand in position.hands]
        for hand in hands if position.referee.plays.twins_tell else hands[:1]:
            hand[0], hand[9] = hand[9], hand[0]
        other = position.from_other_hands((hands[0], hands[1]))
        elsewhere = Position(game, variant, position.hands, 0)
        elsewhere.choose(0)
        elsewhere.choose(1)
        for viewer in (0, 1):
            shown = seats.all_that_a_player_gets(position, viewer)
            for kind, before in zip(
                seats.all_that_a_player_gets(other, viewer), shown, strict=True
            ):
                assert kind[0] != before[0], "the observation shows no difference"
            for kind, before in zip(
                seats.all_that_a_player_gets(elsewhere, viewer), shown, strict=True
            ):
                assert kind[0] != before[0], "the observation shows no difference"
                assert kind[3] != before[3], "the info shows no difference"


@pytest.mark.field_case("A08")
@pytest.mark.parametrize("make", [raw_env, wrapped_env], ids=["raw_env", "env"])
def test_a_committed_choice_shows_nowhere(make: Any) -> None:
    rng = random.Random(4)
    for variant, (encoding, memory), view in product(
        variants("attack-defence"), KINDS, (*AGENTS, "all")
    ):
        options = {**variant, "num_ranks": 5, "encoding": encoding, "memory": memory}
        env = make("attack-defence", render_mode="ansi", render_view=view, **options)
        env.reset(seed=rng.randrange(1000))
        for _ in range(rng.randrange(6)):
            if env.unwrapped.terminations["player_0"]:
                break
            env.step(rng.choice((0, 1)))
            env.step(rng.choice((0, 1)))
        if env.unwrapped.terminations["player_0"]:
            continue
        before = env.observe("player_1")
        said = env.infos, env.unwrapped.event, env.unwrapped.outcome, env.last()[1:]
        state = env.unwrapped.get_state()
        shown, states = [], []
        for action in (0, 1):
            env.unwrapped.set_state(state)
            env.step(action)
            assert env.agent_selection == "player_1"
            shown.append([what_env_shows(env, viewer) for viewer in (0, 1)])
            # Nothing but the commit itself may differ, in all that the environment holds.
            content = json.loads(env.unwrapped.get_state())
            assert content["books"].pop("committed") == action
            states.append(content)
        assert shown[0] == shown[1]
        assert states[0] == states[1]
        # Nor has anything changed for player_1 since before the commit.
        now = env.observe("player_1")
        for name, array in before.items():
            assert array.tobytes() == now[name].tobytes()
        assert (env.infos, env.unwrapped.event, env.unwrapped.outcome, env.last()[1:]) == said
