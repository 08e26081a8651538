"""War of Attack and Defence: its rules, observations, infos, words and environments."""

from war_envs.attack_defence import info, observation, rules, words

__all__ = ["info", "observation", "rules", "words"]
