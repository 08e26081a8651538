"""What a tournament found, as plain data."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from war_agents.arena.match import MatchResult
from war_agents.arena.players import Player
from war_envs.variant import Variant

MEAN: Final = "mean"  # the name of the standing over all variants


@dataclass(frozen=True)
class PairResult:
    """What one pair scored in one variant: a row of ``pairs`` in results.json, seen from ``a``.

    All intervals are 95 % intervals over deals.

    Attributes:
        a, b: the names of the agents.
        game, variant: what they played.
        deals, games: how many.
        wins, draws, losses: games; those that were cut off are draws, a forfeit is lost.
        score: points of ``a`` a game, 0 to 1; a win is 1, a draw a half.
        low, high: its interval.
        win_rate, win_rate_low, win_rate_high: the share of games that ``a`` won.
        draw_rate, draw_rate_low, draw_rate_high: the share of games drawn.
        truncated: games cut off at the turn limit.
        forfeits_a, forfeits_b: games that each lost by failing.
        distinct_deals: how many of the deals differ, which small decks make fewer; the intervals
            count equal deals as one.
        mean_length: turns of Attack and Defence, choices of Strategic War, a game, of those that
            were played to an end; 0 where all were forfeited.
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
    win_rate: float
    win_rate_low: float
    win_rate_high: float
    draw_rate: float
    draw_rate_low: float
    draw_rate_high: float
    truncated: int
    forfeits_a: int
    forfeits_b: int
    distinct_deals: int
    mean_length: float


@dataclass(frozen=True)
class Rating:
    """How strong an agent is.

    Attributes:
        agent: its name.
        elo: its rating by `war_agents.arena.stats.ratings`; all of a standing have the mean 0.
        elo_low, elo_high: the 95 % interval, by resampling deals; None where it has no end.
        unbounded: ``"above"`` where the games set the rating no upper bound, as when it won all,
            ``"below"`` where they set no lower one, ``"both"`` where they set neither, as when all
            were drawn, else None. The rating itself is then what one game more between every two
            agents, half won and half lost, leaves.
        score: the mean of its scores against all others, 0 to 1.
        score_low, score_high: its 95 % interval.
        nash_share: its share in the maximum-entropy Nash equilibrium of the payoff matrix.
        nash_score: what it scores against that equilibrium, 0 to 1; at most one half.
        alpha_rank: its share of the stationary distribution of alpha-rank.
    """

    agent: str
    elo: float
    elo_low: float | None
    elo_high: float | None
    unbounded: Literal["above", "below", "both"] | None
    score: float
    score_low: float
    score_high: float
    nash_share: float
    nash_score: float
    alpha_rank: float


@dataclass(frozen=True)
class Standing:
    """Who is how strong in one variant, or in the mean of all.

    Attributes:
        variant: its name, or ``"mean"``.
        ratings: the strongest first; equals in the order of the agents.
        payoffs: what the agent of a row scored against that of a column, 0 to 1, both in the order
            of the tournament's agents; None on the diagonal.
        payoffs_low: the lower ends of the 95 % intervals of ``payoffs``.
        cycles: agents of which each beats the next and the last the first, each with an interval
            above one half; every cycle begins with the agent that was named first.
        first_elo, first_elo_low, first_elo_high: what it is worth to sit in seat 0 (Attack and
            Defence) or to attack first (Strategic War), in Elo points, with its 95 % interval; None
            where it has no end.
    """

    variant: str
    ratings: tuple[Rating, ...]
    payoffs: tuple[tuple[float | None, ...], ...]
    payoffs_low: tuple[tuple[float | None, ...], ...]
    cycles: tuple[tuple[str, ...], ...]
    first_elo: float
    first_elo_low: float | None
    first_elo_high: float | None


@dataclass(frozen=True)
class Separation:
    """How far the order of the agents was decided, at a family-wise confidence.

    Attributes:
        confidence: of all statements together.
        decided: pairs (stronger, weaker), by their mean scores against all others.
        undecided: pairs in the order of the agents.
        separated: is every pair decided?
    """

    confidence: float
    decided: tuple[tuple[str, str], ...]
    undecided: tuple[tuple[str, str], ...]
    separated: bool


