"""The rules of War of Attack and Defence, as kernels on one game record.

The record has the fields of `war_envs.engine.kernels` and these:

===============  =========  ========================================================================
field            dtype      meaning
===============  =========  ========================================================================
``own_first``    i8         1 if a winner's own card is collected before the cards it won, else 0
``seen``         u8 (2,)    for each player, the bit mask of the cards they know
``last_action``  i8 (2,)    each player's last choice, -1 before the first turn
``last_taker``   i8         who took cards in the last turn, or -1
``unseen``       u1 (2,13)  for each player, how many cards in play of each rank they do not know
``views``        u1         for each player, both hands as they know them: see
                 (4,128)    `war_envs.attack_defence.views`
``last_card``    u1 (2,)    the card each player played last, or `NO_CARD`
``last_extra``   u1         the extra card taken in the last turn, or `NO_CARD`
``spare``        u1 (3,)    nothing
===============  =========  ========================================================================
"""

from typing import Any, Final

import numpy as np

from war_envs.attack_defence.views import draw, look_at_top, put, rebuild
from war_envs.cards import NUM_RANKS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import (
    NO_CARD,
    RING,
    RUNNING,
    SHARED_FIELDS,
    TERMINATED,
    TRUNCATED,
    Integer,
    Record,
    Records,
    begin,
    card_or_none,
    deal_colours,
    deal_halves,
    ending,
    finish_turn,
    game_dtype,
    rank,
    reward,
)

ATTACK: Final = 0
DEFEND: Final = 1
NUM_ACTIONS: Final = 2

GAME: Final = game_dtype(
    [
        *SHARED_FIELDS,
        ("own_first", "i8"),
        ("seen", "u8", (2,)),
        ("last_action", "i8", (2,)),
        ("last_taker", "i8"),
        # Bytes last, filled up: NumPy copies whatever memory held into gaps.
        ("unseen", "u1", (2, NUM_RANKS)),
        ("views", "u1", (4, 2 * RING)),
        ("last_card", "u1", (2,)),
        ("last_extra", "u1"),
        ("spare", "u1", (3,)),
    ]
)


@kernel
def legal(game: Record, player: Integer, action: Integer) -> bool:
    """May ``player`` choose ``action`` now? Both choices always are, until the game ends."""
    return game.status == RUNNING and (action == ATTACK or action == DEFEND)


@kernel
def rank_beats(one: Integer, other: Integer, num_ranks: Integer) -> bool:
    """Does rank ``one`` beat ``other``? It beats the (n - 1) / 2 ranks before it in the cycle."""
    ahead = one - other
    ahead += num_ranks if ahead < 0 else 0  # much faster than a division
    return (ahead > 0) & (2 * ahead < num_ranks)


@kernel
def beats(game: Record, card: Integer, other: Integer) -> bool:
    """Does ``card`` beat ``other``, suits apart?"""
    return rank_beats(rank(card), rank(other), game.num_ranks)


@kernel
def start(game: Record) -> None:
    """Starts a game whose hands have just been laid."""
    begin(game)
    known = game.in_play if game.open_cards else np.uint64(0)
    for player in range(2):
        game.seen[player] = known
        game.last_action[player] = -1
        game.last_card[player] = NO_CARD
    game.last_extra = NO_CARD
    game.last_taker = -1
    rebuild(game)
    for player in range(2):
        look_at_top(game, player)


@kernel
def deal(game: Record) -> None:
    """Deals a new game from the record's own generator."""
    if game.fair:
        deal_colours(game)
    else:
        deal_halves(game)
    start(game)


@kernel
def _taker(
    game: Record, action0: Integer, action1: Integer, card0: Integer, card1: Integer
) -> Integer:
    """Who takes the other's card: a player, or -1 for nobody."""
    if action0 == DEFEND and action1 == DEFEND:
        return -1
    if beats(game, card0, card1):
        return 0
    if beats(game, card1, card0):
        return 1
    if action0 == action1:
        return -1
    return 0 if action0 == DEFEND else 1


@kernel
def play(game: Record, action0: Integer, action1: Integer) -> None:
    """Plays one turn of a running game with both players' choices."""
    card0 = draw(game, 0)
    card1 = draw(game, 1)
    extra = NO_CARD
    taker = _taker(game, action0, action1, card0, card1)
    if taker >= 0:
        won, own = (card1, card0) if taker == 0 else (card0, card1)
        if action0 == ATTACK and action1 == ATTACK and game.sizes[1 - taker] > 0:
            extra = draw(game, 1 - taker)
        _collect(game, taker, own, won, extra)
    else:
        swapped = 1 if action0 == DEFEND else 0
        put(game, swapped, card0)
        put(game, 1 - swapped, card1)
    game.last_action[0] = action0
    game.last_action[1] = action1
    game.last_card[0] = card0
    game.last_card[1] = card1
    game.last_extra = extra
    game.last_taker = taker
    finish_turn(game)
    if game.status == RUNNING:
        for player in range(2):
            look_at_top(game, player)


