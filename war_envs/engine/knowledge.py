"""What both games' kernels on knowledge share: whose it is, and which cards may be exchanged."""

from typing import Any, Final

import numpy as np

from war_envs.cards import NUM_CARDS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import RING, Integer, Record, bit, random_below

# Whose knowledge, beside the seats 0 and 1: what both players know, or all there is.
PUBLIC: Final = 2
ALL: Final = 3
KEY_BYTES: Final = 256  # at least what the longest key takes


@kernel
def append(out: Any, n: Integer, value: Integer) -> Integer:
    """Writes one byte of a key; the place of the next."""
    out[n] = value
    return n + 1


@kernel
def append_bits(out: Any, n: Integer, bits: Any) -> Integer:
    """Writes 64 bits of a key, lowest byte first; the place of the next."""
    for i in range(8):
        out[n + i] = (np.uint64(bits) >> np.uint64(8 * i)) & np.uint64(255)
    return n + 8


@kernel
def exchange(game: Record, hidden: Any, by_colour: bool, other: Any) -> None:
    """Which card each of the ``hidden`` ones (a bit mask) becomes: ``other`` (i8 (52,)).

    Uniform among all ways to exchange them, by colour if ``by_colour``; where twins tell, among the
    ways to exchange pairs of twins. Draws from the game's own generator.
    """
    cards = np.empty(NUM_CARDS, np.int64)
    for card in range(NUM_CARDS):
        other[card] = card
    groups = 2 if by_colour or game.twins else 1
    for group in range(groups):
        n = 0
        for card in range(NUM_CARDS):
            if hidden & bit(card) and (groups == 1 or card & 1 == group):
                cards[n] = card
                n += 1
        if game.twins and group == 1:
            for i in range(n):
                other[cards[i]] = other[cards[i] ^ 1] ^ 1
            continue
        for i in range(n - 1, 0, -1):  # Fisher and Yates
            j = random_below(game, i + 1)
            first, second = other[cards[i]], other[cards[j]]
            other[cards[i]] = second
            other[cards[j]] = first


@kernel
def exchange_hands(game: Record, other: Any) -> None:
    """Every card of the hands becomes what ``other`` (i8 (52,)) says."""
    for player in range(2):
        for place in range(game.sizes[player]):
            index = (game.heads[player] + place) & (RING - 1)
            game.hands[player, index] = other[game.hands[player, index]]


@kernel
def exchanged(seen: Any, other: Any) -> Any:
    """The bit mask ``seen`` after an exchange: knowledge stays with the places."""
    moved = np.uint64(0)
    for card in range(NUM_CARDS):
        if seen & bit(card):
            moved |= bit(other[card])
    return moved
