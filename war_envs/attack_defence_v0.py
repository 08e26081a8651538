"""War of Attack and Defence: look at your top card, then both choose at once to attack or defend.

Agents ``player_0`` and ``player_1``; actions 0 ATTACK and 1 DEFEND, both always legal. Reward +1 to
the winner and -1 to the loser when a player is out of cards; a game is truncated, with 0 to both,
after ``max_turns`` turns.

An observation holds an ``action_mask``, int8 (2,), 1 for each legal action: both while the game
runs, for both agents at any time, and all 0 once it is over. Batches (`war_envs.batch`) and the
Gymnasium ids have all 1 there instead.
"""

from typing import Any, Literal

from pettingzoo import AECEnv

from war_envs.attack_defence import global_state, info, observation
from war_envs.attack_defence.env import AttackDefenceAEC, AttackDefenceParallel
from war_envs.engine.layout import EncodingName, MemoryName
from war_envs.envs.aec import wrapped
from war_envs.envs.table import Observation
from war_envs.variant import AttackDefenceVariant

__doc__ = (
    f"{__doc__}\nObservations\n------------\n\n{observation.__doc__}"
    f"\nInfos\n-----\n\n{info.__doc__}"
    f"\nGlobal state (``state()``)\n--------------------------\n\n{global_state.__doc__}"
)
__all__ = ["env", "parallel_env", "raw_env"]


def raw_env(
    *,
    minimal: bool = False,
    fair: bool = False,
    open_cards: bool = False,
    num_ranks: int = 13,
    max_turns: int | None = None,
    own_card: Literal["bottom", "first"] = "bottom",
    encoding: EncodingName = "vector",
    memory: MemoryName = "perfect",
    render_mode: Literal["ansi"] | None = None,
    render_view: Literal["player_0", "player_1", "all"] = "player_0",
    info_text: bool = False,
) -> AttackDefenceAEC:
    """The AEC environment without wrappers: an illegal action raises and changes nothing.

    Use `env` for libraries that try an action without a mask before they begin, as RLlib does. The
    mask of an agent that has nothing to choose, as at the end, is all 0.

    Args:
        minimal: two suits (26 cards) instead of four.
        fair: both players hold the same ranks in the same order.
        open_cards: every card is face up.
        num_ranks: ranks in the deck, odd, 3 to 13.
        max_turns: turns after which a game is truncated, 1 to 1,000,000,000; None is 40 per card
            of the deck.
        own_card: a winner's own card goes under the deck last (``"bottom"``) or before what it won
            (``"first"``).
        encoding: ``"vector"`` (float32 in [0, 1]) or ``"tokens"`` (uint8).
        memory: ``"perfect"``, all a player could remember, or ``"table"``, what lies in view.
        render_mode: ``"ansi"`` makes ``render()`` return text.
        render_view: whose view is drawn: a seat, or ``"all"`` for everything open.
        info_text: infos also say in words what happened (``event``, ``outcome``).

    Raises:
        ValueError: an option that is not allowed.
    """
    variant = AttackDefenceVariant(
        minimal=minimal,
        fair=fair,
        open_cards=open_cards,
        num_ranks=num_ranks,
        max_turns=max_turns,
        own_card=own_card,
    )
    return AttackDefenceAEC(variant, encoding, memory, render_mode, render_view, info_text)


def env(**options: Any) -> AECEnv[str, Observation, int | None]:
    """The AEC environment in PettingZoo's wrappers; ``options`` as for `raw_env`.

    An illegal action loses the game: -1 to who chose it, +1 to the other, and ``illegal`` in infos.
    The mask of an agent that has nothing to choose, as at the end, is all 0.
    """
    return wrapped(raw_env(**options))


def parallel_env(
    *,
    minimal: bool = False,
    fair: bool = False,
    open_cards: bool = False,
    num_ranks: int = 13,
    max_turns: int | None = None,
    own_card: Literal["bottom", "first"] = "bottom",
    encoding: EncodingName = "vector",
    memory: MemoryName = "perfect",
    render_mode: Literal["ansi"] | None = None,
    render_view: Literal["player_0", "player_1", "all"] = "player_0",
    info_text: bool = False,
) -> AttackDefenceParallel:
    """The parallel environment, both choices at once; arguments as for `raw_env`.

    The masks of the last observations, once the game is over, are all 0.
    """
    variant = AttackDefenceVariant(
        minimal=minimal,
        fair=fair,
        open_cards=open_cards,
        num_ranks=num_ranks,
        max_turns=max_turns,
        own_card=own_card,
    )
    return AttackDefenceParallel(variant, encoding, memory, render_mode, render_view, info_text)
