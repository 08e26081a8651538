"""The tables of a report, as text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from war_agents.arena.report import words
from war_agents.arena.report.words import elo, elo_interval, interval, lead, length_unit
from war_agents.arena.results import PairResult, Standing, TournamentResult
from war_envs.messages import printable


@dataclass(frozen=True)
class Column:
    """A column of text; ``numeric`` unless it holds names."""

    title: str
    cells: tuple[str, ...]
    numeric: bool


@dataclass(frozen=True)
class Sheet:
    """A table of text, nothing of which a terminal may obey."""

    title: str
    columns: tuple[Column, ...]

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Its rows, without the titles of the columns."""
        return list(zip(*(column.cells for column in self.columns), strict=True))


def _names(title: str, cells: Iterable[str]) -> Column:
    return Column(printable(title), tuple(map(printable, cells)), numeric=False)


def _numbers(title: str, cells: Iterable[object]) -> Column:
    return Column(printable(title), tuple(map(str, cells)), numeric=True)


def ratings(standing: Standing, *, brief: bool = False) -> Sheet:
    """How strong the agents are; ``brief`` for a terminal."""
    rows = standing.ratings
    columns = [
        _names("agent", (r.agent for r in rows)),
        _numbers("Elo", (elo(r.elo) for r in rows)),
        _numbers("95 % interval", (elo_interval(r.elo_low, r.elo_high) for r in rows)),
        _numbers("mean score", (f"{r.score:.3f}" for r in rows)),
        _numbers("Nash share", (f"{r.nash_share:.3f}" for r in rows)),
        _numbers("alpha-rank", (f"{r.alpha_rank:.3f}" for r in rows)),
    ]
    if not brief:
        ends = (interval(r.score_low, r.score_high) for r in rows)
        columns.insert(4, _numbers("95 % interval", ends))
        columns.insert(6, _numbers("Nash score", (f"{r.nash_score:.3f}" for r in rows)))
    return Sheet("Ratings", tuple(columns))


def pairs(result: TournamentResult, *, brief: bool = False) -> Sheet:
    """What every pair scored in every variant; ``brief`` for a terminal."""
    rows = result.pairs
    columns = [
        _names("a", (p.a for p in rows)),
        _names("b", (p.b for p in rows)),
        _numbers("wins", (p.wins for p in rows)),
        _numbers("draws", (p.draws for p in rows)),
        _numbers("losses", (p.losses for p in rows)),
        _numbers("score", (f"{p.score:.3f}" for p in rows)),
        _numbers("95 % interval", (interval(p.low, p.high) for p in rows)),
    ]
    if len(result.variants) > 1:
        columns.insert(0, _names("variant", (p.variant for p in rows)))
    if not brief:
        columns += _rates(rows)
        columns += _counts(rows)
        columns.append(
            _numbers(f"mean {length_unit(result)}", (f"{p.mean_length:.1f}" for p in rows))
        )
    return Sheet("Pairs, seen from a", tuple(columns))


def _rates(rows: tuple[PairResult, ...]) -> list[Column]:
    return [
        _numbers("win rate", (f"{p.win_rate:.3f}" for p in rows)),
        _numbers("95 % interval", (interval(p.win_rate_low, p.win_rate_high) for p in rows)),
        _numbers("draw rate", (f"{p.draw_rate:.3f}" for p in rows)),
        _numbers("95 % interval", (interval(p.draw_rate_low, p.draw_rate_high) for p in rows)),
    ]


def _counts(rows: tuple[PairResult, ...]) -> list[Column]:
    """What seldom happens: columns of zeros are left out."""
    columns = []
    if any(p.truncated for p in rows):
        columns.append(_numbers("cut off", (p.truncated for p in rows)))
    if any(p.forfeits_a or p.forfeits_b for p in rows):
        columns.append(_numbers("forfeits of a", (p.forfeits_a for p in rows)))
        columns.append(_numbers("forfeits of b", (p.forfeits_b for p in rows)))
    if any(p.distinct_deals < p.deals for p in rows):
        columns.append(_numbers("distinct deals", (p.distinct_deals for p in rows)))
    return columns


