"""Self-play training.

Needs the extra ``train``: importing the package without it raises an ImportError that says so.
"""

from importlib import import_module
from importlib.util import find_spec

_NEEDED = ("torch", "stable_baselines3", "sb3_contrib", "safetensors", "tensorboard", "filelock")

for _package in _NEEDED:
    if find_spec(_package) is None:
        raise ImportError(
            f'training needs {_package}, which is missing: pip install "war-envs[train]"',
            name=_package,
        )

import_module("war_agents")  # first of all: it sees that no import draws random numbers
