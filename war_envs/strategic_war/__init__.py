"""Strategic War: its rules, observations, infos, words and environments."""

from war_envs.strategic_war import info, observation, rules, words

__all__ = ["info", "observation", "rules", "words"]
