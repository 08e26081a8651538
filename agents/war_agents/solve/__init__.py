"""Exact values of small decks."""

from war_agents.solve.solution import Solution, solve, value_of

__all__ = ["Solution", "solve", "value_of"]
