"""The environments of both games behind one function, for tests of what they share."""

from typing import Any, Final

import pettingzoo

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


def pettingzoo_env(kind: str, name: str, **options: Any) -> Any:
    """``pettingzoo.make``, or what that would call where PettingZoo is too old to have it."""
    if hasattr(pettingzoo, "make"):
        return pettingzoo.make(kind, f"war_envs/{name}-v0", **options)  # type: ignore[call-overload]
    module: Any = {"attack_defence": attack_defence_v0, "strategic_war": strategic_war_v0}[name]
    return module.env(**options) if kind == "aec" else module.parallel_env(**options)
