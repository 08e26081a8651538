"""A tournament in tables: for the terminal, and as a Markdown page."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from war_agents.arena.results import TournamentResult

SHORTEST_NAME: Final = 8  # the narrowest that names are folded to
_TITLES: Final = {"attack-defence": "War of Attack and Defence", "strategic-war": "Strategic War"}
_NOTES: Final = """\
Every deal is played from both seats{first_attackers}, and all pairs play the same deals. A score \
is points a game: a win is 1, a draw ½; games cut off at the turn limit are draws. Intervals are \
95 % intervals over deals (Korn and Graubard). Ratings are Elo points of one Bradley-Terry fit to \
all games, with the mean 0; one drawn game more between every two agents keeps them finite."""


@dataclass(frozen=True)
class _Sheet:
    """A table of text; the first ``names`` columns hold names, the others numbers."""

    title: str
    names: int
    columns: list[str]
    rows: list[list[str]]


def print_report(result: TournamentResult, console: Console | None = None) -> None:
    """Prints the ratings and all pairs.

    Nothing is ever cut off: on a narrow terminal long names are folded, and where there is no
    terminal lines are as long as they are.
    """
    target = Console(highlight=False) if console is None else console
    target.print(Text(_headline(result)), soft_wrap=True)
    given_width = target.width
    for sheet in (_ratings(result), _pairs(result)):
        table, least = _table(sheet)
        target.width = max(given_width, least) if target.is_terminal else 10_000
        target.print(table, crop=False)
    target.width = given_width


def _table(sheet: _Sheet) -> tuple[Table, int]:
    """A table, and the least width at which it shows all."""
    table = Table(title=Text(sheet.title), title_justify="left", box=box.SIMPLE_HEAD)
    least = 1
    for i, cells in enumerate(zip(sheet.columns, *sheet.rows, strict=True)):
        longest = max(Text(cell).cell_len for cell in cells)
        if i < sheet.names:
            width = min(longest, SHORTEST_NAME)
            table.add_column(Text(cells[0]), overflow="fold", min_width=width)
        else:
            width = longest
            table.add_column(Text(cells[0]), justify="right", no_wrap=True, min_width=width)
        least += width + 3
    for row in sheet.rows:
        table.add_row(*map(Text, row))  # as Text, so that no name is read as markup
    return table, least


def markdown(result: TournamentResult) -> str:
    """The whole report as a Markdown page."""
    return "\n".join(_markdown_lines(result))


def _markdown_lines(result: TournamentResult) -> Iterator[str]:
    game = result.variant.game
    first_attackers = " and with both first attackers" if game == "strategic-war" else ""
    yield f"# {_headline(result)}"
    yield ""
    yield _NOTES.format(first_attackers=first_attackers)
    for sheet in (_ratings(result), _pairs(result), _payoffs(result)):
        yield from ("", f"## {sheet.title}", "")
        yield _markdown_row(map(_escaped, sheet.columns))
        yield _markdown_row(
            ["---" if i < sheet.names else "---:" for i in range(len(sheet.columns))]
        )
        yield from (_markdown_row(map(_escaped, row)) for row in sheet.rows)
    yield from ("", "## Settings", "")
    settings = {"game": game, "variant": result.variant.name, **result.variant.options}
    settings |= {"deals": result.deals, "seed": result.seed, **result.versions}
    yield from (f"- {name}: {_escaped(str(value))}" for name, value in settings.items())
    yield ""


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """``text`` so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", " ".join(text.split()))


def _headline(result: TournamentResult) -> str:
    games = sum(pair.games for pair in result.pairs)
    return (
        f"{_TITLES[result.variant.game]}, {result.variant.name}: {len(result.agents)} agents, "
        f"{result.deals} deals a pair, {games} games, seed {result.seed}"
    )


def _ratings(result: TournamentResult) -> _Sheet:
    rows = [[r.agent, f"{r.elo:+.0f}", f"{r.score:.3f}"] for r in result.ratings]
    return _Sheet("Ratings", 1, ["agent", "Elo", "mean score"], rows)


def _pairs(result: TournamentResult) -> _Sheet:
    rows = [
        [
            p.a,
            p.b,
            str(p.wins),
            str(p.draws),
            str(p.losses),
            f"{p.score:.3f}",
            f"{p.low:.3f} to {p.high:.3f}",
        ]
        for p in result.pairs
    ]
    return _Sheet(
        "Pairs, seen from a",
        2,
        ["a", "b", "wins", "draws", "losses", "score", "95 % interval"],
        rows,
    )


def _payoffs(result: TournamentResult) -> _Sheet:
    """What the agent of a row scores against that of a column, the strongest first."""
    order = [result.agents.index(rating.agent) for rating in result.ratings]
    names = [result.agents[i] for i in order]
    scores = result.scores[order][:, order]
    rows = [
        [name, *("" if i == j else f"{scores[i, j]:.3f}" for j in range(len(names)))]
        for i, name in enumerate(names)
    ]
    return _Sheet("Scores of rows against columns", 1, ["", *names], rows)
