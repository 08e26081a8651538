"""What a player of War of Attack and Defence observes.

Both encodings begin with this header, seen from the viewer ("own") against the other player
("other"). A token is the integer of the table, a vector entry that integer divided by its scale.

=======  =====================  =====  ============================================================
index    field                  scale  meaning
=======  =====================  =====  ============================================================
0        ``minimal``            1      the mode is on
1        ``fair``               1      the mode is on
2        ``open_cards``         1      the mode is on
3        ``num_ranks``          13     ranks in the deck
4        ``own_card_first``     1      a winner's own card is collected first, not last
5        ``twins``              1      a card that is seen tells its twin (a Fair deal)
6        ``seat``               1      the viewer is player_1
7        ``own_size``           52     cards in the own hand
8        ``other_size``         52     cards in the other hand
9, 10    ``turn``, ``_low``     255    turns finished / max_turns, in 65535ths: high byte, low byte
11       ``over``               1      the game is over
12       ``last_own_action``    2      last turn: 0 none yet, 1 ATTACK, 2 DEFEND
13       ``last_other_action``  2      the same of the other player
14       ``last_own_card``      52     card the viewer played last turn: 0 none, else card id + 1
15       ``last_other_card``    52     card the other player played
16       ``last_extra_card``    52     extra card that was taken
17       ``last_taker``         2      who took cards: 0 nobody, 1 the viewer, 2 the other
18-30    ``unseen_0`` - ``12``  4      cards of each rank (A, 2, ... K) that the viewer cannot place
=======  =====================  =====  ============================================================

Then come ``deck_size`` slots for the own hand and ``deck_size`` for the other's, top first. Tokens
(uint8):

=========  =====================================================================================
token      meaning
=========  =====================================================================================
0          no card
1          a card that the viewer does not know, nor does the other player
2          a card that the viewer does not know but the other player does
3 - 54     card id = token - 3, known to the viewer only
55 - 106   card id = token - 55, known to both
=========  =====================================================================================

In vectors each slot is 20 floats, each 0 or 1: a card is there; the viewer knows it; the other
player knows it; its rank (13, A first); its suit (4: H, S, D, C).

``memory="perfect"`` shows all that the viewer knows (the rules say who knows what).
``memory="table"`` shows only what lies face up: the own top card while the game runs, and every
card in Open-card mode; all other cards are token 1, and ``unseen`` counts all cards that the slots
do not show.
"""

from typing import Any

import numpy as np

from war_envs.attack_defence.rules import NUM_ACTIONS, legal
from war_envs.attack_defence.views import EMPTY, KNOWN_TO_VIEWER, UNKNOWN
from war_envs.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import NO_CARD, RUNNING, Integer, Record, Records, bit, card_at
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

_PRESENT, _KNOWN, _KNOWN_TO_OTHER = range(3)

LAYOUT = Layout(
    header=(
        *mode_fields(),
        *(Field(name, 1) for name in ("own_card_first", "twins", "seat")),
        card_field("own_size"),
        card_field("other_size"),
        *turn_fields(),
        Field("over", 1),
        Field("last_own_action", 2),
        Field("last_other_action", 2),
        card_field("last_own_card"),
        card_field("last_other_card"),
        card_field("last_extra_card"),
        Field("last_taker", 2),
        *(Field(f"unseen_{rank}", NUM_SUITS) for rank in range(NUM_RANKS)),
    ),
    slots_per_card=2,
    features=card_features(
        3,
        [
            ((), None),
            ((_PRESENT,), None),
            ((_PRESENT, _KNOWN_TO_OTHER), None),
            *(((_PRESENT, _KNOWN), card) for card in range(NUM_CARDS)),
            *(((_PRESENT, _KNOWN, _KNOWN_TO_OTHER), card) for card in range(NUM_CARDS)),
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
    write(out, k, _AT.own_card_first, game.own_first)
    write(out, k, _AT.twins, game.twins)
    write(out, k, _AT.seat, viewer)
    write(out, k, _AT.own_size, game.sizes[own])
    write(out, k, _AT.other_size, game.sizes[other])
    write_turn(game, out, k, _AT.turn)
    write(out, k, _AT.over, game.status != RUNNING)
    write(out, k, _AT.last_own_action, game.last_action[own] + 1)
    write(out, k, _AT.last_other_action, game.last_action[other] + 1)
    write(out, k, _AT.last_own_card, card_or_zero(game.last_card[own]))
    write(out, k, _AT.last_other_card, card_or_zero(game.last_card[other]))
    write(out, k, _AT.last_extra_card, card_or_zero(game.last_extra))
    taker = 0 if game.last_taker < 0 else (1 if game.last_taker == viewer else 2)
    write(out, k, _AT.last_taker, taker)


@kernel
def _write_perfect(game: Record, viewer: Integer, out: Any, k: Integer, slots: Integer) -> None:
    """What the viewer knows: counts and both hands, as the record keeps them."""
    copy_run(game.unseen, viewer, 0, out, k, _AT.unseen_0, NUM_RANKS)
    at = HEADER_SIZE
    for player in (viewer, 1 - viewer):
        copy_run(game.views, 2 * viewer + player, game.heads[player], out, k, at, slots)
        at += slots


@kernel
def _write_table(game: Record, viewer: Integer, out: Any, k: Integer, slots: Integer) -> None:
    """What lies in view where cards are hidden: the viewer's top card, and how many there are."""
    top = np.int64(card_at(game, viewer, 0)) if game.status == RUNNING else NO_CARD
    unseen = game.in_play if top == NO_CARD else game.in_play & ~bit(top)
    for r in range(NUM_RANKS):
        write(out, k, _AT.unseen_0 + r, count_four(unseen, NUM_SUITS * r))
    at = HEADER_SIZE
    for player in (viewer, 1 - viewer):
        for place in range(slots):
            write(out, k, at + place, UNKNOWN if place < game.sizes[player] else EMPTY)
        at += slots
    if top != NO_CARD:
        write(out, k, HEADER_SIZE, KNOWN_TO_VIEWER + top)


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
    over = game.status != RUNNING
    for action in range(NUM_ACTIONS):
        write(out, k, action, legal(game, viewer, action) + filler * over)


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

    Shapes: ``rows``, ``seats`` i8 (K,); ``out`` u1 (K, F); ``masks`` i1 (K, 2), all ``filler``
    where the seat has nothing to choose.
    """
    slots = slots_per_zone(out.shape[1], HEADER_SIZE, 2)
    for k in range(first, last):
        game = games[rows[k]]
        write_tokens(game, seats[k], perfect, slots, out, k)
        _write_mask(game, seats[k], filler, masks, k)
    write_all_later_modes(games, first, last, rows, out, HEADER_SIZE + 2 * slots)


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
    slots = (size - HEADER_SIZE) // 2
    for k in range(first, last):
        game = games[rows[k]]
        write_tokens(game, seats[k], perfect, slots, tokens, 0)
        expand(tokens, scales, features, _WIDTH, out, k)
        _write_mask(game, seats[k], filler, masks, k)
    write_all_later_modes(games, first, last, rows, out, HEADER_SIZE + 2 * slots * _WIDTH)
