"""The rules of Strategic War, as kernels on one game record.

The record has the fields of `war_envs.engine.kernels` and these:

=================  =========  ======================================================================
field              dtype      meaning
=================  =========  ======================================================================
``seen``           u8         the bit mask of the cards whose faces both players know
``table_size``     i8         cards on the table
``attacker``       i8         the player who attacks
``phase``          i8         whose choice it is, and which: `ATTACKING` to `ATTACKER_ANSWERING`
``first``          i8         the given first attacker, or -1 to draw one at each start
``last_action``    i8 (2,)    each player's last choice, -1 before the first
``last_chooser``   i8         who chose last, or -1
``last_taker``     i8         who took the last round, or -1
``last_ending``    i8         how it ended: 0 none yet, 1 battle, 2 war, 3 surrender
``last_taken``     i8         cards collected in it
``unseen``         u1 (2,13)  how many red and black cards in play of each rank nobody has seen
``views``          u1         both hands and the table as both players know them: see
                   (3,128)    `war_envs.strategic_war.views`
``table``          u1 (52,)   the cards on the table, in the order they were laid, then zeros
``last_card``      u1 (2,)    the last card each player flipped, or `NO_CARD`
=================  =========  ======================================================================

The order on the table tells who laid a card and how: places alternate between attacker and
defender, and of each eight places the first two hold flipped cards, the others cards laid face
down.
"""

from typing import Any, Final

import numpy as np

from war_envs.cards import NUM_CARDS, NUM_RANKS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import (
    NO_CARD,
    RING,
    RUNNING,
    SHARED_FIELDS,
    TERMINATED,
    TRUNCATED,
    VACANT,
    Integer,
    Record,
    Records,
    begin,
    card_or_none,
    deal_colours,
    end,
    ending,
    finish_turn,
    game_dtype,
    random_below,
    rank,
    reward,
)
from war_envs.strategic_war.views import clear_table, flip, lay_down, put, rebuild

TOP: Final = 0
BOTTOM: Final = 1
FIGHT: Final = 2
SURRENDER: Final = 3
NUM_ACTIONS: Final = 4

ATTACKING: Final = 0
DEFENDING: Final = 1
DEFENDER_ANSWERING: Final = 2
ATTACKER_ANSWERING: Final = 3

BATTLE: Final = 1
WAR: Final = 2
SURRENDERED: Final = 3

GAME: Final = game_dtype(
    [
        *SHARED_FIELDS,
        ("seen", "u8"),
        ("table_size", "i8"),
        ("attacker", "i8"),
        ("phase", "i8"),
        ("first", "i8"),
        ("last_action", "i8", (2,)),
        ("last_chooser", "i8"),
        ("last_taker", "i8"),
        ("last_ending", "i8"),
        ("last_taken", "i8"),
        # Bytes last, without a gap: NumPy copies whatever memory held into gaps.
        ("unseen", "u1", (2, NUM_RANKS)),
        ("views", "u1", (3, 2 * RING)),
        ("table", "u1", (NUM_CARDS,)),
        ("last_card", "u1", (2,)),
    ]
)


@kernel
def mover(game: Record) -> Integer:
    """The player who must choose now."""
    defenders = (game.phase == DEFENDING) | (game.phase == DEFENDER_ANSWERING)
    return 1 - game.attacker if defenders else game.attacker


@kernel
def legal(game: Record, player: Integer, action: Integer) -> bool:
    """May ``player`` choose ``action`` now?"""
    # Without `and` and `or`: which branch is taken is hard to foresee, so none is cheaper.
    choosing = (game.status == RUNNING) & (player == mover(game))
    flip = (action == TOP) | ((action == BOTTOM) & (game.sizes[np.uint64(player)] > 1))
    answer = (action == FIGHT) | (action == SURRENDER)
    flipping = (game.phase == ATTACKING) | (game.phase == DEFENDING)
    return choosing & (flip if flipping else answer)


@kernel
def start(game: Record) -> None:
    """Starts a game whose hands have just been laid."""
    begin(game)
    if game.hands[0, 0] & 1:  # no deal gives player 0 the black cards
        game.twins = 0
    # Drawn even where it is given, so that the deals that follow are the same either way.
    drawn = random_below(game, 2)
    game.attacker = drawn if game.first < 0 else game.first
    game.seen = game.in_play if game.open_cards else np.uint64(0)
    game.table_size = 0
    game.table[:] = VACANT
    rebuild(game)
    game.phase = ATTACKING
    for player in range(2):
        game.last_action[player] = -1
        game.last_card[player] = NO_CARD
    game.last_chooser = -1
    game.last_taker = -1
    game.last_ending = 0
    game.last_taken = 0


@kernel
def deal(game: Record) -> None:
    """Deals a new game from the record's own generator."""
    deal_colours(game)
    start(game)


@kernel
def _both_hold_a_card(game: Record) -> bool:
    """Whether the game can go on with a card from each; ends it if not."""
    if game.sizes[0] > 0 and game.sizes[1] > 0:
        return True
    if game.sizes[0] > 0:
        end(game, 0)
    elif game.sizes[1] > 0:
        end(game, 1)
    else:
        end(game, -1)
    return False


