"""One seat of a game against an agent: what the Gymnasium ids make."""

from war_agents.versus.opponent import OpponentFailedError
from war_agents.versus.single import VersusEnv
from war_agents.versus.vector import VersusVectorEnv

__all__ = ["OpponentFailedError", "VersusEnv", "VersusVectorEnv"]
