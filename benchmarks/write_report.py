"""The page of figures, from the lines that ``war bench --json`` and the peers have printed.

    python benchmarks/write_report.py FOLDER PAGE

FOLDER holds the lines, ``*.jsonl``, of one run.
"""

import datetime
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from war_agents.bench.report import figure
from war_agents.files import write_text
from war_envs.variant import GAMES

Row = dict[str, Any]

SECTIONS: Final = {
    "batch": "The batch engine",
    "aec": "PettingZoo environments",
    "vec": "Vector environments",
    "train": "Training",
    "learner": "Training with one thing undone at a time",
    "tournament": "Tournaments",
    "peers": "Beside others",
    "curve": "Against the batch, the deck and the threads",
}
# Ours that peers are set beside: a Python loop over single games, and batches.
BESIDE_PEERS: Final = (
    *(f"aec/{game}/{kind}" for game in GAMES for kind in ("raw", "env")),
    *(f"batch/{game}/tokens" for game in GAMES),
    "train/self-play",
)
INTRODUCTION: Final = """\
# Benchmarks

Written by `make bench` (`make bench-peers` adds other packages); do not edit. \
`war bench batch` and so on measure one section. Every figure is the median of five repeats, with \
the least and the greatest; play is random and legal.

An *agent-step* is one choice of one player. In Attack and Defence both players choose in each \
turn, so a step of a batch is two for each game; in Strategic War it is one. A *decision* is a \
choice of the learner alone, whatever its opponent does meanwhile."""


def main() -> None:
    """Writes the page."""
    folder, page = map(Path, sys.argv[1:])
    rows = [
        json.loads(line)
        for file in sorted(folder.glob("*.jsonl"))
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    write_text(page, "\n".join(_lines(rows)) + "\n")


def _lines(rows: list[Row]) -> Iterator[str]:
    yield INTRODUCTION
    yield from ("", *_machine(rows))
    yield from _ratios(rows)
    for section, title in SECTIONS.items():
        chosen = [row for row in rows if row["name"].startswith(f"{section}/")]
        if not chosen:
            continue
        yield from ("", f"## {title}", "")
        if section == "curve":
            what = "agent-steps per second of batches, tokens; bands from the least to the greatest"
            yield f"![{what}](benchmarks-curve.svg)"
            continue
        if section == "peers":
            ours = [row for row in rows if row["name"] in BESIDE_PEERS and row["threads"] == 1]
            chosen = sorted(ours + chosen, key=lambda row: -row["median"])
            yield from ("All from this one run, the fastest first.", "")
        yield from (*_table(chosen), "", "What each includes:", "", *_includes(chosen))


def _machine(rows: list[Row]) -> Iterator[str]:
    versions: dict[str, str] = {}
    for row in rows:
        versions |= row["versions"]
    loads = [row["load"] for row in rows]
    yield f"- date: {datetime.date.today().isoformat()}"
    yield f"- machine: {', '.join(sorted({row['machine'] for row in rows}))}"
    shared = max(loads) > max(row["threads"] for row in rows if row["name"][:5] != "curve") + 0.5
    remark = "; **others were at work too: figures are lower and less steady than they would be**"
    yield (
        f"- load average while it ran: {min(loads):.1f} to {max(loads):.1f}"
        f"{remark if shared else ''}"
    )
    yield f"- versions: {', '.join(f'{name} {version}' for name, version in versions.items())}"


def _ratios(rows: list[Row]) -> Iterator[str]:
    medians: dict[tuple[str, str, int], float] = {}
    for row in rows:  # of what has been measured in several batches, the first
        medians.setdefault((row["name"], row["variant"], row["threads"]), row["median"])
    tokens = "batch/{game}/tokens"
    wanted = []
    for game in GAMES:
        batch = (tokens.format(game=game), "standard", 1)
        raw = (f"aec/{game}/raw", "standard", 1)
        wanted += [
            (f"{game}: batch of tokens to raw AEC environment", batch, raw),
            (
                f"{game}: raw AEC environment to PettingZoo's raw connect-four",
                raw,
                ("peers/pettingzoo/connect_four/raw", "none", 1),
            ),
        ]
    tutorial = ("peers/pettingzoo/connect_four/maskable-ppo-tutorial", "none", 1)
    title = "self-play training to PettingZoo's tutorial of MaskablePPO on connect-four"
    wanted.append((title, ("train/self-play", "standard", 1), tutorial))
    found = [(title, a, b) for title, a, b in wanted if a in medians and b in medians]
    if not found:
        return
    yield from ("", "## Ratios", "", "| ratio of medians | |", "| --- | ---: |")
    yield from (f"| {title} | {figure(medians[a] / medians[b])} |" for title, a, b in found)


def _table(rows: list[Row]) -> Iterator[str]:
    yield "| name | variant | batch | threads | median | min to max | unit |"
    yield "| --- | --- | ---: | ---: | ---: | ---: | --- |"
    for row in rows:
        span = f"{figure(row['min'])} to {figure(row['max'])}"
        name = row["name"].removeprefix("peers/")
        if row["name"].count("/") == 1:  # one that does not name the game
            name = f"{name} ({row['game']})"
        cells = [name, row["variant"], row["batch"], row["threads"], figure(row["median"])]
        yield f"| {' | '.join(map(str, cells))} | {span} | {row['unit']} |"


def _includes(rows: list[Row]) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for row in rows:
        known = names.setdefault(row["includes"], [])
        name = row["name"].removeprefix("peers/")
        if name not in known:
            known.append(name)
    yield from (f"- {', '.join(f'`{n}`' for n in ns)}: {text}" for text, ns in names.items())


if __name__ == "__main__":
    main()
