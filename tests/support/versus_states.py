"""What is no state of a game against an agent."""

from collections.abc import Callable
from typing import Any

WRONG: dict[str, Any] = {
    "versus": [1, None, KeyError, "1"],
    "seat": [2, -1, None, True, "player_0", KeyError],
    "events": [None, "text", [1], KeyError],
    "more": [1],
    "seats": [None, [], {}, KeyError],
    "seats.given": [0, "x"],
    "seats.stream": [-1, 2**64, 0.5, "1", None, KeyError],
    "seats.drawn": [-1, 2**63, None],
    "opponent": [None, [], {}, KeyError],
    "opponent.agent": ["memory", None, 3],
    "opponent.stream": [-1, 2**64, [1], None],
    "opponent.drawn": [-1, 2**63, 1.5, KeyError],
    "opponent.memory": [
        [],
        {},
        1,
        ["list", None],
        ["tuple", {}],
        ["array", "|O", [1], "AAAAAAAAAAA="],
        ["array", "<f8", [2], "AAAAAAAAAAA="],
        ["array", "<f8", [-1], "AAAAAAAAAAA="],
        ["array", "f8,f8", [1], "AAAAAAAAAAA="],
        ["array", "<f8)(", [1], "AAAAAAAAAAA="],
        ["array", "<f8", [1], "!"],
        ["array", "<f8", [], "AAAAAAAAAAA="],  # of no game
    ],
    "table": [None, [], {}, 7, KeyError],
    "table.game": ["chess"],
    "table.record": ["", "AAAA", None],
}


def changed(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Sets one entry of a state, such as ``"opponent.drawn"``."""

    def change(content: dict[str, Any]) -> None:
        *places, last = path.split(".")
        for place in places:
            content = content[place]
        if value is KeyError:
            del content[last]
        else:
            content[last] = value

    return change
