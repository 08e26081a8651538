"""A tournament in tables: for the terminal, and as a Markdown page."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from war_agents.arena.report import sheets, words
from war_agents.arena.report.sheets import Sheet
from war_agents.arena.results import TournamentResult
from war_envs.messages import printable

SHORTEST_NAME: Final = 7  # the narrowest that names are folded to; three columns fit in 80


def print_report(result: TournamentResult, console: Console | None = None) -> None:
    """Prints the ratings, the payoffs, all pairs, and what stands out.

    Nothing is ever cut off: on a narrow terminal long names are folded, and where there is no
    terminal lines are as long as they are.
    """
    target = Console(highlight=False) if console is None else console
    _print_line(target, words.headline(result))
    given_width = target.width
    for sheet in (
        sheets.ratings(result.overall, brief=True),
        sheets.payoffs(result, result.overall, brief=True),
        sheets.pairs(result, brief=True),
    ):
        table, least = _table(sheet)
        target.width = max(given_width, least) if target.is_terminal else 10_000
        target.print(table, crop=False)
    target.width = given_width
    for line in words.cycles(result):
        _print_line(target, f"Cycle: {line}")
    for say in (words.cut_off, words.forfeits, words.separation, words.warnings):
        for line in say(result):
            _print_line(target, line)


def _print_line(target: Console, line: str) -> None:
    target.print(Text(printable(line)), soft_wrap=True)


def _table(sheet: Sheet) -> tuple[Table, int]:
    """A table, and the least width at which it shows all."""
    table = Table(title=Text(sheet.title), title_justify="left", box=box.SIMPLE_HEAD)
    least = 1
    for column in sheet.columns:
        longest = max(Text(cell).cell_len for cell in (column.title, *column.cells))
        if column.numeric:
            width = longest
            table.add_column(Text(column.title), justify="right", no_wrap=True, min_width=width)
        else:
            width = min(longest, SHORTEST_NAME)
            table.add_column(Text(column.title), overflow="fold", min_width=width)
        least += width + 3
    for row in sheet.rows:
        table.add_row(*map(Text, row))  # as Text, so that no name is read as markup
    return table, least


def markdown(result: TournamentResult) -> str:
    """The whole report as a Markdown page, without the moves of single games."""
    return "\n".join(_markdown_lines(result))


def _markdown_lines(result: TournamentResult) -> Iterator[str]:
    yield f"# {_escaped(words.headline(result))}"
    yield from ("", _escaped(words.leader(result)))
    yield from _markdown_sheet(sheets.ratings(result.overall))
    yield from _markdown_sheet(sheets.payoffs(result, result.overall))
    for title, lines in (
        ("Cycles", words.cycles(result)),
        ("Separation", words.separation(result)),
        ("Forfeits", words.forfeits(result)),
        ("Warnings", words.warnings(result)),
    ):
        if lines:
            yield from _markdown_list(title, map(_escaped, lines))
    yield from _markdown_sheet(sheets.variants(result))
    if len(result.variants) > 1:
        for sheet in sheets.by_variant(result):
            yield from _markdown_sheet(sheet)
        for standing in result.standings[:-1]:
            for sheet in (sheets.ratings(standing), sheets.payoffs(result, standing)):
                yield from _markdown_sheet(sheet, f"{sheet.title}: {standing.variant}")
    yield from _markdown_sheet(sheets.pairs(result))
    if result.notable:
        unit = words.length_unit(result)
        games = (f"{words.notable_title(g)}. {words.notable(g, unit)}" for g in result.notable)
        yield from _markdown_list("Notable games", map(_escaped, games))
    yield from _markdown_list(
        "What the numbers mean",
        (
            f"**{note.term}.** {note.meaning}" + (f" Source: {note.source}." if note.source else "")
            for note in words.notes(result)
        ),
    )
    yield from _markdown_sheet(sheets.players(result))
    for title, values in (("Settings", words.settings(result)), ("Versions", result.versions)):
        yield from _markdown_list(title, (f"{k}: {_escaped(v)}" for k, v in values.items()))
    yield ""


def _markdown_list(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ("", f"## {title}", "")
    yield from (f"- {line}" for line in lines)


def _markdown_sheet(sheet: Sheet, title: str | None = None) -> Iterator[str]:
    yield from ("", f"## {_escaped(title or sheet.title)}", "")
    yield _markdown_row(_escaped(column.title) for column in sheet.columns)
    yield _markdown_row("---:" if column.numeric else "---" for column in sheet.columns)
    yield from (_markdown_row(map(_escaped, row)) for row in sheet.rows)


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """``text`` so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&])", r"\\\1", " ".join(printable(text).split()))
