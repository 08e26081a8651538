"""Who plays: scripted, planning and trained agents, and what they play in."""

from war_agents import scripted, shipped
from war_agents.agent import Agent, make, names, register

__all__ = ["Agent", "make", "names", "register"]

scripted.register_all()
shipped.register_all()
