"""What happened in War of Attack and Defence, in words."""

from typing import Any

from war_envs.attack_defence.rules import DEFEND
from war_envs.cards import NAMES
from war_envs.engine.kernels import NO_CARD, TERMINATED, TRUNCATED

ACTIONS = ("ATTACK", "DEFEND")
_NAMES = NAMES["attack-defence"]
_VERBS = ("attacks", "defends")

# How each token of a slot is drawn: unknown cards are ??, of known colour ?r and ?b.
FACES = ("", "??", "??", *_NAMES, *_NAMES)


def event(game: Any) -> str:
    """The last turn, as both players saw it; empty before the first."""
    if game["turn"] == 0:
        return ""
    action0, action1 = game["last_action"].tolist()
    name0, name1 = (_NAMES[card] for card in game["last_card"])
    extra, taker = game["last_extra"], game["last_taker"]
    played = f"player_0 {_VERBS[action0]} with {name0}, player_1 {_VERBS[action1]} with {name1}: "
    if taker >= 0:
        won = name1 if taker == 0 else name0
        more = f" and the next card, {_NAMES[extra]}" if extra != NO_CARD else ""
        return f"{played}player_{taker} takes {won}{more}"
    if action0 == DEFEND and action1 == DEFEND:
        return f"{played}the cards are swapped"
    return f"{played}a tie, each card goes back to its owner"


def outcome(game: Any) -> str:
    """How the game ended; empty while it runs."""
    if game["status"] == TERMINATED:
        return f"player_{1 - game['winner']} has no cards left: player_{game['winner']} wins"
    if game["status"] == TRUNCATED:
        return f"truncated after {game['turn']} turns: nobody wins"
    return ""
