"""Callbacks of Stable-Baselines3 for tests of training."""

from collections.abc import Callable

from stable_baselines3.common.callbacks import BaseCallback


class At(BaseCallback):
    """Does something after so many steps; False ends the run."""

    def __init__(self, step: int, what: Callable[[], bool]) -> None:
        super().__init__()
        self._at, self._what = step, what

    def _on_step(self) -> bool:
        return self.num_timesteps != self._at or self._what()
