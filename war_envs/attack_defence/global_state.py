"""The whole game of War of Attack and Defence as one array, for critics that may see everything.

It shows every card of both hands, so no player may be given it. It is seen from nobody's seat: the
entries of player_0 come before those of player_1. A choice that player_0 has committed while
player_1 still chooses is not in it, nor is the generator of the deals to come. Tokens are uint8,
vector entries float32, as ``encoding`` says; a vector entry of the header is the token divided by
its scale.

=======  =====================  =====  ============================================================
index    field                  scale  meaning
=======  =====================  =====  ============================================================
0        ``minimal``            1      the mode is on
1        ``fair``               1      the mode is on
2        ``open_cards``         1      the mode is on
3        ``num_ranks``          13     ranks in the deck
4        ``own_card_first``     1      a winner's own card is collected first, not last
5        ``twins``              1      a card that is seen tells its twin (a Fair deal)
6        ``size_0``             52     cards in player_0's hand
7        ``size_1``             52     cards in player_1's hand
8, 9     ``turn``, ``_low``     255    turns finished / max_turns, in 65535ths: high byte, low byte
10       ``over``               1      the game is over
11       ``winner``             2      who has won: 0 nobody (yet), 1 player_0, 2 player_1
12       ``last_action_0``      2      player_0's choice last turn: 0 none yet, 1 ATTACK, 2 DEFEND
13       ``last_action_1``      2      player_1's
14       ``last_card_0``        52     card player_0 played last turn: 0 none, else card id + 1
15       ``last_card_1``        52     card player_1 played
16       ``last_extra_card``    52     extra card that was taken
17       ``last_taker``         2      who took cards: 0 nobody, 1 player_0, 2 player_1
=======  =====================  =====  ============================================================

Then come ``deck_size`` slots for player_0's hand and ``deck_size`` for player_1's, top first.
Tokens:

=========  =====================================================================================
token      meaning
=========  =====================================================================================
0          no card
1 - 52     card id = token - 1, known to nobody
53 - 104   card id = token - 53, known to player_0 only
105 - 156  card id = token - 105, known to player_1 only
157 - 208  card id = token - 157, known to both
=========  =====================================================================================

In vectors each slot is 20 floats, each 0 or 1: a card is there; player_0 knows it; player_1 knows
it; its rank (13, A first); its suit (4: H, S, D, C).
"""

from typing import Any

import numpy as np

from war_envs.cards import NUM_CARDS
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import RUNNING, Integer, Record, Records, bit, card_at
from war_envs.engine.layout import (
    Field,
    Layout,
    card_features,
    card_field,
    card_or_zero,
    mode_fields,
    slots_per_zone,
    turn_fields,
    write,
    write_later_modes,
    write_modes,
    write_turn,
)

_PRESENT, _KNOWN_TO_0, _KNOWN_TO_1 = range(3)

LAYOUT = Layout(
    header=(
        *mode_fields(),
        *(Field(name, 1) for name in ("own_card_first", "twins")),
        card_field("size_0"),
        card_field("size_1"),
        *turn_fields(),
        Field("over", 1),
        Field("winner", 2),
        Field("last_action_0", 2),
        Field("last_action_1", 2),
        card_field("last_card_0"),
        card_field("last_card_1"),
        card_field("last_extra_card"),
        Field("last_taker", 2),
    ),
    slots_per_card=2,
    features=card_features(
        3,
        [
            ((), None),
            *(((_PRESENT,), card) for card in range(NUM_CARDS)),
            *(((_PRESENT, _KNOWN_TO_0), card) for card in range(NUM_CARDS)),
            *(((_PRESENT, _KNOWN_TO_1), card) for card in range(NUM_CARDS)),
            *(((_PRESENT, _KNOWN_TO_0, _KNOWN_TO_1), card) for card in range(NUM_CARDS)),
        ],
    ),
)
HEADER_SIZE = len(LAYOUT.header)
_AT = LAYOUT.at


@kernel
def write_tokens(games: Records, row: Integer, out: Any) -> None:
    """Writes the tokens of game ``row`` into row 0 of ``out`` (u1)."""
    game: Record = games[row]
    write_modes(game, out, 0)
    write(out, 0, _AT.own_card_first, game.own_first)
    write(out, 0, _AT.twins, game.twins)
    write_turn(game, out, 0, _AT.turn)
    write(out, 0, _AT.over, game.status != RUNNING)
    write(out, 0, _AT.winner, game.winner + 1)
    write(out, 0, _AT.last_extra_card, card_or_zero(game.last_extra))
    write(out, 0, _AT.last_taker, game.last_taker + 1)
    slots = slots_per_zone(out.shape[1], HEADER_SIZE, 2)
    write_later_modes(game, out, 0, HEADER_SIZE + 2 * slots)
    for player in range(2):
        write(out, 0, _AT.size_0 + player, game.sizes[player])
        write(out, 0, _AT.last_action_0 + player, game.last_action[player] + 1)
        write(out, 0, _AT.last_card_0 + player, card_or_zero(game.last_card[player]))
        for place in range(slots):
            token: Integer = 0
            if place < game.sizes[player]:
                card = np.int64(card_at(game, player, place))
                token = 1 + card
                for viewer in range(2):
                    token += NUM_CARDS * (viewer + 1) * (game.seen[viewer] & bit(card) != 0)
            write(out, 0, HEADER_SIZE + slots * player + place, token)
