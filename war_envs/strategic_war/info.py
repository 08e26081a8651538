"""What an info of Strategic War holds.

Both agents are told the same, only what both have seen, under the same keys from reset to the end.
Every entry is an ``int``; seats are 0 and 1, cards are numbered 4 * rank + suit with ranks 2, 3 ...
A and suits H, S, D, C from 0 (`war_envs.cards`).

=================  =================================================================================
key                meaning
=================  =================================================================================
``ending``         0 the game runs, 1 won, 2 a tie, 3 truncated, 4 lost by an illegal choice: see
                   `war_envs.info.Ending`
``winner``         the seat that has won; -1 nobody, or not yet
``illegal``        the seat that made an illegal choice; -1 none
``turn``           rounds finished
``last_action_0``  player_0's last choice; -1 before the first
``last_action_1``  player_1's
``last_card_0``    the card that player_0 flipped last; -1 before the first
``last_card_1``    player_1's
``last_chooser``   the seat that chose last; -1 nobody yet
``last_taker``     the seat that took the last round; -1 before the first has ended
``last_ending``    how that round ended: 0 none has yet, 1 battle, 2 war, 3 surrender
``last_taken``     cards collected in it
=================  =================================================================================

With ``info_text=True`` there are two strings as well: ``event``, what happened last, and
``outcome``, how the game ended ("" while it runs). ``info["action_mask"]``, int8 (4,), is what the
agent's observation has, too; it is not listed (see `war_envs.info.Info`).
"""


def numbers(
    ending: int,
    winner: int,
    illegal: int,
    turn: int,
    last_action_0: int,
    last_action_1: int,
    last_card_0: int,
    last_card_1: int,
    last_chooser: int,
    last_taker: int,
    last_ending: int,
    last_taken: int,
    *_: int,
) -> dict[str, int]:
    """An info of what the kernel ``facts`` of the game's rules gives, in that order."""
    return {
        "ending": ending,
        "winner": winner,
        "illegal": illegal,
        "turn": turn,
        "last_action_0": last_action_0,
        "last_action_1": last_action_1,
        "last_card_0": last_card_0,
        "last_card_1": last_card_1,
        "last_chooser": last_chooser,
        "last_taker": last_taker,
        "last_ending": last_ending,
        "last_taken": last_taken,
    }
