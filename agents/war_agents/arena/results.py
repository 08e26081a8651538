"""What a tournament found, as plain data."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_agents.arena.match import MatchResult, games_per_deal
from war_envs.variant import Variant


@dataclass(frozen=True)
class PairResult:
    """What one pair scored: a row of ``pairs`` in results.json, from the view of ``a``.

    Attributes:
        a, b: the names of the agents.
        game, variant: what they played.
        deals, games: how many.
        wins, draws, losses: games; those that were cut off are draws.
        score: points of ``a`` a game, 0 to 1; a win is 1, a draw a half.
        low, high: its 95 % interval, over deals.
    """

    a: str
    b: str
    game: str
    variant: str
    deals: int
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float
    high: float

    @classmethod
    def of(cls, match: MatchResult) -> "PairResult":
        """The summary of a match."""
        return cls(
            match.a,
            match.b,
            match.game,
            match.variant.name,
            match.deals,
            match.games,
            match.wins,
            match.draws,
            match.losses,
            *dataclasses.astuple(match.interval),
        )


@dataclass(frozen=True)
class Rating:
    """How strong an agent is.

    Attributes:
        agent: its name.
        elo: its rating by `war_agents.arena.ratings.rate`; all of a tournament have the
            mean 0.
        score: the mean of its scores against all others, 0 to 1.
    """

    agent: str
    elo: float
    score: float


@dataclass(frozen=True)
class TournamentResult:
    """How a tournament went.

    Attributes:
        agents: the names, in the order given.
        variant: what was played.
        deals: deals each pair played.
        seed: what they came from.
        pairs: the results of every pair, in the order of ``agents``.
        ratings: the strongest first; equals in the order of ``agents``.
        versions: of the packages that played.
    """

    agents: tuple[str, ...]
    variant: Variant
    deals: int
    seed: int
    pairs: tuple[PairResult, ...]
    ratings: tuple[Rating, ...]
    versions: dict[str, str]

    @property
    def scores(self) -> NDArray[np.float64]:
        """The payoff matrix, float64 (n, n): rows against columns; NaN on the diagonal."""
        return score_matrix(self.agents, self.pairs)

    def to_json(self) -> dict[str, Any]:
        """What results.json holds: the same whenever the same versions play the same."""
        return {
            "settings": settings(self.agents, self.variant, self.deals, self.seed),
            "pairs": [dataclasses.asdict(pair) for pair in self.pairs],
            "ratings": [dataclasses.asdict(rating) for rating in self.ratings],
            "versions": self.versions,
        }


def score_matrix(names: Sequence[str], pairs: Sequence[PairResult]) -> NDArray[np.float64]:
    """What the agent of a row scored against that of a column: float64 (n, n), else NaN."""
    place = {name: i for i, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), np.nan)
    for pair in pairs:
        matrix[place[pair.a], place[pair.b]] = pair.score
        matrix[place[pair.b], place[pair.a]] = 1 - pair.score
    return matrix


def settings(names: Sequence[str], variant: Variant, deals: int, seed: int) -> dict[str, Any]:
    """What decides a tournament's games, as results.json holds it."""
    return {
        "agents": list(names),
        "game": variant.game,
        "variant": variant.name,
        "options": variant.options,
        "deals": deals,
        "games_per_deal": games_per_deal(variant.game),
        "seed": seed,
    }
