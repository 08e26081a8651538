"""Self-play by MaskablePPO, on Stable-Baselines3."""

from war_train.ppo.training import resume, train

__all__ = ["resume", "train"]
