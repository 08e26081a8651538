"""What both players of Strategic War know: as keys, and as other deals that fit it."""

from typing import Any

import numpy as np

from war_envs.cards import NUM_CARDS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import Integer, Record, Records, bit, card_at, ending
from war_envs.engine.knowledge import (
    ALL,
    append,
    append_bits,
    exchange,
    exchange_hands,
    exchanged,
)
from war_envs.strategic_war.views import rebuild


@kernel
def _append_place(game: Record, who: Integer, card: Integer, out: Any, n: Integer) -> Integer:
    """Writes whether the card at a place is known, and the card, or else its colour."""
    known = game.seen & bit(card) != 0
    n = append(out, n, known)
    return append(out, n, card if known or who == ALL else card & 1)


@kernel
def write_key(
    games: Records, row: Integer, who: Integer, turn: bool, last: bool, suits: bool, out: Any
) -> Integer:
    """Writes what ``who`` (a seat, `PUBLIC` or `ALL`) knows into ``out`` (u1); its length.

    Suits are always in it, since equal suits mean war.
    """
    game: Record = games[row]
    n = append(out, 0, who)
    n = append(out, n, 2 * ending(game) + (game.winner == 1))
    n = append(out, n, game.twins)
    n = append(out, n, 4 * game.attacker + game.phase)
    for player in range(2):
        n = append(out, n, game.sizes[player])
        for place in range(game.sizes[player]):
            n = _append_place(game, who, np.int64(card_at(game, player, place)), out, n)
    n = append(out, n, game.table_size)
    for place in range(game.table_size):
        n = _append_place(game, who, np.int64(game.table[place]), out, n)
    if who != ALL:
        n = append_bits(out, n, game.in_play & ~game.seen)
    if turn:
        n = append_bits(out, n, game.turn)
    if last:
        for player in range(2):
            n = append(out, n, game.last_action[player] + 1)
            n = append(out, n, game.last_card[player])
        n = append(out, n, game.last_chooser + 1)
        n = append(out, n, game.last_taker + 1)
        n = append(out, n, game.last_ending)
        n = append(out, n, game.last_taken)
    return n


@kernel
def redeal(games: Records, row: Integer, who: Integer) -> None:
    """Exchanges the cards that nobody knows, in game ``row``; each place keeps its colour."""
    game: Record = games[row]
    other = np.empty(NUM_CARDS, np.int64)
    exchange(game, game.in_play & ~game.seen, True, other)
    exchange_hands(game, other)
    for place in range(game.table_size):
        game.table[place] = other[game.table[place]]
    game.seen = exchanged(game.seen, other)
    rebuild(game)
