"""The scripted baselines: fast, seeded, and with the same choice for a position in any batch."""

from collections.abc import Callable
from functools import partial
from typing import Final

from war_agents.registry import register
from war_agents.scripted import attack_defence, strategic_war
from war_agents.scripted.base import FirstLegalAgent, RandomAgent, ScriptedAgent
from war_envs.attack_defence.rules import ATTACK, DEFEND
from war_envs.strategic_war.rules import BOTTOM, FIGHT, SURRENDER, TOP
from war_envs.variant import GAMES, Variant

__all__ = ["FirstLegalAgent", "RandomAgent", "ScriptedAgent", "names", "register_all"]

_Entry = tuple[str, Callable[[Variant], ScriptedAgent], tuple[str, ...]]
_AGENTS: Final[tuple[_Entry, ...]] = (
    ("random", partial(RandomAgent, "random"), GAMES),
    ("attack", partial(FirstLegalAgent, "attack", order=(ATTACK, DEFEND)), ("attack-defence",)),
    ("defend", partial(FirstLegalAgent, "defend", order=(DEFEND, ATTACK)), ("attack-defence",)),
    (
        "top",
        partial(FirstLegalAgent, "top", order=(TOP, FIGHT, BOTTOM, SURRENDER)),
        ("strategic-war",),
    ),
    ("memory", partial(attack_defence.MemoryAgent, "memory"), ("attack-defence",)),
    ("memory", partial(strategic_war.MemoryAgent, "memory"), ("strategic-war",)),
)


def names(game: str) -> tuple[str, ...]:
    """The scripted agents of a game, in order of registration."""
    return tuple(name for name, _, games in _AGENTS if game in games)


def register_all() -> None:
    """Registers the scripted agents of both games; once, which ``import war_agents`` has done."""
    for name, factory, games in _AGENTS:
        register(name, factory, games=games)
