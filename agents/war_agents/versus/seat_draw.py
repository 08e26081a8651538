"""Where the player sits in game after game."""

from typing import Any, Final, Self

import numpy as np

from war_envs.engine import seeding
from war_envs.envs.table import AGENTS
from war_envs.messages import shown
from war_envs.variant import integer

_MAX_DRAWN: Final = 2**62


class SeatDraw:
    """The player's seats: always the given one, or drawn from a stream of their own.

    Args:
        given: a seat, as a number or an agent's name; None draws.

    Raises:
        ValueError: it is none of these.
    """

    def __init__(self, given: object) -> None:
        self._given = checked_seat(given)
        self._stream = 0
        self._drawn = 0

    def begin(self, seed: int) -> None:
        """Begins the stream."""
        self._stream = int(seeding.generator_state(seed, seeding.SEATS, 0)[0])
        self._drawn = 0

    def next(self) -> int:
        """The seat in the next game, 0 or 1."""
        bits = int(seeding.action_seeds(np.array([self._stream], np.uint64), self._drawn)[0])
        self._drawn += 1
        return bits >> 63 if self._given is None else self._given

    def get_state(self) -> dict[str, Any]:
        """All that the next seats depend on, as JSON."""
        return {"given": self._given, "stream": self._stream, "drawn": self._drawn}

    def at(self, state: object) -> Self:
        """One that goes on from what `get_state` gave.

        Raises:
            ValueError: it gave no such thing, or where another seat was given.
        """
        if not isinstance(state, dict) or set(state) != {"given", "stream", "drawn"}:
            raise ValueError("state: seats must hold given, stream and drawn")
        if state["given"] != self._given:
            raise ValueError(f"state: seat is {shown(state['given'])}, not {self._given}")
        one = type(self)(self._given)
        one._stream = integer("state: stream of seats", state["stream"], 0, 2**64 - 1)
        one._drawn = integer("state: drawn of seats", state["drawn"], 0, _MAX_DRAWN)
        return one


def checked_seat(seat: object) -> int | None:
    """A seat given as a number, an agent's name or None, as 0, 1 or None.

    Raises:
        ValueError: it is none of these.
    """
    if seat is None:
        return None
    try:
        return AGENTS.index(seat) if isinstance(seat, str) else integer("seat", seat, 0, 1)
    except ValueError:
        raise ValueError(
            f"seat={shown(seat)} is not allowed; choose from 0, 1, {', '.join(AGENTS)} and None"
        ) from None
