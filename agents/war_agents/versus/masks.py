"""Where a player is shown its action mask: in the info only, or in the observation too."""

from collections.abc import Iterable
from typing import Any, Final, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from war_envs.engine.layout import checked_choice

MaskPlace = Literal["info", "observation"]
_PLACES: Final = ("info", "observation")

# An array, or a dict of two. Which one the caller knows, who would have to prove it with a union.
Shown = Any


class MaskShown:
    """Observations as a player is shown them.

    Args:
        place: ``"info"`` leaves them as they are, ``"observation"`` makes a dict of
            ``observation`` and ``action_mask``.
        observation: the space of the observations alone.
        num_actions: how many actions there are.

    Attributes:
        space: the space of what is shown.

    Raises:
        ValueError: another place.
    """

    def __init__(self, place: MaskPlace, observation: spaces.Space[Any], num_actions: int) -> None:
        self._inside = checked_choice("mask", place, _PLACES) == "observation"
        self.space: spaces.Space[Any] = observation
        if self._inside:
            mask = spaces.Box(0, 1, (num_actions,), np.int8)
            self.space = spaces.Dict({"observation": observation, "action_mask": mask})

    def shown(self, observation: NDArray[Any], mask: NDArray[np.int8]) -> Shown:
        """What is shown of ``observation`` and ``mask``, which is copied if it is in there."""
        if not self._inside:
            return observation
        return {"observation": observation, "action_mask": mask.copy()}

    def each_shown(self, observations: NDArray[Any], masks: NDArray[np.int8]) -> Iterable[Shown]:
        """`shown` of each of ``observations`` (K, F) and ``masks`` (K, A)."""
        return map(self.shown, observations, masks) if self._inside else observations
