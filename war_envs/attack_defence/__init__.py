"""War of Attack and Defence: its rules, observations, words and environments."""

from war_envs.attack_defence import observation, rules, words

__all__ = ["observation", "rules", "words"]
