"""The geometry of the plots of a report, as plain data: the template draws it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from war_agents.arena.match import MatchResult
from war_agents.arena.report import words
from war_agents.arena.results import Rating, Standing, TournamentResult

MARGIN: Final = 0.06  # of a dot plot, at either side
LEAST_SPAN: Final = 10.0  # of Elo points, so that whole numbers tell the marks apart
BINS: Final = 24
MOST_MARKS: Final = 7  # on a logarithmic axis, so that their labels stand apart
LOG_FROM: Final = 20  # lengths that differ by more are drawn on a logarithmic scale

# The plotting area of a histogram, in the units of its view box.
WIDTH: Final = 320
HEIGHT: Final = 150
LEFT: Final = 38
RIGHT: Final = 308
TOP: Final = 12
BOTTOM: Final = 116


@dataclass(frozen=True)
class Tick:
    """A mark of an axis: where, and what it says."""

    at: float
    label: str


@dataclass(frozen=True)
class Dot:
    """A rating with its interval, in percent of the width; None where the interval has no end."""

    agent: str
    text: str
    interval: str
    at: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class DotPlot:
    """Ratings on a common axis, the strongest first."""

    ticks: tuple[Tick, ...]
    dots: tuple[Dot, ...]


@dataclass(frozen=True)
class Cell:
    """What a row scores against a column.

    Attributes:
        text: the score.
        lean: how far it is from one half, 0 to 100 percent.
        won: is it above one half?
        sure: does its 95 % interval leave out one half?
    """

    text: str
    lean: float
    won: bool
    sure: bool


@dataclass(frozen=True)
class HeatMap:
    """A payoff matrix, the strongest first; None on the diagonal."""

    agents: tuple[str, ...]
    rows: tuple[tuple[Cell | None, ...], ...]


@dataclass(frozen=True)
class Bar:
    """The games of one bin: from ``x`` on, ``y`` down to the axis, of which ``cut`` cut off."""

    x: float
    y: float
    width: float
    height: float
    cut: float
    text: str


@dataclass(frozen=True)
class Histogram:
    """How long the games of a variant were."""

    variant: str
    text: str
    logarithmic: bool
    bars: tuple[Bar, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]


def dot_plot(ratings: tuple[Rating, ...]) -> DotPlot:
    """The ratings of a standing; an interval without an end reaches the edge of the plot."""
    numbers = [r.elo for r in ratings]
    numbers += [end for r in ratings for end in (r.elo_low, r.elo_high) if end is not None]
    span = max(max(numbers) - min(numbers), LEAST_SPAN)
    low = (max(numbers) + min(numbers) - span) / 2

    def at(value: float) -> float:
        return round(100 * (MARGIN + (1 - 2 * MARGIN) * (value - low) / span), 2)

    dots = (
        Dot(
            r.agent,
            words.elo(r.elo),
            words.elo_interval(r.elo_low, r.elo_high),
            at(r.elo),
            None if r.elo_low is None else at(r.elo_low),
            None if r.elo_high is None else at(r.elo_high),
        )
        for r in ratings
    )
    ticks = (Tick(at(value), words.elo(value)) for value in nice_numbers(low, low + span, 5))
    return DotPlot(tuple(ticks), tuple(dots))


def heat_map(result: TournamentResult, standing: Standing) -> HeatMap:
    """The payoff matrix of a standing."""
    names = tuple(rating.agent for rating in standing.ratings)
    order = [result.agents.index(name) for name in names]
    rows = (tuple(_cell(standing, i, j) for j in order) for i in order)
    return HeatMap(names, tuple(rows))


def _cell(standing: Standing, i: int, j: int) -> Cell | None:
    score = standing.payoffs[i][j]
    lows = (standing.payoffs_low[i][j], standing.payoffs_low[j][i])
    if score is None:
        return None
    return Cell(
        text=words.score(score),
        lean=round(200 * abs(score - 0.5), 1),
        won=score > 0.5,
        sure=any(low is not None and low > 0.5 for low in lows),
    )


def histogram(variant: str, matches: list[MatchResult], unit: str) -> Histogram:
    """How long the games of ``matches`` were; ``unit`` is what lengths count.

    Games that were forfeited, which have length 0, do not count; there must be others.
    """
    played = [match for match in matches if match.lengths.any()]
    shortest = min(int(match.lengths[match.lengths > 0].min()) for match in played)
    longest = max(int(match.lengths.max()) for match in played)
    edges, logarithmic = _bin_edges(shortest, longest)
    # A match at a time: all lengths of a large tournament side by side would fill the memory.
    counts = _counts((match.lengths[match.lengths > 0] for match in matches), edges)
    cuts = _counts((match.lengths[match.truncated] for match in matches), edges)
    games = sum(counts)
    mean = sum(int(match.lengths.sum()) for match in matches) / games
    first, last = int(edges[0]), int(edges[-1])
    most = max(counts)

    def x(value: float) -> float:
        share = (
            math.log(value / first) / math.log(last / first)
            if logarithmic
            else (value - first) / (last - first)
        )
        return round(LEFT + (RIGHT - LEFT) * share, 2)

    def y(number: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * number / most, 2)

    def height(number: int) -> float:
        return round(max(BOTTOM - y(number), 1), 2) if number else 0  # even one game is seen

    bars = (
        Bar(
            x=x(start),
            y=round(BOTTOM - height(count), 2),
            width=round(max(x(stop) - x(start) - 1, 0.5), 2),
            height=height(count),
            cut=height(cut),
            text=_bar_text(start, stop - 1, count, cut, unit),
        )
        for (start, stop), count, cut in zip(pairwise(edges.tolist()), counts, cuts, strict=True)
        if count
    )
    marks = _log_numbers(first, last) if logarithmic else nice_numbers(first, last, 5)
    marks = [mark for mark in marks if mark.is_integer()]
    shares = nice_numbers(0, 100 * most / games, 3)
    return Histogram(
        variant,
        f"{words.count(games, 'game')}; shortest {shortest}, mean {mean:.1f}, longest {longest} "
        f"{unit}; {sum(cuts)} cut off",
        logarithmic,
        tuple(bars),
        tuple(Tick(x(mark), f"{mark:g}") for mark in marks),
        tuple(Tick(y(share * games / 100), f"{share:g} %") for share in shares),
    )


def _counts(lengths: Iterable[NDArray[np.int64]], edges: NDArray[np.int64]) -> list[int]:
    counts = np.zeros(len(edges) - 1, np.int64)
    for some in lengths:
        counts += np.histogram(some, edges)[0]
    return [int(count) for count in counts]


def _bin_edges(shortest: int, longest: int) -> tuple[NDArray[np.int64], bool]:
    """Whole numbers: the first of each bin, and the one after the last."""
    stop = longest + 1
    if longest >= LOG_FROM * shortest:
        return np.unique(np.geomspace(shortest, stop, BINS + 1).round().astype(np.int64)), True
    step = math.ceil((stop - shortest) / BINS)
    return np.arange(shortest, stop + step, step)[: math.ceil((stop - shortest) / step) + 1], False


def _bar_text(first: int, last: int, games: int, cut: int, unit: str) -> str:
    where = f"{first}" if first == last else f"{first} to {last}"
    return f"{where} {unit}: {words.count(games, 'game')}" + (f", {cut} cut off" if cut else "")


def nice_numbers(low: float, high: float, about: int) -> list[float]:
    """Some ``about`` round numbers (1, 2 or 5 times a power of ten apart), ``low`` to ``high``."""
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= rough * (1 - 1e-9))
    return [
        round(i * step, 10)
        for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ]


def _log_numbers(low: int, high: int) -> list[float]:
    """The powers of ten, ``low`` to ``high``, and 2 and 5 times them where that is not too much."""
    powers = range(len(str(low)) - 1, len(str(high)))
    marks = [k * 10.0**p for p in powers for k in (1, 2, 5) if low <= k * 10**p <= high]
    return marks if len(marks) <= MOST_MARKS else [10.0**p for p in powers if low <= 10**p]