def payoffs(result: TournamentResult, standing: Standing, *, brief: bool = False) -> Sheet:
    """What the agent of a row scores against that of a column, the strongest first.

    ``brief``: columns have the numbers of rows in the place of names.
    """
    names = [rating.agent for rating in standing.ratings]
    order = [result.agents.index(name) for name in names]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    columns = [_numbers("", numbers)] if brief else []
    columns.append(_names("", names))
    for j, title in zip(order, numbers if brief else names, strict=True):
        columns.append(_numbers(title, (words.score(standing.payoffs[i][j]) for i in order)))
    return Sheet("Scores of rows against columns", tuple(columns))


def variants(result: TournamentResult) -> Sheet:
    """What games of each variant are like."""
    names = [variant.name for variant in result.variants]
    rows = [[p for p in result.pairs if p.variant == name] for name in names]
    games = [sum(p.games for p in pairs) for pairs in rows]
    draws = [sum(p.draws for p in pairs) for pairs in rows]
    standings = result.standings[: len(names)]
    return Sheet(
        "Variants",
        (
            _names("variant", names),
            _numbers("games", games),
            _numbers("draw rate", (f"{d / g:.3f}" for d, g in zip(draws, games, strict=True))),
            _numbers("cut off", (sum(p.truncated for p in pairs) for pairs in rows)),
            _numbers(
                f"mean {length_unit(result)}",
                (f"{_mean_length(pairs):.1f}" for pairs in rows),
            ),
            _numbers(f"{lead(result)}, Elo", (elo(s.first_elo) for s in standings)),
            _numbers(
                "95 % interval",
                (elo_interval(s.first_elo_low, s.first_elo_high) for s in standings),
            ),
        ),
    )


def _mean_length(pairs: Sequence[PairResult]) -> float:
    """Of the games of all ``pairs`` but those that were forfeited, which have no length."""
    played = [pair.games - pair.forfeits_a - pair.forfeits_b for pair in pairs]
    total = sum(pair.mean_length * games for pair, games in zip(pairs, played, strict=True))
    return total / max(1, sum(played))


def by_variant(result: TournamentResult) -> tuple[Sheet, Sheet, Sheet]:
    """Elo and mean scores of all agents, and scores of all pairs, a column a variant."""
    names = [rating.agent for rating in result.ratings]
    strength = [{r.agent: r for r in standing.ratings} for standing in result.standings]
    titles = [standing.variant for standing in result.standings]
    together = [*titles[:-1], "all games"]  # one fit, not the mean of the fits
    elos = ((elo(found[name].elo) for name in names) for found in strength)
    means = ((f"{found[name].score:.3f}" for name in names) for found in strength)
    agents = _names("agent", names)
    return (
        Sheet("Elo by variant", (agents, *map(_numbers, together, elos))),
        Sheet("Mean score by variant", (agents, *map(_numbers, titles, means))),
        _pairs_by_variant(result),
    )


def _pairs_by_variant(result: TournamentResult) -> Sheet:
    agents = result.agents
    places = [(i, j) for i in range(len(agents)) for j in range(i + 1, len(agents))]
    columns = [
        _names("a", (agents[i] for i, _ in places)),
        _names("b", (agents[j] for _, j in places)),
    ]
    columns += [
        _numbers(standing.variant, (words.score(standing.payoffs[i][j]) for i, j in places))
        for standing in result.standings
    ]
    return Sheet("Score of a by variant", tuple(columns))


def players(result: TournamentResult) -> Sheet:
    """Who took part."""
    chosen = {None: "", True: "yes", False: "no"}
    columns = (
        _names("agent", result.agents),
        _names("kind", (p.kind for p in result.players)),
        _names("deterministic", (chosen[p.deterministic] for p in result.players)),
        _names("SHA-256", (p.sha256 or "" for p in result.players)),
    )
    return Sheet("Agents", tuple(column for column in columns if any(column.cells)))
