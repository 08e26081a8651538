"""Two strategic descendants of the card game War as reinforcement-learning environments.

Importing the package registers its ids in Gymnasium and PettingZoo.
"""

from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.registration import register

__version__ = "0.1.0"
__all__ = ["attack_defence_v0", "strategic_war_v0"]

register()
