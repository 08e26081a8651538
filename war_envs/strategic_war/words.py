"""What happened in Strategic War, in words."""

from typing import Any

from war_envs.cards import NAMES
from war_envs.kernels import TERMINATED, TRUNCATED, rank
from war_envs.strategic_war.rules import (
    ATTACKER_ANSWERING,
    BOTTOM,
    DEFENDER_ANSWERING,
    DEFENDING,
    FIGHT,
    SURRENDER,
    TOP,
)

ACTIONS = ("TOP", "BOTTOM", "FIGHT", "SURRENDER")
_NAMES = NAMES["strategic-war"]
_ENDS = {TOP: "top", BOTTOM: "bottom"}


def event(game: Any, player: int, action: int) -> str:
    """What the choice ``action`` that ``player`` just made brought about, as both saw it."""
    if action == SURRENDER:
        return f"player_{player} surrenders: {_taken(game)}"
    if action == FIGHT:
        said = f"player_{player} fights on"
        if game["status"] == TERMINATED:
            return said
        if game["phase"] == ATTACKER_ANSWERING:
            return f"{said}: the attacker answers next"
        return f"{said}: each player lays two more cards face down"
    said = f"player_{player} flips {_NAMES[game['last_card'][player]]} from the {_ENDS[action]}"
    if game["phase"] == DEFENDING and game["status"] != TERMINATED:
        return said
    if game["table_size"] == 0:
        return f"{said}: {_taken(game)}"
    why = _why_war(*(int(card) for card in game["last_card"]))
    if game["phase"] == DEFENDER_ANSWERING:
        return f"{said}: war, {why}; each player lays a card face down"
    return f"{said}: war, {why}"


def _taken(game: Any) -> str:
    return f"player_{game['last_taker']} takes {game['last_taken']} cards"


def _why_war(card0: int, card1: int) -> str:
    return "equal ranks" if rank(card0) == rank(card1) else "equal suits"


def outcome(game: Any) -> str:
    """How the game ended; empty while it runs."""
    if game["status"] == TRUNCATED:
        return f"truncated after {game['turn']} rounds: nobody wins"
    if game["status"] != TERMINATED:
        return ""
    if game["winner"] < 0:
        return "both players must lay a card and have none: a tie"
    loser, winner = 1 - game["winner"], int(game["winner"])
    if game["table_size"]:
        return f"player_{loser} must lay a card and has none: player_{winner} wins"
    return f"player_{loser} has no cards left: player_{winner} wins"
