"""War of Attack and Defence: its rules, what players and critics see, words and environments."""

from war_envs.attack_defence import global_state, info, knowledge, observation, record, rules, words

__all__ = ["global_state", "info", "knowledge", "observation", "record", "rules", "words"]
