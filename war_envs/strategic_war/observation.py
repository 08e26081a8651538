"""What a player of Strategic War observes.

Both encodings begin with this header, seen from the viewer ("own") against the other player
("other"). A token is the integer of the table, a vector entry that integer divided by its scale.

=======  ============================  =====  =====================================================
index    field                         scale  meaning
=======  ============================  =====  =====================================================
0        ``minimal``                   1      the mode is on
1        ``fair``                      1      the mode is on
2        ``open_cards``                1      the mode is on
3        ``num_ranks``                 13     ranks in the deck
4        ``twins``                     1      a card that is seen tells its twin (a Fair deal)
5        ``seat``                      1      the viewer is player_1
6        ``own_size``                  52     cards in the own hand
7        ``other_size``                52     cards in the other hand
8        ``table_size``                52     cards on the table
9, 10    ``turn``, ``_low``            255    rounds / max_turns, in 65535ths: high byte, low byte
11       ``over``                      1      the game is over
12       ``attacker``                  1      the viewer attacks
13       ``to_move``                   1      the viewer must choose now
14-17    ``phase_attack``,             1      one of them is 1: the attacker flips, the defender
         ``phase_defend``,                    flips, the defender answers whether to surrender, the
         ``phase_defender_answer``,           attacker answers
         ``phase_attacker_answer``
18       ``last_own_action``           4      own last choice: 0 none yet, else action + 1
19       ``last_other_action``         4      the other's last choice
20       ``last_own_card``             52     last card flipped by the viewer: 0 none, else id + 1
21       ``last_other_card``           52     last card flipped by the other player
22       ``last_taker``                2      who took the last round: 0 none, 1 viewer, 2 other
23       ``last_ending``               3      how: 0 none, 1 battle, 2 war, 3 surrender
24       ``last_taken``                52     cards collected in it
25-37    ``unseen_red_0`` - ``12``     2      red cards of each rank (2, 3, ... A) in play that are
                                              unseen
38-50    ``unseen_black_0`` - ``12``   2      black ones
=======  ============================  =====  =====================================================

Then come ``deck_size`` slots for the own hand, ``deck_size`` for the other's, both top first, and
``deck_size`` for the table in the order laid: attacker and defender in turn, and of each eight
places the first two flipped, the others laid face down. Tokens (uint8):

=======  ==========================================================================================
token    meaning
=======  ==========================================================================================
0        no card
1        a card lying face down (``memory="table"`` only)
2, 3     a red, a black card that nobody has seen (it was dealt to player_0, to player_1)
4 - 55   card id = token - 4. Both players always know the same, so the other knows it too
=======  ==========================================================================================

In vectors each slot is 21 floats, each 0 or 1: a card is there; its face is known, to both; it is
red; it is black; its rank (13, 2 first); its suit (4: H, S, D, C).

``memory="perfect"`` shows all that the players know. ``memory="table"`` shows only what lies face
up (cards flipped in this round, and every card in Open-card mode); all others are token 1, and
``unseen`` counts all cards that the slots do not show.
"""

from typing import Any

import numpy as np

from war_envs.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import RUNNING, Integer, Record, Records, bit
from war_envs.engine.layout import (
    Field,
    Layout,
    card_features,
    card_field,
    card_or_zero,
    copy_run,
    count_four,
    expand,
    mode_fields,
    slots_per_zone,
    turn_fields,
    write,
    write_all_later_modes,
    write_modes,
    write_turn,
)
from war_envs.strategic_war.rules import NUM_ACTIONS, face_up, legal, mover
from war_envs.strategic_war.views import EMPTY, FACE_DOWN, TABLE

_PRESENT, _KNOWN, _RED, _BLACK = range(4)
_RED_CARDS = np.uint64(0x5555555555555555)

