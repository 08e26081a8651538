"""Strategic War: flip your deck's top or bottom card, unseen; equal ranks or suits mean war.

Agents ``player_0`` and ``player_1``; actions 0 TOP, 1 BOTTOM, 2 FIGHT and 3 SURRENDER, of which the
mask leaves the legal ones. Reward +1 to the winner and -1 to the loser, 0 to both for a tie or a
game truncated after ``max_turns`` rounds.

An observation holds an ``action_mask``, int8 (4,), 1 for each legal action. It is all 0 for an
agent that has nothing to choose: the one who waits, and both once the game is over. Batches
(`war_envs.batch`) and the Gymnasium ids have all 1 there instead.

The game is played in turns. What PettingZoo's ``turn_based_aec_to_parallel`` makes of it keeps the
zeros of who waits, from which random policies such as TorchRL's cannot draw: give libraries the AEC
environment (TorchRL's ``PettingZooWrapper`` with ``use_mask=True``).
"""

from typing import Any, Literal

from pettingzoo import AECEnv

from war_envs.engine.layout import EncodingName, MemoryName
from war_envs.envs.aec import wrapped
from war_envs.envs.table import Observation
from war_envs.strategic_war import global_state, info, observation
from war_envs.strategic_war.env import StrategicWarAEC
from war_envs.variant import StrategicWarVariant

__doc__ = (
    f"{__doc__}\nObservations\n------------\n\n{observation.__doc__}"
    f"\nInfos\n-----\n\n{info.__doc__}"
    f"\nGlobal state (``state()``)\n--------------------------\n\n{global_state.__doc__}"
)
__all__ = ["env", "raw_env"]


def raw_env(
    *,
    minimal: bool = False,
    fair: bool = False,
    open_cards: bool = False,
    num_ranks: int = 13,
    max_turns: int | None = None,
    encoding: EncodingName = "vector",
    memory: MemoryName = "perfect",
    render_mode: Literal["ansi"] | None = None,
    render_view: Literal["player_0", "player_1", "all"] = "player_0",
    info_text: bool = False,
) -> StrategicWarAEC:
    """The AEC environment without wrappers: an illegal action raises and changes nothing.

    Use `env` for libraries that try an action without a mask before they begin, as RLlib does. The
    mask of an agent that has nothing to choose, as at the end, is all 0.

    Args:
        minimal: two suits (26 cards) instead of four.
        fair: the black hand repeats the red one.
        open_cards: every card is face up.
        num_ranks: ranks in the deck, odd, 3 to 13.
        max_turns: rounds after which a game is truncated, 1 to 1,000,000,000; None is 40 per card
            of the deck.
        encoding: ``"vector"`` (float32 in [0, 1]) or ``"tokens"`` (uint8).
        memory: ``"perfect"``, all a player could remember, or ``"table"``, what lies in view.
        render_mode: ``"ansi"`` makes ``render()`` return text.
        render_view: whose view is drawn: a seat, or ``"all"`` for everything open.
        info_text: infos also say in words what happened (``event``, ``outcome``).

    Raises:
        ValueError: an option that is not allowed.
    """
    variant = StrategicWarVariant(
        minimal=minimal,
        fair=fair,
        open_cards=open_cards,
        num_ranks=num_ranks,
        max_turns=max_turns,
    )
    return StrategicWarAEC(variant, encoding, memory, render_mode, render_view, info_text)


def env(**options: Any) -> AECEnv[str, Observation, int | None]:
    """The AEC environment in PettingZoo's wrappers; ``options`` as for `raw_env`.

    An illegal action loses the game: -1 to who chose it, +1 to the other, and ``illegal`` in infos.
    The mask of an agent that has nothing to choose, as at the end, is all 0.
    """
    return wrapped(raw_env(**options))
