"""An agent that fails."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Failing:
    """Chooses the first legal action, and fails at one of its calls."""

    name, encoding, memory = "failing", "tokens", "perfect"

    def __init__(self, at: int) -> None:
        self.left = at

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """See `war_agents.agent.Agent`."""
        self.left -= 1
        if self.left == 0:
            raise OSError("unplugged")
        return action_mask.argmax(axis=1), None
