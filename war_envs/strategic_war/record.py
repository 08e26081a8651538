"""What a record of Strategic War holds beside what all records do, and what fits."""

from typing import Any, Final

import numpy as np

from war_envs.cards import NUM_CARDS
from war_envs.engine.kernels import NO_CARD, RUNNING, Record, Records
from war_envs.strategic_war.rules import ATTACKING, BOTTOM, DEFENDING, TOP
from war_envs.variant import StrategicWarVariant

PRIMARY: Final = (
    "seen",
    "table",
    "table_size",
    "attacker",
    "phase",
    "first",
    "last_action",
    "last_chooser",
    "last_taker",
    "last_ending",
    "last_taken",
    "last_card",
)
"""Fields that say how a game stands; all others follow from them, from hands and variant."""
RANGES: Final = {
    "table_size": (0, NUM_CARDS),
    "attacker": (0, 1),
    "phase": (0, 3),
    "first": (-1, 1),
    "last_chooser": (-1, 1),
    "last_ending": (0, 3),
    "last_taken": (0, NUM_CARDS),
}
"""Fields and what they may be, both ends included."""
CARDS: Final = ("last_card",)
"""Fields that hold cards, or `NO_CARD`."""


PHASES: Final = ("attack", "defend", "defender-answer", "attacker-answer")
"""Kinds of choices, by the number of a record's phase: flips, and answers to a war."""


def prepare(games: Records, variant: StrategicWarVariant) -> None:
    """Writes what the variant says into records that are all zero: who attacks first is drawn."""
    games["first"] = -1


def seen(game: Record, viewer: int) -> int:
    """The bit mask of the cards that the viewer knows, as both players do."""
    return int(game["seen"])


def phase(game: Record) -> str:
    """The kind of choice that is due."""
    return PHASES[int(game["phase"])]


def table(game: Record) -> list[int]:
    """The cards on the table, in the order they were laid."""
    cards: list[int] = game["table"][: game["table_size"]].tolist()
    return cards


def vacant(game: Record) -> Any:
    """Entries beside the hands in which no card lies."""
    return game["table"][game["table_size"] :]


def check_progress(game: Record) -> None:
    """Refuses a running game whose table does not fit its phase, or that lacks a card to flip.

    Raises:
        ValueError: it is such a game.
    """
    if game["status"] != RUNNING:
        return
    laid, holders = _due(game)
    if game["table_size"] % 8 != laid:
        raise ValueError("state: table_size does not fit the phase")
    if not game["sizes"][holders].all():
        raise ValueError("state: the game runs, but a hand is empty")


def _due(game: Record) -> tuple[int, list[int]]:
    """Of a running game: cards on the table beyond whole eights, and who must hold a card now."""
    if game["phase"] == ATTACKING:
        return 0, [0, 1]
    if game["phase"] == DEFENDING:
        return 1, [1 - int(game["attacker"])]
    return 4, []


def tells_last(game: Record) -> bool:
    """Do all fields tell what happened last, or none where nothing has?"""
    collected = {game["last_taker"] >= 0, game["last_ending"] > 0, game["last_taken"] > 0}
    chooser, begun = game["last_chooser"], bool(game["turn"] or game["table_size"])
    flips = np.isin(game["last_action"], (TOP, BOTTOM))
    return bool(
        collected == {game["turn"] > 0}
        and begun == (chooser >= 0) == bool(np.any(game["last_action"] >= 0))
        and (not begun or game["last_action"][chooser] >= 0)
        and not np.any(flips & (game["last_card"] == NO_CARD))
    )