@kernel
def _lay_down(game: Record) -> bool:
    """Each player lays their top card face down; False if that ended the game."""
    if not _both_hold_a_card(game):
        return False
    lay_down(game, game.attacker)
    lay_down(game, 1 - game.attacker)
    return True


@kernel
def face_up(place: Integer) -> bool:
    """Was the card at this place of the table flipped?"""
    return place % 8 < 2


@kernel
def _collect(game: Record, taker: Integer, ending: Integer) -> None:
    """``taker`` collects the table, leads the next round, and the round is counted."""
    if game.table_size == 2:
        own = 0 if taker == game.attacker else 1
        put(game, taker, game.table[own])
        put(game, taker, game.table[1 - own])
    else:
        for place in range(game.table_size):
            if not face_up(place):
                put(game, taker, game.table[place])
        for value in range(game.num_ranks - 1, -1, -1):
            for pair in range(0, game.table_size, 8):  # of flipped cards
                for place in range(pair, pair + 2):
                    if rank(game.table[place]) == value:
                        put(game, taker, game.table[place])
    game.last_taker = taker
    game.last_ending = ending
    game.last_taken = game.table_size
    clear_table(game)
    game.attacker = taker
    game.phase = ATTACKING
    finish_turn(game)


@kernel
def _compare(game: Record) -> None:
    """Settles the two cards just flipped: one player takes all, or war."""
    attack = game.table[game.table_size - 2]
    defence = game.table[game.table_size - 1]
    if rank(attack) != rank(defence) and attack & 3 != defence & 3:
        taker = game.attacker if rank(attack) > rank(defence) else 1 - game.attacker
        _collect(game, taker, BATTLE if game.table_size == 2 else WAR)
    elif _lay_down(game):
        game.phase = DEFENDER_ANSWERING


@kernel
def play(game: Record, action: Integer) -> None:
    """Plays the mover's legal choice in a running game."""
    player = mover(game)
    game.last_action[player] = action
    game.last_chooser = player
    if game.phase == ATTACKING:
        flip(game, player, action == BOTTOM)
        game.phase = DEFENDING
    elif game.phase == DEFENDING:
        flip(game, player, action == BOTTOM)
        _compare(game)
    elif action == SURRENDER:
        _collect(game, 1 - player, SURRENDERED)
    elif game.phase == DEFENDER_ANSWERING:
        game.phase = ATTACKER_ANSWERING
    elif _lay_down(game) and _lay_down(game) and _both_hold_a_card(game):
        game.phase = ATTACKING


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
def movers(games: Records, first: Integer, last: Integer, out: Any) -> None:
    """Writes the `mover` of games ``first`` to ``last - 1`` into ``out`` (i8, (B,)); that of a
    finished game means nothing.
    """
    for i in range(first, last):
        out[i] = mover(games[i])


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
        if games[i].status == RUNNING:
            seat = mover(games[i])
            if not legal(games[i], seat, actions[i, seat]):
                return 2 * i + seat
    return -1


@kernel
def legal_bits(game: Record) -> int:
    """What is legal now: bit ``4 * player + action``."""
    bits = 0
    for player in range(2):
        for action in range(NUM_ACTIONS):
            bits |= int(legal(game, player, action)) << (NUM_ACTIONS * player + action)
    return bits


@kernel
def _numbers(game: Record) -> tuple[int, ...]:
    """The entries of an info, in the order of `war_envs.strategic_war.info`."""
    return (
        ending(game),
        int(game.winner),
        -1,
        int(game.turn),
        int(game.last_action[0]),
        int(game.last_action[1]),
        card_or_none(game.last_card[0]),
        card_or_none(game.last_card[1]),
        int(game.last_chooser),
        int(game.last_taker),
        int(game.last_ending),
        int(game.last_taken),
    )


@kernel
def facts(games: Records) -> tuple[int, ...]:
    """Of a batch of one game: the entries of an info, its mover, and `legal_bits`."""
    game = games[0]
    return *_numbers(game), int(mover(game)), legal_bits(game)


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
            out[10, k],
            out[11, k],
        ) = _numbers(games[rows[k]])


@kernel
def play_one(games: Records, action: Integer) -> tuple[int, ...]:
    """Plays the mover's legal choice in a batch of one game, which runs; its `facts` then."""
    play(games[0], action)
    return facts(games)


@kernel
def play_rows(games: Records, actions: Any) -> None:
    """One choice in every running game. ``actions`` are those of `step_rows`."""
    for i in range(games.shape[0]):
        game = games[i]
        if game.status == RUNNING:
            play(game, actions[i, mover(game)])


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
    """One choice in games ``first`` to ``last - 1``; finished ones stay as they are, with reward 0.

    Games that end are dealt anew with ``autoreset``. Their number is returned; from place ``first``
    on, ``ended`` holds which they were, and ``finals`` their records at the end.

    Shapes: ``actions`` i8 (B, 2), of which the mover's is read; ``rewards`` f4 (B, 2);
    ``terminated``, ``truncated`` bool (B,); ``ended`` i8 (B,); ``finals`` (B,).
    """
    count = 0
    for i in range(first, last):
        game = games[i]
        running = game.status == RUNNING
        if running:
            play(game, actions[i, mover(game)])
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
