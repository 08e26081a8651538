"""Tournaments that nobody played: results of all shapes, for what shows them."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from war_agents.arena.match import MatchResult
from war_agents.arena.places import games_per_deal
from war_agents.arena.players import Player
from war_agents.arena.results import (
    MEAN,
    Forfeits,
    NotableGame,
    PairResult,
    Rating,
    Separation,
    Standing,
    TournamentResult,
)
from war_agents.arena.stats.intervals import deal_interval
from war_envs.variant import Variant, make_variant


def tournament(
    names: Sequence[str],
    *,
    game: str = "attack-defence",
    variants: Sequence[str] = ("minimal",),
    deals: int = 20,
    seed: int = 3,
    draws: bool = True,
    **fields: Any,
) -> TournamentResult:
    """A result in which earlier agents are the stronger ones; ``fields`` replace some of it.

    The first agent's rating has no upper bound and the last one's no lower bound, where there are
    three or more. No game is a draw without ``draws``.
    """
    rng = np.random.default_rng(seed)
    played = [make_variant(game, name) for name in variants]
    matches = tuple(
        _match(a, b, variant, deals, seed, draws, (j - i) / len(names), rng)
        for variant in played
        for (i, a), (j, b) in combinations(enumerate(names), 2)
    )
    pairs = tuple(_pair(match, rng) for match in matches)
    standings = [
        _standing(v.name, names, [p for p in pairs if p.variant == v.name]) for v in played
    ]
    if len(played) > 1:
        standings.append(_standing(MEAN, names, pairs))
    given: dict[str, Any] = {
        "players": tuple(_player(name) for name in names),
        "variants": tuple(played),
        "deals": deals,
        "settings": {
            "agents": list(names),
            "game": game,
            "variants": [variant.options for variant in played],
            "deals": deals,
            "games_per_deal": games_per_deal(game),
            "seed": seed,
        },
        "matches": matches,
        "pairs": pairs,
        "standings": tuple(standings),
        "separation": None,
        "forfeits": (),
        "notable": (),
        "warnings": (),
        "versions": {"python": "3.11.9", "war-envs": "0.1.0", "numpy": "2.4.6"},
    }
    return TournamentResult(**{**given, **fields})


def findings(names: Sequence[str], variant: str, *, steps: int = 12) -> dict[str, Any]:
    """Separation, forfeits and notable games of `tournament`, between the first agents."""
    a, b = names[:2]
    hands = (("AH", "7S", "TH"), ("KS", "2H", "9S"))
    moves = tuple(
        f"player_0 attacks with {hands[0][i % 3]}, player_1 defends with {hands[1][i % 3]}: "
        f"player_0 takes {hands[1][i % 3]} and the next card, 5D"
        for i in range(steps)
    )
    order = tuple(combinations(names, 2))
    return {
        "separation": Separation(0.95, order[1:], order[:1], separated=False),
        "forfeits": (Forfeits(variant, b, a, 3, "RuntimeError: <b>no more moves</b>\x1b[2J"),),
        "notable": (
            NotableGame("longest", variant, 4, (a, b), None, None, True, steps, None, hands, moves),
            NotableGame(
                "biggest upset", variant, 17, (b, a), 1, b, False, steps, 212.4, hands, moves[:5]
            ),
        ),
    }


def _player(name: str) -> Player:
    if name.startswith("runs/"):
        return Player(name, "model", "0123456789abcdef" * 4, True)
    return Player(name, "registered", None, None)


def _match(
    a: str,
    b: str,
    variant: Variant,
    deals: int,
    seed: int,
    draws: bool,
    lead: float,
    rng: np.random.Generator,
) -> MatchResult:
    shape = (deals, games_per_deal(variant.game))
    results = np.where(rng.random(shape) < 0.5 + lead / 2, 1, -1).astype(np.int8)
    lengths = np.minimum(1 + rng.lognormal(4.5, 0.8, shape), variant.turn_limit).astype(np.int64)
    truncated = np.zeros(shape, np.bool_)
    if draws:
        truncated = rng.random(shape) < 0.03
        lengths[truncated] = variant.turn_limit
        results[truncated | (rng.random(shape) < 0.1)] = 0
    return MatchResult(a, b, variant, seed, results, lengths, truncated)


def _pair(match: MatchResult, rng: np.random.Generator) -> PairResult:
    wins = deal_interval((match.results == 1).mean(axis=1))
    draws = deal_interval((match.results == 0).mean(axis=1))
    return PairResult(
        match.a,
        match.b,
        match.game,
        match.variant.name,
        match.deals,
        match.games,
        match.wins,
        match.draws,
        match.losses,
        match.score,
        match.low,
        match.high,
        wins.score,
        wins.low,
        wins.high,
        draws.score,
        draws.low,
        draws.high,
        truncated=int(match.truncated.sum()),
        forfeits_a=0,
        forfeits_b=int(rng.integers(2)),
        distinct_deals=match.deals,
        mean_length=float(match.lengths.mean()),
    )


def _standing(variant: str, names: Sequence[str], pairs: Sequence[PairResult]) -> Standing:
    """Means of the pairs; ratings and shares are made up from them."""
    places = {name: i for i, name in enumerate(names)}
    number = len(names)
    sums, lows = np.zeros((number, number)), np.zeros((number, number))
    for pair in pairs:
        i, j = places[pair.a], places[pair.b]
        sums[i, j] += pair.score
        sums[j, i] += 1 - pair.score
        lows[i, j] += pair.low
        lows[j, i] += 1 - pair.high
    each = len(pairs) / (number * (number - 1) / 2)
    means = (sums / each).sum(axis=1) / (number - 1)
    elos = 800 * (means - 0.5)
    order = sorted(range(number), key=lambda i: -elos[i])
    ratings = []
    for rank, i in enumerate(order):
        above = number > 2 and rank == 0
        below = number > 2 and rank == number - 1
        elo, score = float(elos[i]), float(means[i])
        ratings.append(
            Rating(
                names[i],
                elo,
                elo_low=None if below else elo - 30 - 5 * rank,
                elo_high=None if above else elo + 35 + 4 * rank,
                unbounded="above" if above else "below" if below else None,
                score=score,
                score_low=max(score - 0.05, 0),
                score_high=min(score + 0.05, 1),
                nash_share=1.0 if rank == 0 else 0.0,
                nash_score=min(score, 0.5),
                alpha_rank=0.5 ** (rank + 1),
            )
        )
    return Standing(
        variant,
        tuple(ratings),
        _off_diagonal(sums / each),
        _off_diagonal(lows / each),
        cycles=(tuple(names[:3]),) if number > 2 else (),
        first_elo=12.4,
        first_elo_low=-3.2,
        first_elo_high=27.9,
    )


def _off_diagonal(matrix: Any) -> tuple[tuple[float | None, ...], ...]:
    return tuple(
        tuple(None if i == j else float(value) for j, value in enumerate(row))
        for i, row in enumerate(matrix)
    )
