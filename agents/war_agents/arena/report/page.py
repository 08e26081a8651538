"""A tournament as one HTML file, which needs nothing but itself: no network, and no script to read.

Agents name themselves, so every value is escaped, and whatever a reader's screen may obey is spelt
out. The page's policy (Content-Security-Policy) forbids all but its own script, by its hash.
"""

import base64
import hashlib
from importlib import resources
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from war_agents.arena.report import plots, sheets, words
from war_agents.arena.results import TournamentResult
from war_envs.messages import printable

MOST_MOVES: Final = 8000  # of all notable games together, so that the page stays small


def html(result: TournamentResult) -> str:
    """The whole report as a page: the same result gives the same text."""
    folder = resources.files("war_agents.arena.report")
    script = folder.joinpath("report.js").read_text("utf-8")
    style = folder.joinpath("report.css").read_text("utf-8")
    unit = words.length_unit(result)
    several = len(result.variants) > 1
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            result=result,
            words=words,
            unit=unit,
            # Ours, so they are not escaped; the script's hash is of just this text.
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            dots=plots.dot_plot(result.ratings),
            heat=plots.heat_map(result, result.overall),
            ratings=sheets.ratings(result.overall),
            pairs=sheets.pairs(result),
            variants=sheets.variants(result),
            by_variant=sheets.by_variant(result) if several else (),
            single=[
                (standing.variant, sheets.ratings(standing), plots.heat_map(result, standing))
                for standing in (result.standings[:-1] if several else ())
            ],
            histograms=[
                plots.histogram(
                    variant.name,
                    [match for match in result.matches if match.variant == variant],
                    unit,
                )
                for variant in result.variants
                if any(m.variant == variant and m.lengths.any() for m in result.matches)
            ],
            most_moves=MOST_MOVES // max(len(result.notable), 1),
            players=sheets.players(result),
        )
    )


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("war_agents.arena.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_spelt_out,
    )


def _spelt_out(value: object) -> object:
    """Strings become `printable`; what is markup already stays as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return printable(value)
    return value
