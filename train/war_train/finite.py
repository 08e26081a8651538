"""Numbers that must be finite: losses, weights and the optimiser's moments."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_NAMED: Final = 3  # at most, in a message


class TrainingDivergedError(ValueError):
    """A loss, a weight or a moment is not finite: the run has ended, and none of that is saved."""


def require_finite(arrays: Mapping[str, NDArray[Any]], steps: int) -> None:
    """Refuses numbers that are not finite.

    Args:
        arrays: by name; those that are no floats are left out.
        steps: when they were so.

    Raises:
        TrainingDivergedError: naming the step and the first of them, in one line.
    """
    broken = [
        name
        for name, array in arrays.items()
        if array.dtype.kind == "f" and not np.isfinite(array).all()
    ]
    if broken:
        more = f" and {len(broken) - _NAMED} more" if broken[_NAMED:] else ""
        names = ", ".join(broken[:_NAMED]) + more
        raise TrainingDivergedError(
            f"training has diverged: at step {steps} not finite: {names}; none of that was saved, "
            "what was saved before is whole; in a new run try a smaller learning_rate"
        )
