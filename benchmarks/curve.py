"""Agent-steps per second against the batch, the deck and the threads: a plot, and its figures.

    python benchmarks/curve.py docs/benchmarks-curve.svg > curve.jsonl

Needs the ``report`` extra.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib

from war_agents.bench import batch, report
from war_agents.bench.measure import Measurement
from war_envs.variant import GAMES, make_variant

matplotlib.use("svg")

from matplotlib import pyplot

SECONDS = 0.5
BATCHES = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
RANKS = (3, 5, 7, 9, 11, 13)
THREADS = (1, 2, 4)


@dataclass(frozen=True)
class Axis:
    """One of the three plots.

    Attributes:
        title: what lies along it.
        points: for each game, what was measured where.
    """

    title: str
    points: dict[str, list[tuple[int, Measurement]]]


def main() -> None:
    """Measures, plots and prints."""
    axes = [
        Axis("games in the batch", {game: list(_batches(game)) for game in GAMES}),
        Axis("cards of the deck, 4096 games", {game: list(_decks(game)) for game in GAMES}),
        Axis("threads, 65536 games", {game: list(_threads(game)) for game in GAMES}),
    ]
    _plot(axes, Path(sys.argv[1]))
    report.print_lines(row for axis in axes for rows in axis.points.values() for _, row in rows)


def _measure(
    game: str,
    *,
    variant: str = "standard",
    num_ranks: int = 13,
    games: int = batch.BATCH,
    threads: int = 1,
) -> Measurement:
    (row,) = batch.measurements(
        game,
        "tokens",
        SECONDS,
        variant=variant,
        num_ranks=num_ranks,
        batch=games,
        threads=threads,
    )
    return replace(row, name=f"curve/{game}")


def _batches(game: str) -> Iterator[tuple[int, Measurement]]:
    for games in BATCHES:
        yield games, _measure(game, games=games)


def _decks(game: str) -> Iterator[tuple[int, Measurement]]:
    sizes = {
        make_variant(game, variant, num_ranks=ranks).deck_size: (variant, ranks)
        for variant in ("standard", "minimal")
        for ranks in RANKS
    }
    for size in sorted(sizes):
        variant, ranks = sizes[size]
        yield size, _measure(game, variant=variant, num_ranks=ranks)


def _threads(game: str) -> Iterator[tuple[int, Measurement]]:
    for threads in THREADS:
        yield threads, _measure(game, games=BATCHES[-1], threads=threads)


def _plot(axes: list[Axis], file: Path) -> None:
    figure, plots = pyplot.subplots(1, len(axes), figsize=(12, 4), sharey=True, layout="tight")
    for axis, plot in zip(axes, plots, strict=True):
        for game, points in axis.points.items():
            places = [place for place, _ in points]
            rows = [row for _, row in points]
            plot.plot(places, [row.median for row in rows], marker="o", markersize=3, label=game)
            least, most = [row.min for row in rows], [row.max for row in rows]
            plot.fill_between(places, least, most, alpha=0.2)
        plot.set_xlabel(axis.title)
        plot.set_yscale("log")
        plot.grid(True, which="major", alpha=0.3)
    plots[0].set_xscale("log", base=4)
    plots[0].set_xticks(BATCHES[::2], map(str, BATCHES[::2]))
    plots[0].set_ylabel("agent-steps per second")
    plots[2].set_xticks(THREADS)
    plots[0].legend()
    figure.savefig(file)


if __name__ == "__main__":
    main()
