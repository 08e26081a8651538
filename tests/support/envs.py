"""The environments of both games behind one function, for tests of what they share."""

from typing import Any, Final

from tests.reference.cards import Game
from war_envs import attack_defence_v0, strategic_war_v0

AGENTS: Final = ("player_0", "player_1")


def raw_env(game: Game, **options: Any) -> Any:
    """The AEC environment without wrappers."""
    module = attack_defence_v0 if game == "attack-defence" else strategic_war_v0
    return module.raw_env(**options)


def wrapped_env(game: Game, **options: Any) -> Any:
    """The AEC environment in PettingZoo's wrappers."""
    module = attack_defence_v0 if game == "attack-defence" else strategic_war_v0
    return module.env(**options)


def parallel_env(**options: Any) -> Any:
    """Attack and Defence with both choices at once."""
    return attack_defence_v0.parallel_env(**options)
