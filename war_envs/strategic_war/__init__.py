"""Strategic War: its rules, observations, words and environments."""

from war_envs.strategic_war import observation, rules, words

__all__ = ["observation", "rules", "words"]
