"""From games to what they say: pairs, standings, forfeits."""

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from war_agents.arena.match import MatchResult
from war_agents.arena.places import first_attacker, seat_of_first
from war_agents.arena.results import (
    MEAN,
    Forfeits,
    PairResult,
    Rating,
    Separation,
    Standing,
)
from war_agents.arena.stats.intervals import deal_interval
from war_agents.arena.stats.payoffs import alpha_rank, cycles, nash_average
from war_agents.arena.stats.ratings import rate
from war_agents.arena.stats.separation import SeparationTest
from war_agents.arena.stats.tallies import PairGames
from war_envs.batch import Batch
from war_envs.engine import seeding
from war_envs.engine.kernels import RING
from war_envs.variant import Variant

_DEALS_AT_ONCE: Final = 10_000
_UNBOUNDED: Final[dict[int, Literal["above", "below", "both"] | None]] = {
    -1: "below",
    0: None,
    1: "above",
    2: "both",
}


def deal_groups(variant: Variant, seed: int, deals: int) -> NDArray[np.int64]:
    """Which of the deals are the same, int64 (deals,): equal ones have equal numbers."""
    hands = []
    for first in range(0, deals, _DEALS_AT_ONCE):
        lanes = np.arange(first, min(first + _DEALS_AT_ONCE, deals))
        batch = Batch(variant, len(lanes))
        batch.reset(seed, domain=seeding.EVALUATION, lanes=lanes)
        places = (batch.games["heads"][:, :, None] + np.arange(variant.deck_size // 2)) % RING
        hands.append(
            np.take_along_axis(batch.games["hands"], places, axis=2).reshape(len(lanes), -1)
        )
    groups: NDArray[np.int64] = np.unique(np.concatenate(hands), axis=0, return_inverse=True)[1]
    return groups.reshape(-1)


def joint(groups: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Which deals are the same in every one of several groupings, each int64 (deals,)."""
    together = np.unique(np.stack(groups, axis=1), axis=0, return_inverse=True)[1]
    return np.asarray(together, np.int64).reshape(-1)


def pair_result(match: MatchResult, groups: NDArray[np.int64]) -> PairResult:
    """The summary of a match; ``groups`` says which deals are the same."""
    score = deal_interval(match.deal_scores, groups)
    wins = deal_interval((match.results == 1).mean(axis=1), groups)
    draws = deal_interval((match.results == 0).mean(axis=1), groups)
    sides = [forfeit.side for forfeit in match.forfeits]
    played = match.games - len(sides)
    return PairResult(
        a=match.a,
        b=match.b,
        game=match.game,
        variant=match.variant.name,
        deals=match.deals,
        games=match.games,
        wins=match.wins,
        draws=match.draws,
        losses=match.losses,
        score=score.score,
        low=score.low,
        high=score.high,
        win_rate=wins.score,
        win_rate_low=wins.low,
        win_rate_high=wins.high,
        draw_rate=draws.score,
        draw_rate_low=draws.low,
        draw_rate_high=draws.high,
        truncated=int(match.truncated.sum()),
        forfeits_a=sides.count(0),
        forfeits_b=sides.count(1),
        distinct_deals=len(np.unique(groups)),
        mean_length=float(match.lengths.sum() / played) if played else 0.0,
    )


def forfeits(matches: Sequence[MatchResult]) -> tuple[Forfeits, ...]:
    """Who failed against whom, and how the first time."""
    rows = []
    for match in matches:
        for side, (agent, opponent) in enumerate([(match.a, match.b), (match.b, match.a)]):
            failed = [forfeit for forfeit in match.forfeits if forfeit.side == side]
            if failed:
                rows.append(
                    Forfeits(match.variant.name, agent, opponent, len(failed), failed[0].reason)
                )
    return tuple(rows)


def failed(names: Sequence[str], pairs: Sequence[PairResult]) -> tuple[str, ...]:
    """The agents that have lost all of their games by failing.

    Games that an opponent has lost by failing, as of two broken agents one must, say nothing.
    """
    own, played = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for pair in pairs:
        for agent, forfeits in ((pair.a, pair.forfeits_a), (pair.b, pair.forfeits_b)):
            own[agent] += forfeits
            played[agent] += pair.games - pair.forfeits_a - pair.forfeits_b
    return tuple(name for name in names if own[name] and not played[name])


def standing(
    names: Sequence[str],
    matches: Sequence[MatchResult],
    groups: NDArray[np.int64],
    progress: Callable[[int, int], object] | None = None,
) -> Standing:
    """Who is how strong in the variants of ``matches``, each of which all pairs have played.

    Where there are several, a deal's score is the mean of its scores in all variants.

    Args:
        names: the agents.
        matches: all pairs of one variant, or of each of several.
        groups: int64 (deals,), which deals are the same in all variants.
        progress: as for `war_agents.arena.stats.ratings.rate`.
    """
    variants = {match.variant.name for match in matches}
    scores = pair_scores(names, matches)
    games = [_pair_games(names, match) for match in matches]
    fit = rate(len(names), games, groups=groups, progress=progress)
    payoffs, lows = (np.full((len(names), len(names)), np.nan) for _ in range(2))
    for (i, j), deal_scores in scores.items():
        interval = deal_interval(deal_scores, groups)
        payoffs[i, j], payoffs[j, i] = interval.score, 1 - interval.score
        lows[i, j], lows[j, i] = interval.low, 1 - interval.high
    means = mean_scores(len(names), scores)
    nash = nash_average(payoffs)
    ranks = alpha_rank(payoffs)
    ratings = []
    for i, name in enumerate(names):
        mean = deal_interval(means[:, i], groups)
        ratings.append(
            Rating(
                agent=name,
                elo=float(fit.elo[i]),
                elo_low=_finite(fit.low[i]),
                elo_high=_finite(fit.high[i]),
                unbounded=_UNBOUNDED[int(fit.unbounded[i])],
                score=mean.score,
                score_low=mean.low,
                score_high=mean.high,
                nash_share=float(nash.shares[i]),
                nash_score=float(nash.scores[i]),
                alpha_rank=float(ranks[i]),
            )
        )
    return Standing(
        variant=variants.pop() if len(variants) == 1 else MEAN,
        # Rounded: agents of equal strength stand in the order given, whatever the last bits say.
        ratings=tuple(sorted(ratings, key=lambda rating: -round(rating.elo, 6))),
        payoffs=_rows(payoffs),
        payoffs_low=_rows(lows),
        cycles=cycles(names, lows > 0.5),
        first_elo=fit.first_elo,
        first_elo_low=_finite(fit.first_low),
        first_elo_high=_finite(fit.first_high),
    )


def pair_scores(
    names: Sequence[str], matches: Sequence[MatchResult]
) -> dict[tuple[int, int], NDArray[np.float64]]:
    """For each pair, what the first scored in each deal, the mean of all variants."""
    place = {name: i for i, name in enumerate(names)}
    found: dict[tuple[int, int], list[NDArray[np.float64]]] = {}
    for match in matches:
        found.setdefault((place[match.a], place[match.b]), []).append(match.deal_scores)
    return {pair: np.mean(scores, axis=0) for pair, scores in found.items()}


def mean_scores(
    number: int, scores: dict[tuple[int, int], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """What each agent scored in each deal against all others, the mean: float64 (deals, n)."""
    deals = len(next(iter(scores.values())))
    sums: NDArray[np.float64] = np.zeros((deals, number))
    for (i, j), deal_scores in scores.items():
        sums[:, i] += deal_scores
        sums[:, j] += 1 - deal_scores
    return np.clip(sums / (number - 1), 0, 1)


def _pair_games(names: Sequence[str], match: MatchResult) -> PairGames:
    places = np.arange(match.results.shape[1])
    # Who has the first seat: whoever attacks first, or else seat 0.
    leads = first_attacker(match.game, places)
    seats = seat_of_first(places)
    first = np.where(seats == (0 if leads is None else leads), 1, -1).astype(np.int8)
    return PairGames(names.index(match.a), names.index(match.b), match.results, first)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _rows(matrix: NDArray[np.float64]) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(_finite(value) for value in row) for row in matrix)


def separation(names: Sequence[str], test: SeparationTest, confidence: float) -> Separation:
    """How far the order is decided."""
    decided = tuple((names[i], names[j]) for i, j in np.argwhere(test.above).tolist())
    undecided = tuple(
        (a, b) for a, b in combinations(names, 2) if (a, b) not in decided and (b, a) not in decided
    )
    return Separation(confidence, decided, undecided, test.separated)
