"""The whole game of Strategic War as one array, for critics that may see everything.

It shows every card of both hands and the table, so no player may be given it. It is seen from
nobody's seat: the entries of player_0 come before those of player_1. The generator of the deals to
come is not in it. Tokens are uint8, vector entries float32, as ``encoding`` says; a vector entry of
the header is the token divided by its scale.

=======  ============================  =====  =====================================================
index    field                         scale  meaning
=======  ============================  =====  =====================================================
0        ``minimal``                   1      the mode is on
1        ``fair``                      1      the mode is on
2        ``open_cards``                1      the mode is on
3        ``num_ranks``                 13     ranks in the deck
4        ``twins``                     1      a card that is seen tells its twin (a Fair deal)
5        ``size_0``                    52     cards in player_0's hand
6        ``size_1``                    52     cards in player_1's hand
7        ``table_size``                52     cards on the table
8, 9     ``turn``, ``_low``            255    rounds / max_turns, in 65535ths: high byte, low byte
10       ``over``                      1      the game is over
11       ``winner``                    2      who has won: 0 nobody (yet), 1 player_0, 2 player_1
12       ``attacker``                  1      player_1 attacks
13       ``mover``                     2      who must choose: 0 nobody, 1 player_0, 2 player_1
14-17    ``phase_attack``,             1      one of them is 1: the attacker flips, the defender
         ``phase_defend``,                    flips, the defender answers whether to surrender, the
         ``phase_defender_answer``,           attacker answers
         ``phase_attacker_answer``
18       ``last_action_0``             4      player_0's last choice: 0 none yet, else action + 1
19       ``last_action_1``             4      player_1's
20       ``last_card_0``               52     last card flipped by player_0: 0 none, else id + 1
21       ``last_card_1``               52     last card flipped by player_1
22       ``last_taker``                2      who took the last round: 0 none, 1, 2 the players
23       ``last_ending``               3      how: 0 none, 1 battle, 2 war, 3 surrender
24       ``last_taken``                52     cards collected in it
=======  ============================  =====  =====================================================

Then come ``deck_size`` slots for player_0's hand, ``deck_size`` for player_1's, both top first, and
``deck_size`` for the table in the order laid: attacker and defender in turn, and of each eight
places the first two flipped, the others laid face down. Tokens:

========  =========================================================================================
token     meaning
========  =========================================================================================
0         no card
1 - 52    card id = token - 1, a card that nobody has seen
53 - 104  card id = token - 53, known to both players
========  =========================================================================================

In vectors each slot is 19 floats, each 0 or 1: a card is there; both players know it; its rank (13,
2 first); its suit (4: H, S, D, C).
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
from war_envs.strategic_war.rules import mover

_PRESENT, _KNOWN = range(2)

LAYOUT = Layout(
    header=(
        *mode_fields(),
        Field("twins", 1),
        card_field("size_0"),
        card_field("size_1"),
        card_field("table_size"),
        *turn_fields(),
        Field("over", 1),
        Field("winner", 2),
        Field("attacker", 1),
        Field("mover", 2),
        *(Field(f"phase_{name}", 1) for name in ("attack", "defend")),
        *(Field(f"phase_{name}_answer", 1) for name in ("defender", "attacker")),
        Field("last_action_0", 4),
        Field("last_action_1", 4),
        card_field("last_card_0"),
        card_field("last_card_1"),
        Field("last_taker", 2),
        Field("last_ending", 3),
        card_field("last_taken"),
    ),
    slots_per_card=3,
    features=card_features(
        2,
        [
            ((), None),
            *(((_PRESENT,), card) for card in range(NUM_CARDS)),
            *(((_PRESENT, _KNOWN), card) for card in range(NUM_CARDS)),
        ],
    ),
)
HEADER_SIZE = len(LAYOUT.header)
_AT = LAYOUT.at


@kernel
def _token(game: Record, card: Integer) -> Integer:
    return 1 + np.int64(card) + NUM_CARDS * (game.seen & bit(card) != 0)


@kernel
def write_tokens(games: Records, row: Integer, out: Any) -> None:
    """Writes the tokens of game ``row`` into row 0 of ``out`` (u1)."""
    game: Record = games[row]
    running = game.status == RUNNING
    write_modes(game, out, 0)
    write(out, 0, _AT.twins, game.twins)
    write(out, 0, _AT.table_size, game.table_size)
    write_turn(game, out, 0, _AT.turn)
    write(out, 0, _AT.over, not running)
    write(out, 0, _AT.winner, game.winner + 1)
    write(out, 0, _AT.attacker, game.attacker)
    write(out, 0, _AT.mover, (mover(game) + 1) * running)
    for phase in range(4):
        write(out, 0, _AT.phase_attack + phase, game.phase == phase)
    write(out, 0, _AT.last_taker, game.last_taker + 1)
    write(out, 0, _AT.last_ending, game.last_ending)
    write(out, 0, _AT.last_taken, game.last_taken)
    slots = slots_per_zone(out.shape[1], HEADER_SIZE, 3)
    write_later_modes(game, out, 0, HEADER_SIZE + 3 * slots)
    for player in range(2):
        write(out, 0, _AT.size_0 + player, game.sizes[player])
        write(out, 0, _AT.last_action_0 + player, game.last_action[player] + 1)
        write(out, 0, _AT.last_card_0 + player, card_or_zero(game.last_card[player]))
        for place in range(slots):
            here = place < game.sizes[player]
            token = _token(game, card_at(game, player, place)) if here else 0
            write(out, 0, HEADER_SIZE + slots * player + place, token)
    for place in range(slots):
        token = _token(game, game.table[place]) if place < game.table_size else 0
        write(out, 0, HEADER_SIZE + 2 * slots + place, token)
