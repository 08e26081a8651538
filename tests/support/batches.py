"""What tests of batches share."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_envs.batch import Batch
from war_envs.engine import seeding

KINDS = list(product(("vector", "tokens"), ("perfect", "table")))


def legal_actions(batch: Batch, choices: NDArray[np.uint64]) -> NDArray[np.int64]:
    """A legal action for each row (and seat), picked by ``choices``, one for each row."""
    _, mask = batch.observe()
    picks = choices if mask.ndim == 2 else np.stack([choices, choices >> np.uint64(20)], axis=1)
    counts = mask.sum(axis=-1, dtype=np.uint64)
    return np.asarray((mask.cumsum(axis=-1) > (picks % counts)[..., None]).argmax(axis=-1))


def choices_at(lanes: Any, step: int) -> NDArray[np.uint64]:
    """The choices of each lane at a step, the same in any batch."""
    return seeding.action_seeds(np.asarray(lanes, np.uint64), step)


def both_seats(number: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows and seats of both views of each game."""
    return np.repeat(np.arange(number), 2), np.tile(np.arange(2), number)
