"""Short games of Attack and Defence, worked out by hand, and what each kind of autoreset shows.

Both players always attack, open cards, three ranks: an ace beats a 3, a 3 a 2, and a 2 an ace. The
higher card takes the other's and its owner's next one, which go under the winner's deck: the next
one, the one beaten, the own. A tie sends each card under its owner's deck. After three turns a game
is cut off.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tests.support.decode import Decoder
from war_envs.attack_defence import observation

OPTIONS: Final[dict[str, Any]] = {
    "minimal": True,
    "open_cards": True,
    "num_ranks": 3,
    "max_turns": 3,
    "encoding": "tokens",
}
ATTACK: Final = 0
_DECODER = Decoder("attack-defence", str(observation.__doc__))

# By seed and lane: the hands of player_0 and player_1 in game after game, turn after turn.
HANDS: Final[dict[tuple[int, int], list[list[str]]]] = {
    (19, 0): [
        ["AH 2H 3H | 3S 2S AS", "2H 3H 2S 3S AH | AS", "3H 2S 3S AH AS 2H |"],
        ["AS 3H 2H | 2S 3S AH", "2H | 3S AH 3H AS 2S", "| AH 3H AS 2S 2H 3S"],
        [
            "3H 2S 2H | 3S AS AH",
            "2S 2H 3H | AS AH 3S",
            "2H 3H AH AS 2S | 3S",
            "AH AS 2S | 3H 2H 3S",
        ],
        ["3H AH AS | 2S 2H 3S"],
    ],
    (19, 1): [
        [
            "2H 2S AH | AS 3S 3H",
            "2S AH 3S AS 2H | 3H",
            "3S AS 2H | AH 2S 3H",
            "2H | 2S 3H AS 3S AH",
        ],
        ["AH 2S 3S | 2H AS 3H", "3S | AS 3H 2S AH 2H", "| 3H 2S AH 2H 3S AS"],
        [
            "AH 2S 2H | AS 3H 3S",
            "2S 2H AH | 3H 3S AS",
            "AH | 3S AS 2H 2S 3H",
            "AS 3S AH | 2H 2S 3H",
        ],
        ["2H AH AS | 3S 2S 3H"],
    ],
    (20, 0): [
        [
            "3H AS 2H | 3S 2S AH",
            "AS 2H 3H | 2S AH 3S",
            "3H | AH 3S 2H AS 2S",
            "| 3S 2H AS 2S 3H AH",
        ],
        [
            "2S AS 3H | 2H 3S AH",
            "AS 3H 2S | 3S AH 2H",
            "3H 2S AH 3S AS | 2H",
            "2S AH 3S AS 2H 3H |",
        ],
        ["3H AH 2H | AS 3S 2S", "2H | 3S 2S AH 3H AS", "| 2S AH 3H AS 2H 3S"],
        ["2S 3H AS | AH 2H 3S"],
    ],
}


class Row(NamedTuple):
    """What one step of one lane shows: "2.0" is game 2 after no turn."""

    shown: str
    reward: int = 0
    end: str = ""
    final: str = ""


# Player_0 in every game of the lanes (19, 0) and (20, 0).
SAME_STEP: Final = (
    [
        Row("1.1"),
        Row("2.0", 1, "terminated", final="1.2"),
        Row("2.1"),
        Row("3.0", -1, "terminated", final="2.2"),
        Row("3.1"),
        Row("3.2"),
        Row("4.0", 0, "truncated", final="3.3"),
    ],
    [
        Row("1.1"),
        Row("1.2"),
        Row("2.0", -1, "terminated", final="1.3"),
        Row("2.1"),
        Row("2.2"),
        Row("3.0", 1, "terminated", final="2.3"),
        Row("3.1"),
        Row("4.0", -1, "terminated", final="3.2"),
    ],
)
NEXT_STEP: Final = (
    [
        Row("1.1"),
        Row("1.2", 1, "terminated"),
        Row("2.0"),
        Row("2.1"),
        Row("2.2", -1, "terminated"),
        Row("3.0"),
        Row("3.1"),
        Row("3.2"),
        Row("3.3", 0, "truncated"),
        Row("4.0"),
    ],
    [
        Row("1.1"),
        Row("1.2"),
        Row("1.3", -1, "terminated"),
        Row("2.0"),
        Row("2.1"),
        Row("2.2"),
        Row("2.3", 1, "terminated"),
        Row("3.0"),
        Row("3.1"),
        Row("3.2", -1, "terminated"),
        Row("4.0"),
    ],
)
# The same without autoreset: after an end the caller resets, which is no step.
DISABLED: Final = (
    [
        Row("1.1"),
        Row("1.2", 1, "terminated"),
        Row("2.1"),
        Row("2.2", -1, "terminated"),
        Row("3.1"),
        Row("3.2"),
        Row("3.3", 0, "truncated"),
    ],
    [
        Row("1.1"),
        Row("1.2"),
        Row("1.3", -1, "terminated"),
        Row("2.1"),
        Row("2.2"),
        Row("2.3", 1, "terminated"),
        Row("3.1"),
        Row("3.2", -1, "terminated"),
    ],
)
# The lanes (19, 0) and (19, 1), with a player that changes seats: 0, 1, 0 and 1, 0, 1.
IN_TURN: Final = (
    [
        Row("1.1"),
        Row("2.0", 1, "terminated", final="1.2"),
        Row("2.1"),
        Row("3.0", 1, "terminated", final="2.2"),
        Row("3.1"),
        Row("3.2"),
        Row("4.0", 0, "truncated", final="3.3"),
    ],
    [
        Row("1.1"),
        Row("1.2"),
        Row("2.0", 0, "truncated", final="1.3"),
        Row("2.1"),
        Row("3.0", -1, "terminated", final="2.2"),
        Row("3.1"),
        Row("3.2"),
        Row("4.0", 0, "truncated", final="3.3"),
    ],
)


def hands(lane: tuple[int, int], place: str) -> str:
    """The hands of player_0 and player_1 at a place of a lane's games, such as "2.0"."""
    game, turn = map(int, place.split("."))
    return HANDS[lane][game - 1][turn]


def decoded(observation: NDArray[Any]) -> tuple[int, str]:
    """The viewer's seat, and the hands of player_0 and player_1, as an observation shows them."""
    view = _DECODER.decode(np.asarray(observation), vector=False)
    seat = int(view.header["seat"])
    own, other = (" ".join(str(slot.card) for slot in pile) for pile in (view.own, view.other))
    first, second = (own, other) if seat == 0 else (other, own)
    return seat, f"{first} | {second}".strip()
