"""Blocks of games: what is handed out to be played, and how the games of failing agents end."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import cloudpickle

from war_agents.arena.entrant import Entrant
from war_agents.arena.playing.games import Games, Recording, Watch, play_games
from war_envs.variant import Variant

PATIENCE: Final = 4  # games, one deal or two: where two agents fail, each has lost as many
NOT_ASKED: Final = "was not asked: in games before it "


@dataclass(frozen=True)
class Setup:
    """What whoever plays has to know of a tournament.

    Attributes:
        entrants: the agents, or what to make each from.
        variants: what is played.
        seed: what deals and draws come from.
        deterministic: do trained agents take their likeliest action?
        limited: for each player, is it held to the time limit?
        time_limit: seconds for a choice.
        path: where to look for the user's modules.
    """

    entrants: tuple[Entrant, ...]
    variants: tuple[Variant, ...]
    seed: int
    deterministic: bool
    limited: tuple[bool, ...]
    time_limit: float
    path: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """Games that a pair plays side by side.

    Attributes:
        variant, a, b: places in the setup's variants and entrants.
        numbers: of the games, see `war_agents.arena.playing.games.play_games`.
    """

    variant: int
    a: int
    b: int
    numbers: range

    @property
    def games(self) -> int:
        """How many."""
        return len(self.numbers)

    def one(self, row: int) -> "Block":
        """One of the games, in a block of its own."""
        return Block(self.variant, self.a, self.b, self.numbers[row : row + 1])


@dataclass(frozen=True)
class Lost:
    """The process that played a block is gone, and with it the games.

    Attributes:
        side: which agent of the pair was being asked; -1 for none.
        reason: what happened.
        killed: was it ended by a signal, which may have come from somebody else?
    """

    side: int
    reason: str
    killed: bool = False


class Seating:
    """The agents of a tournament in this process, ready to play blocks.

    Raises:
        ValueError: an agent cannot be made here, or has changed meanwhile.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._entrants = [
            entrant.ready(setup.variants, deterministic=setup.deterministic)
            for entrant in setup.entrants
        ]

    def play(
        self, block: Block, watch: Watch | None = None, recording: Recording | None = None
    ) -> Games:
        """The games of ``block``; those in which an agent fails are lost to it."""
        pair = (self._entrants[block.a], self._entrants[block.b])
        return play_games(
            [(entrant.player.name, entrant.agents[block.variant]) for entrant in pair],
            self._setup.variants[block.variant],
            self._setup.seed,
            block.numbers,
            forfeit=True,
            watch=watch,
            recording=recording,
        )


def play_or_forfeit(block: Block, attempt: Callable[[Block], Games | Lost]) -> Games:
    """The games of ``block``, where a process may be lost to an agent that hangs or exits.

    All are tried at once. If that fails, each game is tried by itself, so that only those are lost
    to the agent in which it does it again. Each such game takes seconds, so after `PATIENCE` of
    them in a row no agent is asked any more in this block.
    """
    outcome = attempt(block)
    if isinstance(outcome, Games):
        return outcome
    parts: list[Games] = []
    in_a_row: list[Lost] = []
    for row in range(block.games):
        if len(in_a_row) == PATIENCE:
            reasons = {lost.side: lost.reason for lost in in_a_row}
            parts.append(not_asked(block.numbers[row:], reasons))
            break
        outcome = attempt(block.one(row))
        if isinstance(outcome, Games):
            in_a_row = []
            parts.append(outcome)
        else:
            in_a_row.append(outcome)
            parts.append(Games.forfeited(outcome.side, outcome.reason))
    return Games.joined(parts)


def not_asked(numbers: range, reasons: Mapping[int, str]) -> Games:
    """Games that are lost without being played.

    Args:
        numbers: of the games.
        reasons: how each side that has failed did. If both have, that in seat 0 loses, as in games
            in which both fail.
    """
    parts = []
    for number in numbers:
        side = number % 2 if len(reasons) == 2 else next(iter(reasons))
        parts.append(Games.forfeited(side, NOT_ASKED + reasons[side]))
    return Games.joined(parts)


def dumps(value: Any) -> bytes:
    """``value`` for another process that runs the same program."""
    return bytes(cloudpickle.dumps(value))
