"""Each player's view of both hands, kept up to date, so that an observation is one copy.

A view is a hand as tokens (see `war_envs.attack_defence.observation`) in a ring as its cards are,
but written twice, one ring behind the other: any window that starts in the first lies in one piece.
Places that hold no card hold `EMPTY`, so a window of fixed length is a hand and what it lacks.
"""

from typing import Final

import numpy as np

from war_envs.cards import NUM_CARDS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import RING, Integer, Record, bit, face, put_bottom, rank, take_top

EMPTY: Final = 0
UNKNOWN: Final = 1
KNOWN_TO_VIEWER: Final = 3
KNOWN_TO_BOTH: Final = KNOWN_TO_VIEWER + NUM_CARDS


@kernel
def _write(game: Record, player: Integer, index: Integer) -> None:
    """Writes the tokens of the card at a ring index of a player's hand into both views."""
    card = np.int64(game.hands[player, index])
    for viewer in range(2):
        token = KNOWN_TO_VIEWER + card if game.seen[viewer] & bit(card) else UNKNOWN
        if game.seen[1 - viewer] & bit(card):  # both kinds have a twin: known to the other too
            token += NUM_CARDS if token != UNKNOWN else 1
        game.views[2 * viewer + player, index] = token
        game.views[2 * viewer + player, index + RING] = token


@kernel
def rebuild(game: Record) -> None:
    """Derives all views, and the counts of unseen cards, from the hands and what has been seen."""
    game.views[:] = EMPTY
    game.unseen[:] = 0
    for player in range(2):
        for place in range(game.sizes[player]):
            index = (game.heads[player] + place) & (RING - 1)
            _write(game, player, index)
            card = game.hands[player, index]
            for viewer in range(2):
                if game.seen[viewer] & bit(card) == 0:
                    game.unseen[viewer, rank(card)] += 1


@kernel
def see(game: Record, viewer: Integer, card: Integer) -> None:
    """The viewer sees the face of a card that lies in no hand; its twin may."""
    new = face(game, card) & ~game.seen[viewer]
    game.seen[viewer] |= new
    if new & bit(card):
        game.unseen[viewer, rank(card)] -= 1
    twin = card ^ 1
    if new & bit(twin) == 0:
        return
    game.unseen[viewer, rank(card)] -= 1
    for player in range(2):
        for place in range(game.sizes[player]):
            index = (game.heads[player] + place) & (RING - 1)
            if game.hands[player, index] == twin:
                _write(game, player, index)


@kernel
def look_at_top(game: Record, player: Integer) -> None:
    """A player looks at their own top card."""
    index = game.heads[player]
    see(game, player, np.int64(game.hands[player, index]))
    _write(game, player, index)


@kernel
def draw(game: Record, player: Integer) -> Integer:
    """Takes a player's top card and shows it to both."""
    index = game.heads[player]
    card = np.int64(take_top(game, player))
    for viewer in range(2):
        game.views[2 * viewer + player, index] = EMPTY
        game.views[2 * viewer + player, index + RING] = EMPTY
        see(game, viewer, card)
    return card


@kernel
def put(game: Record, player: Integer, card: Integer) -> None:
    """Puts a card under a player's hand."""
    index = (game.heads[player] + game.sizes[player]) & (RING - 1)
    put_bottom(game, player, card)
    _write(game, player, index)
