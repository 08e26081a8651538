"""The scripted agent of Strategic War that remembers."""

import numpy as np
from numpy.typing import NDArray

from war_agents.scripted.base import ScriptedAgent
from war_agents.scripted.strategic_war_choice import remember


class MemoryAgent(ScriptedAgent):
    """Chooses by the worth of the cards that it may win and lose next, from all that is known.

    A card of rank r (0 to n - 1) is worth 2 + r / (n - 1); an unseen one what the unseen cards of
    its colour are worth on average, and each of them is as likely at its place. Cards of different
    colours differ in suit; unless both are known, cards of one colour do so with chance 1/2, in
    Minimal never. From that follow the chances that a flip is won, lost or a war. With A and D the
    worths of the attacker's and the defender's cards on the table, flipped ones included:

    * A defender flips the end with the most

          win * A - lose * D - war * W - worth of its card / 20,

      so of two ends that surely win the cheaper one. Who would lose the last card so loses the
      worth of the whole deck.
    * An attacker flips the end against which that most is least, on average over an unseen card.
    * W is what a war is worth to the attacker: p * D' - (1 - p) * A', where A' and D' count the
      next four cards of each hand too, but no more than D and no less than -A with the next card
      of each, since both may surrender. p is the attacker's chance in the flip that would decide
      it, with its better end against the better answer, a further war counted half. A player who
      would run out of cards surrenders if any are left.
    * Asked in a war, it surrenders when the table is worth less than the war will cost: when

          p * (A + D + worth of the next three cards of each hand) < worth of its own next three,

      which compares giving up A + D with winning or losing it all. If the war cannot be fought to
      its end, the player with fewer cards surrenders, unless its hand is empty.

    Of ends that are equally good it flips the bottom.
    """

    def _choose(
        self,
        tokens: NDArray[np.uint8],
        legal: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        out = np.empty(len(tokens), np.int64)
        remember(tokens, self.variant.num_ranks, self.variant.minimal, out)
        return out
