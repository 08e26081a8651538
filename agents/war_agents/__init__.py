"""Who plays: scripted, planning and trained agents, and what they play in."""

import importlib
import random
from typing import Final

from war_agents import scripted
from war_agents.agent import Agent
from war_agents.models import shipped
from war_agents.registry import make, names, register
from war_envs.variant import GAMES

__all__ = ["Agent", "make", "names", "register"]

scripted.register_all()
shipped.register_all()

# It draws from Python's generator when it is first imported, as modules here and in war_train do.
_state = random.getstate()
importlib.import_module("rich.style")
random.setstate(_state)

OWN_NAMES: Final = {game: names(game) for game in GAMES}  # known wherever this is imported