LAYOUT = Layout(
    header=(
        *mode_fields(),
        Field("twins", 1),
        Field("seat", 1),
        card_field("own_size"),
        card_field("other_size"),
        card_field("table_size"),
        *turn_fields(),
        *(Field(name, 1) for name in ("over", "attacker", "to_move")),
        *(Field(f"phase_{name}", 1) for name in ("attack", "defend")),
        *(Field(f"phase_{name}_answer", 1) for name in ("defender", "attacker")),
        Field("last_own_action", 4),
        Field("last_other_action", 4),
        card_field("last_own_card"),
        card_field("last_other_card"),
        Field("last_taker", 2),
        Field("last_ending", 3),
        card_field("last_taken"),
        *(
            Field(f"unseen_{colour}_{rank}", NUM_SUITS // 2)
            for colour in ("red", "black")
            for rank in range(NUM_RANKS)
        ),
    ),
    slots_per_card=3,
    features=card_features(
        4,
        [
            ((), None),
            ((_PRESENT,), None),
            ((_PRESENT, _RED), None),
            ((_PRESENT, _BLACK), None),
            *(
                ((_PRESENT, _KNOWN, _BLACK if card & 1 else _RED), card)
                for card in range(NUM_CARDS)
            ),
        ],
    ),
)
ENCODING = LAYOUT  # as it was called first
HEADER_SIZE = len(LAYOUT.header)
_AT = LAYOUT.at
_WIDTH = LAYOUT.features.shape[1]


@kernel
def _write_header(game: Record, viewer: Integer, out: Any, k: Integer) -> None:
    own, other = np.uint64(viewer), np.uint64(1 - viewer)
    write_modes(game, out, k)
    write(out, k, _AT.twins, game.twins)
    write(out, k, _AT.seat, viewer)
    write(out, k, _AT.own_size, game.sizes[own])
    write(out, k, _AT.other_size, game.sizes[other])
    write(out, k, _AT.table_size, game.table_size)
    write_turn(game, out, k, _AT.turn)
    running = game.status == RUNNING
    write(out, k, _AT.over, not running)
    write(out, k, _AT.attacker, game.attacker == viewer)
    write(out, k, _AT.to_move, running & (mover(game) == viewer))
    for phase in range(4):
        write(out, k, _AT.phase_attack + phase, game.phase == phase)
    write(out, k, _AT.last_own_action, game.last_action[own] + 1)
    write(out, k, _AT.last_other_action, game.last_action[other] + 1)
    write(out, k, _AT.last_own_card, card_or_zero(game.last_card[own]))
    write(out, k, _AT.last_other_card, card_or_zero(game.last_card[other]))
    taker = 0 if game.last_taker < 0 else (1 if game.last_taker == viewer else 2)
    write(out, k, _AT.last_taker, taker)
    write(out, k, _AT.last_ending, game.last_ending)
    write(out, k, _AT.last_taken, game.last_taken)


@kernel
def _write_perfect(game: Record, viewer: Integer, out: Any, k: Integer, slots: Integer) -> None:
    """What the players know: counts, hands and table, as the record keeps them."""
    both = 2 * NUM_RANKS  # both colours, one behind the other
    copy_run(game.unseen, 0, 0, out, k, _AT.unseen_red_0, both)
    at = HEADER_SIZE
    for player in (viewer, 1 - viewer):
        copy_run(game.views, player, game.heads[player], out, k, at, slots)
        at += slots
    copy_run(game.views, TABLE, 0, out, k, at, slots)


@kernel
def _write_table(game: Record, viewer: Integer, out: Any, k: Integer, slots: Integer) -> None:
    """What lies in view where cards are hidden: flipped cards, and how many others there are."""
    unseen = game.in_play
    at = HEADER_SIZE + 2 * slots
    for place in range(slots):
        write(out, k, at + place, FACE_DOWN if place < game.table_size else EMPTY)
        if place < game.table_size and face_up(place):
            write(out, k, at + place, game.views[TABLE, place])
            unseen &= ~bit(game.table[place])
    at = HEADER_SIZE
    for player in (viewer, 1 - viewer):
        for place in range(slots):
            write(out, k, at + place, FACE_DOWN if place < game.sizes[player] else EMPTY)
        at += slots
    for r in range(NUM_RANKS):
        red = count_four(unseen & _RED_CARDS, NUM_SUITS * r)
        write(out, k, _AT.unseen_red_0 + r, red)
        write(out, k, _AT.unseen_black_0 + r, count_four(unseen, NUM_SUITS * r) - red)


@kernel
def write_tokens(
    game: Record, viewer: Integer, perfect: bool, slots: Integer, out: Any, k: Integer
) -> None:
    """Writes the viewer's token observation, less later modes, into row ``k`` of ``out`` (u1)."""
    _write_header(game, viewer, out, k)
    if perfect or game.open_cards:
        _write_perfect(game, viewer, out, k, slots)
    else:
        _write_table(game, viewer, out, k, slots)


@kernel
def _write_mask(game: Record, viewer: Integer, filler: Integer, out: Any, k: Integer) -> None:
    idle = (game.status != RUNNING) | (mover(game) != viewer)
    found = np.int64(0)
    for action in range(NUM_ACTIONS):  # all before the first is written: the game is read once
        found |= np.int64(legal(game, viewer, action) + filler * idle) << action
    for action in range(NUM_ACTIONS):
        write(out, k, action, (found >> action) & 1)


@kernel
def observe_tokens(
    games: Records,
    first: Integer,
    last: Integer,
    rows: Any,
    seats: Any,
    perfect: bool,
    filler: Integer,
    out: Any,
    masks: Any,
) -> None:
    """Token observations and masks of the pairs ``first`` to ``last - 1`` of (rows, seats).

    Shapes: ``rows``, ``seats`` i8 (K,); ``out`` u1 (K, F); ``masks`` i1 (K, 4), all ``filler``
    where the seat has nothing to choose.
    """
    slots = slots_per_zone(out.shape[1], HEADER_SIZE, 3)
    for k in range(first, last):
        game = games[rows[k]]
        write_tokens(game, seats[k], perfect, slots, out, k)
        _write_mask(game, seats[k], filler, masks, k)
    write_all_later_modes(games, first, last, rows, out, HEADER_SIZE + 3 * slots)


@kernel
def observe_vector(
    scales: Any,
    features: Any,
    size: Integer,
    games: Records,
    first: Integer,
    last: Integer,
    rows: Any,
    seats: Any,
    perfect: bool,
    filler: Integer,
    out: Any,
    masks: Any,
) -> None:
    """`observe_tokens` for vectors: ``out`` f4 (K, F); ``size`` is that of the tokens without later
    modes.
    """
    tokens = np.empty((1, size), np.uint8)
    slots = (size - HEADER_SIZE) // 3
    for k in range(first, last):
        game = games[rows[k]]
        write_tokens(game, seats[k], perfect, slots, tokens, 0)
        expand(tokens, scales, features, _WIDTH, out, k)
        _write_mask(game, seats[k], filler, masks, k)
    write_all_later_modes(games, first, last, rows, out, HEADER_SIZE + 3 * slots * _WIDTH)
