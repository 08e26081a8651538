"""What both players know of hands and table, kept up to date, so that an observation is one copy.

A hand is kept as tokens (see `war_envs.strategic_war.observation`) in a ring as its cards are, but
written twice, one ring behind the other: any window that starts in the first lies in one piece.
Places that hold no card hold `EMPTY`, so a window of fixed length is a hand and what it lacks.
"""

from typing import Final

import numpy as np

from war_envs.engine.jit import kernel
from war_envs.engine.kernels import (
    RING,
    VACANT,
    Integer,
    Record,
    bit,
    face,
    put_bottom,
    rank,
    take,
    take_top,
)

# The row of a record's views after those of the two hands; it is no ring and starts at 0.
TABLE: Final = 2

EMPTY: Final = 0
FACE_DOWN: Final = 1
UNSEEN_RED: Final = 2
UNSEEN_BLACK: Final = 3
KNOWN: Final = 4


@kernel
def _token(game: Record, card: Integer) -> Integer:
    card = np.int64(card)
    return KNOWN + card if game.seen & bit(card) else UNSEEN_RED + (card & 1)


@kernel
def _set(game: Record, player: Integer, index: Integer, token: Integer) -> None:
    game.views[player, index] = token
    game.views[player, index + RING] = token


@kernel
def rebuild(game: Record) -> None:
    """Derives views and counts of unseen cards from hands, table and what has been seen."""
    game.views[:] = EMPTY
    game.unseen[:] = 0
    for player in range(2):
        for place in range(game.sizes[player]):
            index = (game.heads[player] + place) & (RING - 1)
            card = game.hands[player, index]
            _set(game, player, index, _token(game, card))
            _count_unseen(game, card)
    for place in range(game.table_size):
        game.views[TABLE, place] = _token(game, game.table[place])
        _count_unseen(game, game.table[place])


@kernel
def _count_unseen(game: Record, card: Integer) -> None:
    if game.seen & bit(card) == 0:
        game.unseen[card & 1, rank(card)] += 1


@kernel
def _see(game: Record, card: Integer) -> None:
    """Both see the face of a card that lies nowhere just now; its twin may lie anywhere."""
    new = face(game, card) & ~game.seen
    game.seen |= new
    game.unseen[card & 1, rank(card)] -= np.uint8(new & bit(card) != 0)
    twin = card ^ 1
    if new & bit(twin) == 0:
        return
    game.unseen[twin & 1, rank(twin)] -= 1
    for player in range(2):
        for place in range(game.sizes[player]):
            index = (game.heads[player] + place) & (RING - 1)
            if game.hands[player, index] == twin:
                _set(game, player, index, _token(game, twin))
    for place in range(game.table_size):
        if game.table[place] == twin:
            game.views[TABLE, place] = _token(game, twin)


@kernel
def lay(game: Record, card: Integer) -> None:
    """Lays a card on the table."""
    game.table[game.table_size] = card
    game.views[TABLE, game.table_size] = _token(game, card)
    game.table_size += 1


@kernel
def lay_down(game: Record, player: Integer) -> None:
    """A player lays their top card face down."""
    _set(game, player, game.heads[player], EMPTY)
    lay(game, take_top(game, player))


@kernel
def flip(game: Record, player: Integer, bottom: bool) -> None:
    """A player flips their top or bottom card onto the table."""
    index = (game.heads[player] + (game.sizes[player] - 1) * bottom) & (RING - 1)
    _set(game, player, index, EMPTY)
    card = np.int64(take(game, player, bottom))
    _see(game, card)
    game.last_card[player] = card
    lay(game, card)


@kernel
def put(game: Record, player: Integer, card: Integer) -> None:
    """Puts a card under a player's hand."""
    index = (game.heads[player] + game.sizes[player]) & (RING - 1)
    put_bottom(game, player, card)
    _set(game, player, index, _token(game, card))


@kernel
def clear_table(game: Record) -> None:
    """Takes away the cards of the table, which have been put elsewhere."""
    for place in range(game.table_size):
        game.table[place] = VACANT
        game.views[TABLE, place] = EMPTY
    game.table_size = 0
