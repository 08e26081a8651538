"""Engine and reference side by side: many games of one variant, compared after each choice."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.reference.cards import Game
from tests.support.decks import CARD_IDS, CARD_NAMES, Hands
from tests.support.referees import AttackDefenceReferee, StrategicWarReferee

# Places of a hand's ring in the game record, and of a pile in a `Snapshot`'s rows.
PLACES = 64
_NOTHING = b"\xff"


class Snapshot:
    """What the records of a batch hold, as one row of bytes a game: piles, then knowledge.

    The one place in these tests that reads the records' layout.
    """

    def __init__(self, game: Game, games: NDArray[Any]) -> None:
        number = len(games)
        places = np.arange(PLACES)
        rings = (games["heads"][..., None] + places) % PLACES
        cards = np.take_along_axis(games["hands"], rings, axis=2)
        sizes = games["sizes"]
        if game == "strategic-war":
            table = np.full((number, 1, PLACES), 255, np.uint8)
            table[:, 0, : games["table"].shape[1]] = games["table"]
            cards = np.concatenate([cards, table], axis=1)
            sizes = np.concatenate([sizes, games["table_size"][:, None]], axis=1)
            seen = games["seen"][:, None]
        else:
            seen = games["seen"]
        there = places < sizes[..., None]
        # Shifting by what is no card's number means nothing; such places are not there.
        bits = seen[:, :, None, None] >> np.minimum(cards, 63).astype(np.uint64)[:, None]
        known = np.where(there[:, None], bits & np.uint64(1), np.uint64(255)).astype(np.uint8)
        cards = np.where(there, cards, 255).astype(np.uint8)
        both = np.concatenate([cards.reshape(number, -1), known.reshape(number, -1)], axis=1)
        self.rows: list[bytes] = [row.tobytes() for row in both]


def names_of(game: Game, row: bytes) -> Hands:
    """The hands in a row of a `Snapshot`."""
    names = CARD_NAMES[game]
    first, second = (
        [names[card] for card in row[i : i + PLACES] if card != 255] for i in (0, PLACES)
    )
    return first, second


def _pile(game: Game, cards: list[str]) -> bytes:
    ids = CARD_IDS[game]
    return bytes([ids[card] for card in cards]).ljust(PLACES, _NOTHING)


def _known(flags: list[bool]) -> bytes:
    return bytes(flags).ljust(PLACES, _NOTHING)


def attack_defence_row(referee: AttackDefenceReferee) -> bytes:
    """What a `Snapshot` must hold of a game."""
    plays = referee.plays
    piles = [_pile("attack-defence", hand) for hand in plays.hands]
    return b"".join([*piles, *(_known(hand) for viewer in (0, 1) for hand in plays.known(viewer))])


def strategic_war_row(referee: StrategicWarReferee) -> bytes:
    """What a `Snapshot` must hold of a game."""
    plays = referee.plays
    table = [card for card, _, _ in plays.table]
    piles = [_pile("strategic-war", pile) for pile in (*plays.hands, table)]
    known = [_known(pile) for pile in (*plays.known(), plays.known_table())]
    return b"".join([*piles, *known])


def must_be_equal(row: int, what: str, found: Any, expected: Any) -> None:
    """Says in which game engine and reference differ, and how."""
    assert found == expected, f"game {row}: {what} is {found!r}, by the reference {expected!r}"


class Happenings(Counter[str]):
    """How often what happened: tests that rely on rare events ask for them here."""

    def ended(self, referee: AttackDefenceReferee | StrategicWarReferee) -> None:
        """Notes how a game ended."""
        plays = referee.plays
        if plays.truncated:
            self["truncated"] += 1
        elif plays.winner is None:
            self["tie"] += 1
        else:
            self[f"won by {plays.winner}"] += 1
        if not plays.truncated and plays.turn == referee.max_turns:
            self["ended on the last turn"] += 1
