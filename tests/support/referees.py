"""The reference games with what the environments show beside the rules: the last events, and views.

A `View` is what one player observes, spelt with card names: built here from the reference, and by
`tests.support.decode` from an observation.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.reference import attack_defence, strategic_war
from tests.reference.cards import Game, colour, rank
from tests.support.decks import Hands, Options, whole_deck


@dataclass(frozen=True)
class Slot:
    """A place with a card: its face if shown, and what else is shown of it."""

    card: str | None
    # Attack and Defence: does the other player know the card?
    other_knows: bool | None = None
    # Strategic War: the colour, if shown.
    colour: str | None = None


@dataclass
class View:
    """What one player observes."""

    header: dict[str, Any]
    own: list[Slot]
    other: list[Slot]
    table: list[Slot] = field(default_factory=list)


def _fraction(turn: int, max_turns: int) -> int:
    return turn * 65535 // max_turns


class Referee:
    """One reference game, and what both games' views share."""

    game: Game

    def __init__(self, hands: Hands, options: Options) -> None:
        self.options = options
        self.in_play = hands[0] + hands[1]
        limit = options.get("max_turns")
        self.max_turns: int = 40 * len(whole_deck(self.game, options)) if limit is None else limit
        self.rules = {**options, "max_turns": self.max_turns}
        self.plays: Any = None

    @property
    def status(self) -> int:
        """0 running, 1 terminated, 2 truncated."""
        if not self.plays.over:
            return 0
        return 2 if self.plays.truncated else 1

    def _header(self, viewer: int) -> dict[str, Any]:
        other = 1 - viewer
        return {
            **{mode: self.options.get(mode, False) for mode in ("minimal", "fair", "open_cards")},
            "num_ranks": self.options.get("num_ranks", 13),
            "twins": self.plays.twins_tell,
            "seat": viewer,
            "own_size": len(self.plays.hands[viewer]),
            "other_size": len(self.plays.hands[other]),
            "turn": _fraction(self.plays.turn, self.max_turns),
            "over": self.plays.over,
        }


class AttackDefenceReferee(Referee):
    """War of Attack and Defence by the reference."""

    game: Game = "attack-defence"
    plays: attack_defence.AttackDefence

    def __init__(self, hands: Hands, options: Options) -> None:
        super().__init__(hands, options)
        self.plays = attack_defence.AttackDefence(hands, **self.rules)

    def view(self, viewer: int, perfect: bool) -> View:
        """What ``viewer`` must see."""
        plays, other = self.plays, 1 - viewer
        if perfect:
            mine: Sequence[list[bool]] = plays.known(viewer)
            theirs: Sequence[list[bool]] = plays.known(other)
        else:
            mine = [[plays.open_cards] * len(hand) for hand in plays.hands]
            theirs = [list(hand) for hand in mine]
            if not plays.over:
                mine[viewer][0] = True
        slots = [
            [
                Slot(card if known else None, other_knows=knows)
                for card, known, knows in zip(
                    plays.hands[player], mine[player], theirs[player], strict=True
                )
            ]
            for player in (viewer, other)
        ]
        shown = {slot.card for hand in slots for slot in hand}
        unseen = Counter(rank(card) for card in self.in_play if card not in shown)
        last = plays.last
        taker = last.get("winner")
        header = self._header(viewer) | {
            "own_card_first": plays.own_card == "first",
            "last_own_action": last["actions"][viewer] if last else None,
            "last_other_action": last["actions"][other] if last else None,
            "last_own_card": last["cards"][viewer] if last else None,
            "last_other_card": last["cards"][other] if last else None,
            "last_extra_card": last.get("extra"),
            "last_taker": None if taker is None else ("own" if taker == viewer else "other"),
            "unseen": dict(unseen),
        }
        return View(header, slots[0], slots[1])


class StrategicWarReferee(Referee):
    """Strategic War by the reference."""

    game: Game = "strategic-war"
    plays: strategic_war.StrategicWar

    def __init__(self, hands: Hands, options: Options, first_attacker: int) -> None:
        super().__init__(hands, options)
        self.plays = strategic_war.StrategicWar(hands, first_attacker=first_attacker, **self.rules)
        self.last_action: list[int | None] = [None, None]
        self.last_card: list[str | None] = [None, None]
        self.last_taker: int | None = None
        self.last_ending: str | None = None
        self.last_taken = 0

    def play(self, action: int) -> None:
        """Plays the mover's choice and notes what both players saw of it."""
        plays = self.plays
        mover, attacker, turn, laid = plays.mover, plays.attacker, plays.turn, len(plays.table)
        hand = list(plays.hands[mover])
        plays.play(action)
        self.last_action[mover] = action
        if action in (strategic_war.TOP, strategic_war.BOTTOM):
            self.last_card[mover] = hand[0] if action == strategic_war.TOP else hand[-1]
            laid += 1
        if plays.turn == turn:
            return
        # Collecting makes the taker the next attacker, a surrender the other player.
        self.last_taker = plays.attacker
        self.last_taken = laid
        if action == strategic_war.SURRENDER:
            assert plays.attacker == 1 - mover
            self.last_ending = "surrender"
        else:
            assert mover == 1 - attacker
            self.last_ending = "battle" if laid == 2 else "war"

    def view(self, viewer: int, perfect: bool) -> View:
        """What ``viewer`` must see."""
        plays, other = self.plays, 1 - viewer
        face_up = [flipped for _, flipped, _ in plays.table]
        table = [card for card, _, _ in plays.table]
        if perfect:
            known: Sequence[list[bool]] = plays.known()
            known_table = plays.known_table()
        else:
            known = [[plays.open_cards] * len(hand) for hand in plays.hands]
            known_table = [plays.open_cards or up for up in face_up]

        def slots(cards: list[str], shown: list[bool]) -> list[Slot]:
            return [
                Slot(card if up else None, colour=colour(card) if up or perfect else None)
                for card, up in zip(cards, shown, strict=True)
            ]

        own = slots(plays.hands[viewer], known[viewer])
        others = slots(plays.hands[other], known[other])
        on_table = slots(table, known_table)
        shown = {slot.card for slot in (*own, *others, *on_table)}
        unseen = [card for card in self.in_play if card not in shown]
        taker = self.last_taker
        header = self._header(viewer) | {
            "table_size": len(table),
            "attacker": plays.attacker == viewer,
            "to_move": not plays.over and plays.mover == viewer,
            "phase": self.phase,
            "last_own_action": self.last_action[viewer],
            "last_other_action": self.last_action[other],
            "last_own_card": self.last_card[viewer],
            "last_other_card": self.last_card[other],
            "last_taker": None if taker is None else ("own" if taker == viewer else "other"),
            "last_ending": self.last_ending,
            "last_taken": self.last_taken,
            "unseen_red": dict(Counter(rank(c) for c in unseen if colour(c) == "red")),
            "unseen_black": dict(Counter(rank(c) for c in unseen if colour(c) == "black")),
        }
        if plays.over:  # then they mean nothing
            del header["attacker"], header["phase"]
        return View(header, own, others, on_table)

    @property
    def phase(self) -> str:
        """The phase as the header of an observation names it."""
        return {
            "attack": "attack",
            "defend": "defend",
            "defender-surrender": "defender_answer",
            "attacker-surrender": "attacker_answer",
        }[self.plays.phase]
