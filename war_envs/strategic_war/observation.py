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

from war_envs.cards import NUM_CARDS
from war_envs.encoding import Encoding, Field, card_features, count_four, expand, write_turn
from war_envs.jit import kernel
from war_envs.kernels import NO_CARD, RUNNING, Integer, Record, Records, bit, card_at
from war_envs.strategic_war.rules import NUM_ACTIONS, face_up, legal, mover

HEADER = (
    *(Field(name, 1) for name in ("minimal", "fair", "open_cards")),
    Field("num_ranks", 13),
    Field("twins", 1),
    Field("seat", 1),
    Field("own_size", 52),
    Field("other_size", 52),
    Field("table_size", 52),
    Field("turn", 255),
    Field("turn_low", 255),
    *(Field(name, 1) for name in ("over", "attacker", "to_move")),
    *(Field(f"phase_{name}", 1) for name in ("attack", "defend")),
    *(Field(f"phase_{name}_answer", 1) for name in ("defender", "attacker")),
    Field("last_own_action", 4),
    Field("last_other_action", 4),
    Field("last_own_card", 52),
    Field("last_other_card", 52),
    Field("last_taker", 2),
    Field("last_ending", 3),
    Field("last_taken", 52),
    *(Field(f"unseen_{colour}_{r}", 2) for colour in ("red", "black") for r in range(13)),
)
HEADER_SIZE = len(HEADER)

EMPTY = 0
FACE_DOWN = 1
UNSEEN_RED = 2
UNSEEN_BLACK = 3
KNOWN = 4

_PRESENT, _KNOWN, _RED, _BLACK = range(4)
_RED_CARDS = np.uint64(0x5555555555555555)


@kernel
def _last_card(card: Integer) -> Integer:
    return 0 if card == NO_CARD else card + 1


@kernel
def _write_header(game: Record, viewer: Integer, out: Any) -> None:
    other = 1 - viewer
    out[0] = game.minimal
    out[1] = game.fair
    out[2] = game.open_cards
    out[3] = game.num_ranks
    out[4] = game.twins
    out[5] = viewer
    out[6] = game.sizes[viewer]
    out[7] = game.sizes[other]
    out[8] = game.table_size
    write_turn(game, out, 9)
    running = game.status == RUNNING
    out[11] = not running
    out[12] = game.attacker == viewer
    out[13] = running and mover(game) == viewer
    for phase in range(4):
        out[14 + phase] = game.phase == phase
    out[18] = game.last_action[viewer] + 1
    out[19] = game.last_action[other] + 1
    out[20] = _last_card(np.int64(game.last_card[viewer]))
    out[21] = _last_card(np.int64(game.last_card[other]))
    out[22] = 0 if game.last_taker < 0 else (1 if game.last_taker == viewer else 2)
    out[23] = game.last_ending
    out[24] = game.last_taken


@kernel
def _token(card: Integer, shown: Any, perfect: bool) -> Integer:
    if shown & bit(card):
        return KNOWN + card
    if not perfect:
        return FACE_DOWN
    return UNSEEN_BLACK if card & 1 else UNSEEN_RED


@kernel
def write_tokens(game: Record, viewer: Integer, perfect: bool, out: Any) -> None:
    """Writes the viewer's token observation into ``out`` (u1)."""
    _write_header(game, viewer, out)
    shown = game.seen
    if not perfect:
        shown = game.in_play if game.open_cards else np.uint64(0)
        for place in range(game.table_size):
            if face_up(place):
                shown |= bit(game.table[place])
    unseen = game.in_play & ~shown
    for r in range(13):
        out[25 + r] = count_four(unseen & _RED_CARDS, 4 * r)
        out[38 + r] = count_four(unseen & ~_RED_CARDS, 4 * r)
    slots = (out.shape[0] - HEADER_SIZE) // 3
    at = HEADER_SIZE
    for hand in range(2):
        player = viewer if hand == 0 else 1 - viewer
        size = game.sizes[player]
        for place in range(size):
            out[at + place] = _token(np.int64(card_at(game, player, place)), shown, perfect)
        for place in range(size, slots):
            out[at + place] = EMPTY
        at += slots
    for place in range(game.table_size):
        out[at + place] = _token(np.int64(game.table[place]), shown, perfect)
    for place in range(game.table_size, slots):
        out[at + place] = EMPTY


ENCODING = Encoding(
    header=HEADER,
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
    write=write_tokens,
)


@kernel
def _write_mask(game: Record, viewer: Integer, out: Any) -> None:
    for action in range(NUM_ACTIONS):
        out[action] = legal(game, viewer, action)


@kernel
def observe_tokens(
    games: Records,
    first: Integer,
    last: Integer,
    rows: Any,
    seats: Any,
    perfect: bool,
    out: Any,
    masks: Any,
) -> None:
    """Token observations and masks of the pairs ``first`` to ``last - 1`` of (rows, seats).

    Shapes: ``rows``, ``seats`` i8 (K,); ``out`` u1 (K, size); ``masks`` i1 (K, 4), all 0 where the
    seat has nothing to choose.
    """
    for k in range(first, last):
        write_tokens(games[rows[k]], seats[k], perfect, out[k])
        _write_mask(games[rows[k]], seats[k], masks[k])


@kernel
def observe_vector(
    games: Records,
    first: Integer,
    last: Integer,
    rows: Any,
    seats: Any,
    perfect: bool,
    scales: Any,
    features: Any,
    size: Integer,
    out: Any,
    masks: Any,
) -> None:
    """`observe_tokens` for vectors: ``out`` f4 (K, F); ``size`` is that of the tokens."""
    tokens = np.empty(size, np.uint8)
    for k in range(first, last):
        write_tokens(games[rows[k]], seats[k], perfect, tokens)
        expand(tokens, scales, features, out[k])
        _write_mask(games[rows[k]], seats[k], masks[k])
