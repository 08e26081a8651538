"""Matches and tournaments between agents, and what their results are worth."""

from war_agents.arena.intervals import Interval, deal_interval
from war_agents.arena.match import MatchResult, play_match
from war_agents.arena.ratings import RatingFit, rate
from war_agents.arena.results import PairResult, Rating, TournamentResult
from war_agents.arena.tallies import PairGames
from war_agents.arena.tournament import run_tournament

__all__ = [
    "Interval",
    "MatchResult",
    "PairGames",
    "PairResult",
    "Rating",
    "RatingFit",
    "TournamentResult",
    "deal_interval",
    "play_match",
    "rate",
    "run_tournament",
]