@dataclass(frozen=True)
class Forfeits:
    """The games of one pair in one variant that an agent lost by failing.

    Attributes:
        variant, agent, opponent: where, and who failed against whom.
        games: how many games.
        reason: what happened in the first of them; games.jsonl has that of each.
    """

    variant: str
    agent: str
    opponent: str
    games: int
    reason: str


@dataclass(frozen=True)
class NotableGame:
    """A game to look at.

    Attributes:
        why: ``"longest"`` or ``"biggest upset"``.
        variant: what was played.
        deal: the number of the deal, 0 for the first.
        players: who sat in seat 0 and in seat 1.
        first_attacker: the seat that attacked first; None in Attack and Defence.
        winner: the name of the winner; None for a draw.
        truncated: was it cut off?
        length: turns of Attack and Defence, choices of Strategic War.
        elo_gap: by how much the winner was rated below the loser; None if not an upset.
        hands: the cards of each seat, from top to bottom, such as ``"AH"``.
        moves: what happened, step by step, in words.
    """

    why: str
    variant: str
    deal: int
    players: tuple[str, str]
    first_attacker: int | None
    winner: str | None
    truncated: bool
    length: int
    elo_gap: float | None
    hands: tuple[tuple[str, ...], tuple[str, ...]]
    moves: tuple[str, ...]


@dataclass(frozen=True)
class TournamentResult:
    """How a tournament went.

    Attributes:
        players: who took part, in the order given.
        variants: what was played.
        deals: deals that each pair played in each variant.
        settings: all that decides the games, as results.json has it.
        matches: every game: for each variant all pairs, in the order of ``players``.
        pairs: a summary of each match.
        standings: one a variant, and after several ``"mean"``.
        separation: how far the order is decided; None where nobody asked.
        forfeits: who failed, and how.
        notable: a few games to look at.
        warnings: what makes the numbers doubtful, such as agents that do not follow their seeds, or
            that cannot be told from others.
        versions: of the packages that played.
        failed: the agents that failed in every game, but for those that their opponents lost by
            failing; their ratings say nothing.
    """

    players: tuple[Player, ...]
    variants: tuple[Variant, ...]
    deals: int
    settings: dict[str, Any]
    matches: tuple[MatchResult, ...] = dataclasses.field(repr=False)
    pairs: tuple[PairResult, ...]
    standings: tuple[Standing, ...]
    separation: Separation | None
    forfeits: tuple[Forfeits, ...]
    notable: tuple[NotableGame, ...]
    warnings: tuple[str, ...]
    versions: dict[str, str]
    failed: tuple[str, ...] = ()

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the players, in the order given."""
        return tuple(player.name for player in self.players)

    @property
    def game(self) -> str:
        """``"attack-defence"`` or ``"strategic-war"``."""
        return self.variants[0].game

    @property
    def seed(self) -> int:
        """What deals and draws came from."""
        return int(self.settings["seed"])

    @property
    def overall(self) -> Standing:
        """The standing of the only variant, or the mean of several."""
        return self.standings[-1]

    @property
    def ratings(self) -> tuple[Rating, ...]:
        """The overall ratings, the strongest first."""
        return self.overall.ratings

    @property
    def scores(self) -> NDArray[np.float64]:
        """The overall payoff matrix, float64 (n, n): rows against columns; NaN on the diagonal."""
        return np.array(self.overall.payoffs, np.float64)

    def table(self) -> list[dict[str, Any]]:
        """A flat row a pair and variant, for ``pandas.DataFrame(result.table())``."""
        return [dataclasses.asdict(pair) for pair in self.pairs]

    def to_json(self) -> dict[str, Any]:
        """What results.json holds: the same whenever the same versions play the same."""
        return {
            "settings": self.settings,
            "players": [dataclasses.asdict(player) for player in self.players],
            "deals": self.deals,
            "pairs": self.table(),
            "ratings": [dataclasses.asdict(rating) for rating in self.ratings],
            "standings": [dataclasses.asdict(standing) for standing in self.standings],
            "separation": None if self.separation is None else dataclasses.asdict(self.separation),
            "forfeits": [dataclasses.asdict(row) for row in self.forfeits],
            "failed": list(self.failed),
            "notable": [dataclasses.asdict(game) for game in self.notable],
            "warnings": list(self.warnings),
            "versions": self.versions,
        }
