"""What all scripted agents share: checked arguments, and no state."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_agents.given import checked_positions, checked_seeds
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.variant import Variant


class ScriptedAgent(ABC):
    """An agent whose choice follows from a position's observation, mask and seed alone.

    So a position's action is the same in any batch, and there is nothing to carry in ``state``.

    Args:
        name: what reports call it.
        variant: what it plays; observations are those of ``variant.deck_size`` cards.
    """

    kind = "scripted"
    encoding: str = "tokens"
    memory: str = "perfect"

    def __init__(self, name: str, variant: Variant) -> None:
        self.name = name
        self.variant = variant
        engine = ENGINES[variant.game]
        self._size = engine.layout.size(self.encoding, variant.deck_size, variant.num_later_modes)
        self._dtype = engine.layout.dtype(self.encoding)
        self._num_actions = engine.num_actions

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], None]:
        """Chooses an action for each of B positions.

        Args:
            observation: uint8 (B, F), tokens with perfect memory; it is not written to.
            action_mask: int8 or bool (B, A), 1 for each legal action.
            seeds: uint64 (B,), one per position: its only source of randomness.
            state, starts: as in `war_agents.agent.Agent`; checked, and otherwise ignored.

        Returns:
            Legal actions, int64 (B,), and None.

        Raises:
            ValueError: a position without a legal action, or an array of the wrong shape or dtype.
        """
        tokens, legal = checked_positions(
            self.name,
            observation,
            action_mask,
            dtype=self._dtype,
            size=self._size,
            num_actions=self._num_actions,
        )
        chosen = self._choose(
            tokens, legal, checked_seeds(self.name, len(tokens), seeds, state, starts)
        )
        wrong = ~np.take_along_axis(legal, chosen[:, None], axis=1)[:, 0]
        if wrong.any():  # BOTTOM of one card, or a mask that the rules would not give
            chosen[wrong] = legal[wrong].argmax(axis=1)
        return chosen, None

    @abstractmethod
    def _choose(
        self,
        tokens: NDArray[np.uint8],
        legal: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        """The wanted actions, int64 (B,), in an array of the caller's own."""


class RandomAgent(ScriptedAgent):
    """A legal action, uniformly at random."""

    def _choose(
        self,
        tokens: NDArray[np.uint8],
        legal: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        number = legal.sum(axis=1, dtype=np.uint64)
        high = seeding.action_seeds(seeds, 0) >> np.uint64(32)
        # The high half of a product is uniform below `number`, to one part in 2**31.
        pick = (high * number) >> np.uint64(32)
        passed = legal.cumsum(axis=1, dtype=np.uint64)
        chosen: NDArray[np.int64] = (passed > pick[:, None]).argmax(axis=1)
        return chosen


class FirstLegalAgent(ScriptedAgent):
    """The first legal action of a fixed list of all actions."""

    def __init__(self, name: str, variant: Variant, order: Sequence[int]) -> None:
        super().__init__(name, variant)
        self._order = np.array(order, np.int64)

    def _choose(
        self,
        tokens: NDArray[np.uint8],
        legal: NDArray[np.bool_],
        seeds: NDArray[np.uint64],
    ) -> NDArray[np.int64]:
        chosen: NDArray[np.int64] = self._order[legal[:, self._order].argmax(axis=1)]
        return chosen
