"""Who plays: scripted, planning and trained agents, and what they play in."""

from typing import Final

from war_agents import scripted, shipped
from war_agents.agent import Agent, make, names, register
from war_envs.variant import GAMES

__all__ = ["Agent", "make", "names", "register"]

scripted.register_all()
shipped.register_all()

OWN_NAMES: Final = {game: names(game) for game in GAMES}  # known wherever this is imported
