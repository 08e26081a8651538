"""The scripted agent of War of Attack and Defence that remembers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_agents.scripted.base import ScriptedAgent
from war_envs.attack_defence.observation import HEADER_SIZE, LAYOUT
from war_envs.attack_defence.rules import ATTACK, DEFEND, rank_beats
from war_envs.attack_defence.views import KNOWN_TO_BOTH, KNOWN_TO_VIEWER
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import rank
from war_envs.engine.layout import slots_per_zone

_UNSEEN = LAYOUT.index("unseen_0")


@kernel
def _card(token: Any) -> Any:
    """The card that a slot shows, or -1."""
    if token >= KNOWN_TO_BOTH:
        return token - KNOWN_TO_BOTH
    return token - KNOWN_TO_VIEWER if token >= KNOWN_TO_VIEWER else -1


@kernel
def _remember(tokens: Any, num_ranks: Any, out: Any) -> None:
    """Writes the choice of `MemoryAgent` for each row of ``tokens`` (u1 (B, F)) into ``out``."""
    slots = slots_per_zone(tokens.shape[1], HEADER_SIZE, 2)
    for i in range(tokens.shape[0]):
        out[i] = DEFEND
        own = _card(np.int64(tokens[i, HEADER_SIZE]))
        if own < 0:  # a finished game
            continue
        other = _card(np.int64(tokens[i, HEADER_SIZE + slots]))
        if other >= 0:
            if rank_beats(rank(own), rank(other), num_ranks):
                out[i] = ATTACK
            continue
        ahead = np.int64(0)
        for r in range(num_ranks):
            count = np.int64(tokens[i, _UNSEEN + r])
            if rank_beats(rank(own), r, num_ranks):
                ahead += count
            elif rank_beats(r, rank(own), num_ranks):
                ahead -= count
        if ahead > 0:
            out[i] = ATTACK


class MemoryAgent(ScriptedAgent):
    """Attacks exactly when its card will probably win.

    If the opponent's top card is known: when the own top card beats it. If not: when, of the cards
    whose place is unknown, more are beaten by the own card than beat it,

        sum over ranks r of unseen[r] * ([own beats r] - [r beats own]) > 0.

    Otherwise it defends: a tie goes to the defender, and two defenders swap their cards.
    """

    def _choose(
        self,
        tokens: NDArray[np.uint8],
        legal: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        out = np.empty(len(tokens), np.int64)
        _remember(tokens, self.variant.num_ranks, out)
        return out
