"""Networks that play: what they are made of, as agents, and many of them at once.

Needs the extra ``train``: importing the package without it raises an ImportError that says so.
"""

from importlib import import_module

try:
    for _needed in ("torch", "safetensors"):
        import_module(_needed)
except ImportError as error:
    raise ImportError(
        f'trained networks need {error.name}, which is missing: pip install "war-envs[train]"'
    ) from error
