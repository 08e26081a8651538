"""What a record of War of Attack and Defence holds beside what all records do, and what fits."""

from typing import Any, Final

import numpy as np

from war_envs.engine.kernels import NO_CARD, RUNNING, TERMINATED, Record, Records
from war_envs.variant import AttackDefenceVariant

PRIMARY: Final = ("seen", "last_action", "last_taker", "last_card", "last_extra")
"""Fields that say how a game stands; all others follow from them, from hands and variant."""
RANGES: Final[dict[str, tuple[int, int]]] = {}
"""Fields and what they may be, both ends included."""
CARDS: Final = ("last_card", "last_extra")
"""Fields that hold cards, or `NO_CARD`."""


def prepare(games: Records, variant: AttackDefenceVariant) -> None:
    """Writes what the variant says into records that are all zero."""
    games["own_first"] = variant.own_card == "first"


def seen(game: Record, viewer: int) -> int:
    """The bit mask of the cards that the viewer knows."""
    return int(game["seen"][viewer])


def phase(game: Record) -> str:
    """The kind of choice that is due: there is one."""
    return "turn"


def table(game: Record) -> list[int]:
    """No card lies on a table."""
    return []


def vacant(game: Record) -> Any:
    """Entries beside the hands in which no card lies."""
    return game["spare"]


def check_progress(game: Record) -> None:
    """Refuses a running game without a card in each hand, and an end that nobody has won.

    Raises:
        ValueError: it is such a game.
    """
    if game["status"] == TERMINATED and game["winner"] < 0:
        raise ValueError(f"state: winner is {game['winner']} with status {game['status']}")
    if game["status"] == RUNNING and not game["sizes"].all():
        raise ValueError("state: the game runs, but a hand is empty")


def tells_last(game: Record) -> bool:
    """Do all fields tell what happened last, or none where nothing has?"""
    told = {*(game["last_action"] >= 0), *(game["last_card"] != NO_CARD)}
    begun = game["turn"] > 0
    nothing = game["last_extra"] == NO_CARD and game["last_taker"] < 0
    return bool(told == {np.bool_(begun)} and (begun or nothing))
