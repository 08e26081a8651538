"""Self-play by MaskablePPO, on Stable-Baselines3."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from war_train.ppo.training import resume, train

__all__ = ["resume", "train"]


def __getattr__(name: str) -> Any:
    # Not before they are asked for: a run's settings can be read without Stable-Baselines3.
    if name in __all__:
        return getattr(import_module("war_train.ppo.training"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