@kernel
def _collect(game: Record, taker: Integer, own: Integer, won: Integer, extra: Integer) -> None:
    if game.own_first:
        put(game, taker, own)
        put(game, taker, won)
        if extra != NO_CARD:
            put(game, taker, extra)
    else:
        if extra != NO_CARD:
            put(game, taker, extra)
        put(game, taker, won)
        put(game, taker, own)


@kernel
def deal_rows(games: Records, rows: Any) -> None:
    """Deals the games of ``rows`` (i8, (K,)) anew."""
    for k in range(rows.shape[0]):
        deal(games[rows[k]])


@kernel
def start_rows(games: Records, rows: Any) -> None:
    """Starts the games of ``rows`` (i8, (K,)), whose hands have just been laid."""
    for k in range(rows.shape[0]):
        start(games[rows[k]])


@kernel
def rebuild_rows(games: Records, rows: Any) -> None:
    """Derives the views of the games of ``rows`` (i8, (K,)) anew."""
    for k in range(rows.shape[0]):
        rebuild(games[rows[k]])


@kernel
def is_legal(games: Records, row: Integer, seat: Integer, action: Integer) -> bool:
    """`legal` in game ``row``."""
    return legal(games[row], seat, action)


@kernel
def first_illegal(games: Records, first: Integer, last: Integer, actions: Any) -> Integer:
    """The first illegal action of games ``first`` to ``last - 1``, as 2 * row + seat, or -1."""
    for i in range(first, last):
        for seat in range(2):
            # Actions first: to look at every game takes much longer.
            known = actions[i, seat] == ATTACK or actions[i, seat] == DEFEND
            if not known and games[i].status == RUNNING:
                return 2 * i + seat
    return -1


@kernel
def legal_bits(game: Record) -> int:
    """What is legal now: bit ``2 * player + action``."""
    bits = 0
    for player in range(2):
        for action in range(NUM_ACTIONS):
            bits |= int(legal(game, player, action)) << (NUM_ACTIONS * player + action)
    return bits


@kernel
def _numbers(game: Record) -> tuple[int, ...]:
    """The entries of an info, in the order of `war_envs.attack_defence.info`."""
    return (
        ending(game),
        int(game.winner),
        -1,
        int(game.turn),
        int(game.last_action[0]),
        int(game.last_action[1]),
        card_or_none(game.last_card[0]),
        card_or_none(game.last_card[1]),
        card_or_none(game.last_extra),
        int(game.last_taker),
    )


@kernel
def facts(games: Records) -> tuple[int, ...]:
    """Of a batch of one game: the entries of an info, and `legal_bits`."""
    game = games[0]
    return *_numbers(game), legal_bits(game)


@kernel
def facts_rows(games: Records, rows: Any, out: Any) -> None:
    """Writes infos of the games of ``rows`` (i8, (K,)) into ``out`` (i8, (entries, K))."""
    for k in range(rows.shape[0]):
        # Spelt out: to index a tuple by a variable takes much longer.
        (
            out[0, k],
            out[1, k],
            out[2, k],
            out[3, k],
            out[4, k],
            out[5, k],
            out[6, k],
            out[7, k],
            out[8, k],
            out[9, k],
        ) = _numbers(games[rows[k]])


@kernel
def play_one(games: Records, action0: Integer, action1: Integer) -> tuple[int, ...]:
    """Plays one turn of a batch of one game, which runs; its `facts` then."""
    play(games[0], action0, action1)
    return facts(games)


@kernel
def play_rows(games: Records, actions: Any) -> None:
    """One turn of every running game. ``actions`` are those of `step_rows`."""
    for i in range(games.shape[0]):
        game = games[i]
        if game.status == RUNNING:
            play(game, actions[i, 0], actions[i, 1])


@kernel
def step_rows(
    games: Records,
    first: Integer,
    last: Integer,
    actions: Any,
    autoreset: bool,
    rewards: Any,
    terminated: Any,
    truncated: Any,
    ended: Any,
    finals: Records,
) -> Integer:
    """One turn of games ``first`` to ``last - 1``; finished ones stay as they are, with reward 0.

    Games that end are dealt anew with ``autoreset``. Their number is returned; from place ``first``
    on, ``ended`` holds which they were, and ``finals`` their records at the end.

    Shapes: ``actions`` i8 (B, 2); ``rewards`` f4 (B, 2);
    ``terminated``, ``truncated`` bool (B,); ``ended`` i8 (B,); ``finals`` (B,).
    """
    count = 0
    for i in range(first, last):
        game = games[i]
        running = game.status == RUNNING
        if running:
            play(game, actions[i, 0], actions[i, 1])
        for seat in range(2):
            rewards[i, seat] = reward(game, seat) if running else 0.0
        terminated[i] = game.status == TERMINATED
        truncated[i] = game.status == TRUNCATED
        if running and game.status != RUNNING:
            ended[first + count] = i
            finals[first + count] = game
            count += 1
            if autoreset:
                deal(game)
    return count
