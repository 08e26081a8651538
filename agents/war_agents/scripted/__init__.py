"""The scripted baselines: fast, seeded, and with the same choice for a position in any batch."""

from functools import partial
from typing import Final

from war_agents.agent import register
from war_agents.scripted import attack_defence, strategic_war
from war_agents.scripted.base import FirstLegalAgent, RandomAgent, ScriptedAgent
from war_envs.attack_defence.rules import ATTACK, DEFEND
from war_envs.strategic_war.rules import BOTTOM, FIGHT, SURRENDER, TOP

__all__ = ["FirstLegalAgent", "RandomAgent", "ScriptedAgent", "names", "register_all"]

_NAMES: Final = {
    "attack-defence": ("random", "attack", "defend", "memory"),
    "strategic-war": ("random", "top", "memory"),
}


def names(game: str) -> tuple[str, ...]:
    """The scripted agents of a game."""
    return _NAMES[game]


def register_all() -> None:
    """Registers the scripted agents of both games; once, which ``import war_agents`` has done."""
    register("random", partial(RandomAgent, "random"))
    for name, order in (("attack", (ATTACK, DEFEND)), ("defend", (DEFEND, ATTACK))):
        factory = partial(FirstLegalAgent, name, order=order)
        register(name, factory, games=("attack-defence",))
    top = partial(FirstLegalAgent, "top", order=(TOP, FIGHT, BOTTOM, SURRENDER))
    register("top", top, games=("strategic-war",))
    register("memory", partial(attack_defence.MemoryAgent, "memory"), games=("attack-defence",))
    register("memory", partial(strategic_war.MemoryAgent, "memory"), games=("strategic-war",))
