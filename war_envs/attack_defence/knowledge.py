"""What is known in War of Attack and Defence: as keys, and as other deals that fit it."""

from typing import Any

import numpy as np

from war_envs.attack_defence.views import rebuild
from war_envs.cards import NUM_CARDS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import (
    Integer,
    Record,
    Records,
    bit,
    card_at,
    ending,
    rank,
)
from war_envs.engine.knowledge import (
    ALL,
    PUBLIC,
    append,
    append_bits,
    exchange,
    exchange_hands,
    exchanged,
)


@kernel
def _known(game: Record, who: Integer) -> Any:
    """The bit mask of the cards that ``who``, a seat or `PUBLIC`, knows."""
    return game.seen[0] & game.seen[1] if who == PUBLIC else game.seen[who]


@kernel
def _append_place(
    game: Record, who: Integer, card: Integer, suits: bool, out: Any, n: Integer
) -> Integer:
    """Writes who knows the card at a place, and the card if ``who`` knows it."""
    first = game.seen[0] & bit(card) != 0
    second = game.seen[1] & bit(card) != 0
    n = append(out, n, np.int64(first) + 2 * np.int64(second))
    if who == ALL or _known(game, who) & bit(card):
        n = append(out, n, card if suits else rank(card))
    return n


@kernel
def write_key(
    games: Records, row: Integer, who: Integer, turn: bool, last: bool, suits: bool, out: Any
) -> Integer:
    """Writes what ``who`` (a seat, `PUBLIC` or `ALL`) knows into ``out`` (u1); its length.

    Suits tell a card from its twin's rival only where twins do and there are four suits.
    """
    game: Record = games[row]
    suits = suits or (game.twins != 0 and game.minimal == 0)
    n = append(out, 0, who)
    n = append(out, n, 2 * ending(game) + (game.winner == 1))
    n = append(out, n, game.twins)
    for player in range(2):
        n = append(out, n, game.sizes[player])
        for place in range(game.sizes[player]):
            card = np.int64(card_at(game, player, place))
            n = _append_place(game, who, card, suits, out, n)
    if who != ALL:
        unknown = game.in_play & ~_known(game, who)
        if suits:
            n = append_bits(out, n, unknown)
        else:
            for r in range(game.num_ranks):
                n = append(out, n, _count(unknown, r))
    if turn:
        n = append_bits(out, n, game.turn)
    if last:
        for player in range(2):
            n = append(out, n, game.last_action[player] + 1)
            n = append(out, n, game.last_card[player])
        n = append(out, n, game.last_extra)
        n = append(out, n, game.last_taker + 1)
    return n


@kernel
def _count(cards: Any, value: Integer) -> Integer:
    """How many of the cards of a bit mask have a rank."""
    n = np.int64(0)
    for card in range(4 * value, 4 * value + 4):
        n += cards & bit(card) != 0
    return n


@kernel
def redeal(games: Records, row: Integer, who: Integer) -> None:
    """Exchanges the cards that ``who``, a seat or `PUBLIC`, does not know, in game ``row``."""
    game: Record = games[row]
    other = np.empty(NUM_CARDS, np.int64)
    exchange(game, game.in_play & ~_known(game, who), False, other)
    exchange_hands(game, other)
    for player in range(2):
        game.seen[player] = exchanged(game.seen[player], other)
    rebuild(game)
