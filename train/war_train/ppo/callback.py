"""A run's watcher among the callbacks of Stable-Baselines3."""

from stable_baselines3.common.callbacks import BaseCallback

from war_train.run.learner import Watcher


class WatcherCallback(BaseCallback):
    """Tells a `Watcher` what a callback is told."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self._watcher = watcher

    def _on_training_start(self) -> None:
        self._watcher.started()

    def _on_rollout_start(self) -> None:
        self._watcher.rollout_started()

    def _on_step(self) -> bool:
        return self._watcher.stepped()

    def _on_rollout_end(self) -> None:
        self._watcher.rollout_ended()

    def _on_training_end(self) -> None:
        self._watcher.ended()
