"""Kernels that both games share: the game's own generator, its hands, and who has seen what.

A game is one record with, among its own, these fields:

==============  =========  =========================================================================
field           dtype      meaning
==============  =========  =========================================================================
``rng``         u8 (4,)    state of the game's own generator, xoshiro256++
``in_play``     u8         bit mask of the cards in play
``hands``       u1 (2,64)  the hands as ring buffers of cards; `VACANT` where no card lies
``heads``       i8 (2,)    where in its ring a hand's top card lies, 0 to 63
``sizes``       i8 (2,)    cards in the hand
``turn``        i8         turns (rounds) finished
``max_turns``   i8         turns after which the game is truncated
``num_ranks``   i4         ranks in the deck
``later_modes`` u4         bit i: the mode i of `war_envs.variant.LATER_MODES` is on
``minimal``     i8         the mode is on, 0 or 1
``fair``        i8         the mode is on, 0 or 1
``open_cards``  i8         the mode is on, 0 or 1; further modes the same
``twins``       i8         1 if a card that is seen tells its twin (a Fair deal), else 0
``status``      i8         `RUNNING`, `TERMINATED` or `TRUNCATED`
``winner``      i8         the winning player, or -1
==============  =========  =========================================================================

All counters are 64-bit, so that the arithmetic is the same compiled and in plain Python. What no
card fills is 0, so that the same game is the same bytes, however it was reached.
"""

from typing import Any, Final

import numpy as np
from numba.core import config

from war_envs.engine.jit import kernel
from war_envs.info import Ending
from war_envs.variant import MODES

# What kernels work on: a game record, an array of them, and integers of any NumPy type.
Record = Any
Integer = Any
Records = np.ndarray[Any, np.dtype[Any]]

RUNNING: Final = 0
TERMINATED: Final = 1
TRUNCATED: Final = 2
NO_CARD: Final = 255
VACANT: Final = 0  # what a place holds where no card lies, though it is a card, too
RING: Final = 64

_WON: Final = int(Ending.WON)
_TIE: Final = int(Ending.TIE)
_TRUNCATED: Final = int(Ending.TRUNCATED)


def game_dtype(fields: list[Any]) -> np.dtype[Any]:
    """The dtype of a game record.

    With the JIT off kernels read fields as attributes, which only `numpy.record` has. It makes
    every other access from Python slow, so it is used just then.
    """
    dtype = np.dtype(fields, align=True)
    return np.dtype((np.record, dtype)) if config.DISABLE_JIT else dtype  # type: ignore[attr-defined]


SHARED_FIELDS: Final[list[Any]] = [
    ("rng", "u8", (4,)),
    ("in_play", "u8"),
    ("hands", "u1", (2, RING)),
    ("heads", "i8", (2,)),
    ("sizes", "i8", (2,)),
    ("turn", "i8"),
    ("max_turns", "i8"),
    ("num_ranks", "i4"),
    ("later_modes", "u4"),
    *((mode, "i8") for mode in MODES.values()),
    ("twins", "i8"),
    ("status", "i8"),
    ("winner", "i8"),
]


@kernel
def bit(card: Integer) -> Any:
    """The bit mask of one card."""
    return np.uint64(1) << np.uint64(card)


@kernel
def _rotate_left(x: Any, k: Integer) -> Any:
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@kernel
def _next(game: Record) -> Any:
    """The next 64 bits of xoshiro256++ (Blackman and Vigna, 2021, https://prng.di.unimi.it)."""
    s = game.rng
    result = _rotate_left(s[0] + s[3], 23) + s[0]
    t = s[1] << np.uint64(17)
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = _rotate_left(s[3], 45)
    return result


@kernel
def random_below(game: Record, n: Integer) -> Integer:
    """A uniform integer from 0 to n - 1, n below 2**32, without bias (Lemire, 2019)."""
    n = np.uint64(n)
    low32 = np.uint64(0xFFFFFFFF)
    threshold = (low32 + np.uint64(1) - n) % n
    while True:
        product = (_next(game) >> np.uint64(32)) * n
        if (product & low32) >= threshold:
            return np.int64(product >> np.uint64(32))


@kernel
def shuffle(game: Record, player: Integer, n: Integer) -> None:
    """Fisher-Yates on the first ``n`` places of a player's ring."""
    for i in range(n - 1, 0, -1):
        j = random_below(game, i + 1)
        card = game.hands[player, i]
        game.hands[player, i] = game.hands[player, j]
        game.hands[player, j] = card


