"""The trained agents that come with the package; they lie here, with how they were made."""

from pathlib import Path
from typing import Final

from war_agents.agent import Agent
from war_agents.registry import add
from war_envs.variant import GAMES, Variant

CHAMPION: Final = "champion"


def champion_file(game: str) -> Path:
    """The model file of a game's champion, if it has one; its card is beside it."""
    return Path(__file__).parent / f"{game}.safetensors"


GAMES_WITH_CHAMPION: Final = tuple(game for game in GAMES if champion_file(game).is_file())


def champion(variant: Variant) -> Agent:
    """The strongest agent of a game, one network for all its variants.

    Raises:
        ImportError: torch is missing.
        ValueError: a deck that it was not trained for: it plays with all 13 ranks.
    """
    from war_agents.networks.policy import load_policy  # needs torch, which base installs lack

    return load_policy(champion_file(variant.game), variant, name=CHAMPION)


def register_all() -> None:
    """Registers the shipped agents; once, which ``import war_agents`` has done."""
    add(CHAMPION, champion, GAMES_WITH_CHAMPION)
