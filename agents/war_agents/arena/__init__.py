"""Matches and tournaments between agents, and what their results are worth."""

from war_agents.arena.match import Forfeit, MatchResult, play_match
from war_agents.arena.players import Player
from war_agents.arena.results import (
    Forfeits,
    NotableGame,
    PairResult,
    Rating,
    Separation,
    Standing,
    TournamentResult,
)
from war_agents.arena.settings import Settings
from war_agents.arena.stats.intervals import Interval, deal_interval
from war_agents.arena.stats.payoffs import NashAverage, alpha_rank, cycles, nash_average
from war_agents.arena.stats.ratings import RatingFit, rate
from war_agents.arena.stats.separation import SeparationTest
from war_agents.arena.stats.tallies import PairGames
from war_agents.arena.tournament import Tournament, play, run_tournament

__all__ = [
    "Forfeit",
    "Forfeits",
    "Interval",
    "MatchResult",
    "NashAverage",
    "NotableGame",
    "PairGames",
    "PairResult",
    "Player",
    "Rating",
    "RatingFit",
    "Separation",
    "SeparationTest",
    "Settings",
    "Standing",
    "Tournament",
    "TournamentResult",
    "alpha_rank",
    "cycles",
    "deal_interval",
    "nash_average",
    "play",
    "play_match",
    "rate",
    "run_tournament",
]