@kernel
def deal_colours(game: Record) -> None:
    """Player 0 gets the red cards, shuffled, player 1 the black: the same order if Fair."""
    game.hands[:] = VACANT
    n = 0
    for card in range(4 * game.num_ranks):
        if card & 1 == 0 and (game.minimal == 0 or card & 2 == 0):
            game.hands[0, n] = card
            game.hands[1, n] = card ^ 1
            n += 1
    shuffle(game, 0, n)
    if game.fair:
        for i in range(n):
            game.hands[1, i] = game.hands[0, i] ^ 1
    else:
        shuffle(game, 1, n)
    _set_sizes(game, n)


@kernel
def deal_halves(game: Record) -> None:
    """The whole deck is shuffled; player 0 gets the first half, player 1 the second."""
    game.hands[:] = VACANT
    n = 0
    for card in range(4 * game.num_ranks):
        if game.minimal == 0 or card & 2 == 0:
            game.hands[0, n] = card
            n += 1
    shuffle(game, 0, n)
    half = n // 2
    for i in range(half):
        game.hands[1, i] = game.hands[0, half + i]
        game.hands[0, half + i] = VACANT
    _set_sizes(game, half)


@kernel
def _set_sizes(game: Record, n: Integer) -> None:
    for player in range(2):
        game.heads[player] = 0
        game.sizes[player] = n


@kernel
def begin(game: Record) -> None:
    """Starts the shared part of a game whose hands were just laid from place 0 of their rings."""
    game.turn = 0
    game.status = RUNNING
    game.winner = -1
    game.in_play = np.uint64(0)
    for player in range(2):
        for i in range(game.sizes[player]):
            game.in_play |= bit(game.hands[player, i])
    game.twins = 0
    if game.fair and game.sizes[0] == game.sizes[1]:
        game.twins = 1
        colour = game.hands[0, 0] & 1
        for i in range(game.sizes[0]):
            if game.hands[0, i] & 1 != colour or game.hands[1, i] != game.hands[0, i] ^ 1:
                game.twins = 0


@kernel
def face(game: Record, card: Integer) -> Any:
    """The bits of all cards that become known when the face of ``card`` is shown."""
    return bit(card) | bit(card ^ 1) if game.twins else bit(card)


@kernel
def rank(card: Integer) -> Integer:
    """A card's rank, 0 the first of the game's own order."""
    return np.int64(card) >> 2


@kernel
def card_at(game: Record, player: Integer, place: Integer) -> Integer:
    """The card at a place of a hand, 0 the top."""
    return game.hands[player, (game.heads[player] + place) & (RING - 1)]


@kernel
def take_top(game: Record, player: Integer) -> Integer:
    """Takes the top card from a hand that has one."""
    index = game.heads[player]
    card = game.hands[player, index]
    game.hands[player, index] = VACANT
    game.heads[player] = (index + 1) & (RING - 1)
    game.sizes[player] -= 1
    return card


@kernel
def take(game: Record, player: Integer, bottom: bool) -> Integer:
    """Takes the bottom or the top card from a hand that has one."""
    # Without branches: which card players choose is hard to foresee.
    index = (game.heads[player] + (game.sizes[player] - 1) * bottom) & (RING - 1)
    card = game.hands[player, index]
    game.hands[player, index] = VACANT
    game.heads[player] = (game.heads[player] + 1 - bottom) & (RING - 1)
    game.sizes[player] -= 1
    return card


@kernel
def put_bottom(game: Record, player: Integer, card: Integer) -> None:
    """Puts a card under a hand."""
    game.hands[player, (game.heads[player] + game.sizes[player]) & (RING - 1)] = card
    game.sizes[player] += 1


@kernel
def end(game: Record, winner: Integer) -> None:
    """The game has really ended; ``winner`` -1 is a tie."""
    game.status = TERMINATED
    game.winner = winner


@kernel
def finish_turn(game: Record) -> None:
    """Counts a turn and ends the game if a hand is empty, or else if the limit is reached."""
    game.turn += 1
    if game.sizes[0] == 0:
        end(game, 1)
    elif game.sizes[1] == 0:
        end(game, 0)
    elif game.turn >= game.max_turns:
        game.status = TRUNCATED


@kernel
def reward(game: Record, player: Integer) -> float:
    """+1 to the winner, -1 to the loser, else 0."""
    if game.winner < 0:
        return 0.0
    return 1.0 if game.winner == player else -1.0


@kernel
def ending(game: Record) -> Integer:
    """How the game stands, as a `war_envs.info.Ending`."""
    if game.status == RUNNING:
        return 0
    if game.status == TRUNCATED:
        return _TRUNCATED
    return _WON if game.winner >= 0 else _TIE


@kernel
def card_or_none(card: Integer) -> Integer:
    """A card of a record as an integer, -1 for `NO_CARD`."""
    return -1 if card == NO_CARD else int(np.int64(card))
