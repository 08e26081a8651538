"""Which of a deal's games is which: who sits where, and who attacks first.

A deal is played in ``games_per_deal(game)`` games. In game number p of a deal, its *place*, the
first agent of the pair sits in seat p % 2, and where there is a first attacker it is seat p // 2.
"""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from war_envs.games import SPECS

Place = TypeVar("Place", int, NDArray[np.int64])


def games_per_deal(game: str) -> int:
    """How often a deal is played: from both seats, and with each first attacker if there is one."""
    return SPECS[game].games_per_deal


def seat_of_first(place: Place) -> Place:
    """Where the first agent of the pair sits."""
    return place % 2


def first_attacker(game: str, place: Place) -> Place | None:
    """The seat that attacks first; None in games without one."""
    return place // 2 if SPECS[game].has_first_attacker else None
