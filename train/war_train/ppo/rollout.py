"""The buffer of a rollout: SB3's, with its own order of steps, and a teacher's labels."""

from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from torch import Tensor


class Rollout(MaskableRolloutBuffer):
    """SB3's buffer, with minibatches drawn from a generator of its own.

    Args:
        generator: draws the order of the steps.

    Attributes:
        labels: int64 (steps, rows): what the teachers would have played, if there are any.
    """

    def __init__(self, *args: Any, generator: np.random.Generator, **kwargs: Any) -> None:
        self.generator = generator
        super().__init__(*args, **kwargs)
        self.labels = np.zeros((self.buffer_size, self.n_envs), np.int64)

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Minibatches of one pass, ``batch_size`` steps or more: they share what is left over."""
        for rows in self._orders(batch_size):
            yield self._samples(rows)

    def with_labels(
        self, batch_size: int | None
    ) -> Generator[tuple[MaskableRolloutBufferSamples, Tensor], None, None]:
        """`get`, each minibatch with what the teachers would have played, int64 (B,)."""
        labels = self.labels.reshape(-1)
        for rows in self._orders(batch_size):
            yield self._samples(rows), torch.from_numpy(labels[rows])

    def _orders(self, batch_size: int | None) -> list[NDArray[np.int64]]:
        total = self.buffer_size * self.n_envs
        order = self.generator.permutation(total)
        # Never a remainder of its own: the advantages of a single step cannot be normalised.
        return np.array_split(order, max(1, total // (batch_size or total)))

    def _samples(self, rows: NDArray[np.int64]) -> MaskableRolloutBufferSamples:
        total = self.buffer_size * self.n_envs
        columns = [
            array.reshape(total, *array.shape[2:])
            for array in (self.observations, self.actions, self.values, self.log_probs)
        ]
        columns += [a.reshape(total) for a in (self.advantages, self.returns)]
        columns.append(self.action_masks.reshape(total, self.mask_dims))
        return MaskableRolloutBufferSamples(*(torch.from_numpy(c[rows]) for c in columns))
