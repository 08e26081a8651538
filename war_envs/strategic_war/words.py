"""What happened in Strategic War, in words."""

from typing import Any

from war_envs.cards import NAMES
from war_envs.engine.kernels import RUNNING, TERMINATED, TRUNCATED, rank
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

# How each token of a slot is drawn: unknown cards are ??, of known colour ?r and ?b.
FACES = ("", "??", "?r", "?b", *_NAMES)


def event(game: Any) -> str:
    """What the last choice brought about, as both players saw it; empty before the first."""
    player = int(game["last_chooser"])
    if player < 0:
        return ""
    action, phase, over = game["last_action"][player], game["phase"], game["status"] != RUNNING
    taker, taken = game["last_taker"], game["last_taken"]
    if action == SURRENDER:
        return f"player_{player} surrenders: player_{taker} takes {taken} cards"
    if action == FIGHT:
        said = f"player_{player} fights on"
        if over:
            return said
        if phase == ATTACKER_ANSWERING:
            return f"{said}: the attacker answers next"
        return f"{said}: each player lays two more cards face down"
    flipped = _NAMES[game["last_card"][player]]
    said = f"player_{player} flips {flipped} from the {_ENDS[int(action)]}"
    if phase == DEFENDING and not over:
        return said
    if game["table_size"] == 0:
        return f"{said}: player_{taker} takes {taken} cards"
    why = _why_war(*game["last_card"])
    if phase == DEFENDER_ANSWERING:
        return f"{said}: war, {why}; each player lays a card face down"
    return f"{said}: war, {why}"


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
