"""Learning curves of runs: their data, and a picture.

    python benchmarks/learning_curves.py docs/learning-curves runs/curve-1 runs/curve-2 runs/curve-3

Writes ``docs/learning-curves.csv`` and ``.svg``: scores against the scripted agents and of the
exploiters trained against the learner, and the entropy of its policy. Needs the ``report`` extra.
"""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot

Point = tuple[int, str, int, float]  # seed, what, steps, value


def main() -> None:
    """Reads the logs, and writes both files."""
    out, *folders = map(Path, sys.argv[1:])
    points = [point for folder in folders for point in _points(folder)]
    with out.with_suffix(".csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("seed", "figure", "steps", "value"))
        writer.writerows(points)
    _plot(points, out.with_suffix(".svg"))


def _points(folder: Path) -> list[Point]:
    seed = json.loads((folder / "config.json").read_text())["seed"]
    points: list[Point] = []
    for line in (folder / "log.jsonl").read_text().splitlines():
        row: dict[str, Any] = json.loads(line)
        values = {
            f"score against {name}": v["score"] for name, v in row.get("evaluation", {}).items()
        }
        if "exploiter" in row:
            values["score of an exploiter"] = row["exploiter"]
        if "entropy" in row:
            values["entropy"] = row["entropy"]
        points += [
            (seed, name, row["steps"], round(value, 4))
            for name, value in values.items()
            if value is not None  # it was not finite
        ]
    return points


def _plot(points: list[Point], file: Path) -> None:
    figures = list(dict.fromkeys(name for _, name, _, _ in points))
    figure, plots = pyplot.subplots(
        1, len(figures), figsize=(3.2 * len(figures), 3.2), layout="tight"
    )
    for name, plot in zip(figures, plots, strict=True):
        for seed in sorted({seed for seed, *_ in points}):
            own = [(steps, value) for s, n, steps, value in points if (s, n) == (seed, name)]
            plot.plot(*zip(*own, strict=True), label=f"seed {seed}", linewidth=1.2)
        plot.set_title(name, fontsize=9)
        plot.set_xlabel("steps", fontsize=8)
        plot.grid(True, alpha=0.3)
        if name != "entropy":
            plot.set_ylim(0.0, 1.02)
    plots[0].legend(fontsize=8)
    figure.savefig(file)


if __name__ == "__main__":
    main()
