"""Measurements as lines of JSON, and as a table."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from war_agents.bench.measure import Measurement
from war_agents.files import json_text

_NUMBERS = ("batch", "threads", "median", "min", "max")


def print_lines(measurements: Iterable[Measurement]) -> None:
    """Prints each measurement as soon as it is made, as one line of JSON."""
    for measurement in measurements:
        print(json_text(measurement.to_json()), flush=True)


def print_table(measurements: Iterable[Measurement], console: Console | None = None) -> None:
    """Prints all measurements as a table; where there is no terminal, lines are never cut."""
    target = Console(highlight=False) if console is None else console
    rows = list(measurements)
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("name", "game", "variant", *_NUMBERS, "unit"):
        right = name in _NUMBERS
        table.add_column(name, justify="right" if right else "left", no_wrap=right)
    for row in rows:
        numbers = (str(row.batch), str(row.threads), *map(figure, (row.median, row.min, row.max)))
        table.add_row(*map(Text, (row.name, row.game, row.variant, *numbers, row.unit)))
    given_width = target.width
    if not target.is_terminal:
        target.width = 10_000
    target.print(table, crop=False)
    for name, includes in {row.name: row.includes for row in rows}.items():
        target.print(Text(f"{name}: {includes}"), soft_wrap=True)
    if rows:
        versions = ", ".join(f"{name} {version}" for name, version in rows[-1].versions.items())
        target.print(Text(f"{rows[-1].machine}; load {rows[-1].load}; {versions}"), soft_wrap=True)
    target.width = given_width


def figure(value: float) -> str:
    """A number to about three significant digits, with commas between thousands."""
    if value >= 100:
        digits = max(0, len(str(int(value))) - 3)
        return f"{round(value, -digits):,.0f}"
    return f"{value:.3g}"
