"""Strategic War: its rules, what players and critics see, words and environments."""

from war_envs.strategic_war import global_state, info, knowledge, observation, record, rules, words

__all__ = ["global_state", "info", "knowledge", "observation", "record", "rules", "words"]
