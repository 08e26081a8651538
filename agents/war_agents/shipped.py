"""The trained agents that come with the package; ``models/`` holds them and how they were made."""

from pathlib import Path
from typing import Final

from war_agents.agent import Agent, register
from war_envs.variant import Variant

MODELS: Final = Path(__file__).parent / "models"


def champion(variant: Variant) -> Agent:
    """The strongest agent of a game, one network for all its variants.

    Raises:
        ImportError: torch is missing.
        ValueError: a deck that it has not learned: it plays all 13 ranks.
    """
    from war_agents.policy import load_policy  # needs torch, which base installs lack

    return load_policy(MODELS / f"{variant.game}.safetensors", variant, name="champion")


def register_all() -> None:
    """Registers the shipped agents; once, which ``import war_agents`` has done."""
    register("champion", champion, games=("attack-defence",))
