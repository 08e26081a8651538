"""Reports of tournaments: for the terminal, in Markdown and as one HTML file."""

import base64
import dataclasses
import hashlib
import io
import re
from typing import Any

import pytest
from rich.console import Console

from tests.support.pages import Page
from tests.support.tournaments import findings, tournament
from war_agents.arena.report import html, markdown, print_report
from war_agents.arena.results import Rating, Separation, TournamentResult
from war_envs.variant import VARIANT_NAMES

LONG = "runs/" + "x" * 70
ODD = '[red]|*a*<b>&"'
SCRIPT = "<script>alert(1)</script>"
CONTROL = "esc\x1b[2J\u202e\x9b"
SPELT_OUT = r"esc\x1b[2J\u202e\x9b"
NAMES = (ODD, LONG, SCRIPT, "fourth")
PHRASES = {  # who asks for them
    "cycle": f"{ODD} beats {LONG} beats {SCRIPT} beats {ODD}",
    "forfeit": rf"{LONG} forfeited 3 games against {ODD} in minimal; the first: "
    r"RuntimeError: <b>no more moves</b>\x1b[2J",
    "separation": "Not separated: 5 of 6 pairs of agents are told apart at a family-wise "
    f"confidence of 95 %. Undecided: {ODD} and {LONG}.",
}


def full(**options: Any) -> TournamentResult:
    return tournament(NAMES, **findings(NAMES, "minimal"), **options)


def large() -> TournamentResult:
    names = [f"agent-{i}-with-a-name-of-some-length" for i in range(10)] + [LONG, SCRIPT]
    games = findings(names, "fair", steps=2080)["notable"][:1]
    return tournament(
        names, game="strategic-war", variants=VARIANT_NAMES, deals=5, notable=16 * games
    )


def with_ratings(result: TournamentResult, **changes: Any) -> TournamentResult:
    """``result``, with all ratings changed alike."""
    standings = tuple(
        dataclasses.replace(
            standing, ratings=tuple(dataclasses.replace(r, **changes) for r in standing.ratings)
        )
        for standing in result.standings
    )
    return dataclasses.replace(result, standings=standings)


def printed(result: TournamentResult, width: int = 200, *, terminal: bool = False) -> str:
    text = io.StringIO()
    console = Console(file=text, width=width, force_terminal=terminal, color_system=None)
    print_report(result, console)
    return text.getvalue()


def ends(rating: Rating) -> str:
    """What an interval of Elo points should look like."""
    low, high = rating.elo_low, rating.elo_high
    if low is None:
        return f"< {high:+.0f}"
    return f"> {low:+.0f}" if high is None else f"{low:+.0f} to {high:+.0f}"


# The terminal.


def test_names_are_shown_as_they_are_and_nothing_is_cut_off() -> None:
    result = tournament((ODD, LONG), deals=3)
    plain = printed(result, 40)
    assert any(ODD in line and LONG in line for line in plain.splitlines())
    assert "\x1b" not in plain
    for width in (20, 80):
        folded = printed(result, width, terminal=True)
        assert "…" not in folded
        assert folded.count("x") >= 2 * 70
        assert "95 % interval" in folded
        assert "Scores of rows against columns" in folded
        assert " to " in folded
    assert max(map(len, folded.splitlines()[1:])) <= 80


def test_the_terminal_shows_ratings_pairs_and_what_stands_out() -> None:
    result = full()
    text = printed(result)
    lines = text.splitlines()
    assert lines[0] == (
        "War of Attack and Defence, minimal: 4 agents, 20 deals a pair, 240 games, seed 3"
    )
    for rating in result.ratings:
        numbers = [f"{rating.elo:+.0f}", ends(rating), f"{rating.score:.3f}"]
        numbers += [f"{rating.nash_share:.3f}", f"{rating.alpha_rank:.3f}"]
        assert any(re.split(r"\s{2,}", line.strip()) == [rating.agent, *numbers] for line in lines)
    for pair in result.pairs:
        counts = map(str, (pair.wins, pair.draws, pair.losses))
        cells = [pair.a, pair.b, *counts, f"{pair.score:.3f}", f"{pair.low:.3f} to {pair.high:.3f}"]
        assert any(re.split(r"\s{2,}", line.strip()) == cells for line in lines)
    assert f"Cycle: {PHRASES['cycle']}" in lines
    assert PHRASES["forfeit"] in lines
    assert PHRASES["separation"] in lines
    cut_off = sum(pair.truncated for pair in result.pairs)
    assert f"Cut off at the turn limit, and counted as draws: {cut_off} games." in lines


def test_several_variants_have_a_column() -> None:
    one, two = (tournament(("a", "b"), variants=names) for names in (["fair"], ["fair", "minimal"]))
    assert "variant" not in printed(one)
    text = printed(two)
    assert "War of Attack and Defence, 2 variants: 2 agents, 20 deals a pair and variant, " in text
    for variant in ("fair", "minimal"):
        assert re.search(rf"^ +{variant} +a +b +\d+", text, re.MULTILINE)


def test_tables_of_several_variants_fit_an_ordinary_terminal() -> None:
    result = tournament((ODD, LONG), variants=["fair", "minimal+fair+open-card"], deals=500)
    tables = printed(result, 80, terminal=True).splitlines()[1:-1]
    assert max(map(len, tables)) <= 80


def test_a_quiet_tournament_has_tables_only() -> None:
    text = printed(tournament(("a", "b"), draws=False))
    assert not re.search("Cycle|forfeit|eparated|Cut off", text)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (-812.4, None, "> -812"),
        (None, 350.0, "< +350"),
        (None, None, "unbounded"),
        (-0.4, 12.6, "0 to +13"),
    ],
)
def test_ends_that_are_missing_are_readable_everywhere(
    low: float | None, high: float | None, shown: str
) -> None:
    result = with_ratings(tournament(("a", "b")), elo=0.0, elo_low=low, elo_high=high)
    assert printed(result).count(f" {shown} ") == 2
    escaped = re.sub("([<>])", r"\\\1", shown)
    assert markdown(result).count(f"| 0 | {escaped} |") == 2
    page = Page(html(result))
    assert [row[1:3] for row in page.tables["Ratings"][1:]] == 2 * [["0", shown]]
    arrows = [tag for tag in page.elements("path") if tag["class"] == "arrow"]
    assert len(arrows) == 2 * [low, high].count(None)


@pytest.mark.parametrize("show", [printed, markdown, html])
def test_nothing_that_a_terminal_obeys_is_passed_on(show: Any) -> None:
    names = (CONTROL, "b", "c")
    made = findings(names, "minimal")
    game = dataclasses.replace(made["notable"][0], moves=(CONTROL,))
    text = show(
        tournament(names, **{**made, "notable": (game,)}, settings={"seed": 1, "agents": [CONTROL]})
    )
    assert "esc" in text
    assert all(c.isprintable() or c == "\n" for c in text)


# Markdown.


def test_markdown_has_all_tables_and_sources() -> None:
    result = full(game="strategic-war")
    page = markdown(result)
    for name in (ODD, SCRIPT):
        assert name not in page
    assert r"\[red\]\|\*a\*\<b\>\&" in page
    for pair in result.pairs:
        for low, high in (
            (pair.low, pair.high),
            (pair.win_rate_low, pair.win_rate_high),
            (pair.draw_rate_low, pair.draw_rate_high),
        ):
            assert f"{low:.3f} to {high:.3f}" in page
    for rating in result.ratings:
        assert f"{rating.elo:+.0f}" in page
    rows = [re.findall(r"(?<!\\)\|", line) for line in page.splitlines() if line.startswith("|")]
    assert [len(row) for row in rows] == 6 * [9] + 6 * [6] + 3 * [8] + 8 * [16] + 6 * [5]
    for text in ("each first attacker", "- seed: 3", "- deals: 20", "- python: 3.11.9"):
        assert text in page
    for source in ("Korn", "Davidson", "Beaver", "Rubin", "Balduzzi", "Omidshafiei", "Ramdas"):
        assert source in page


def test_markdown_has_each_variant() -> None:
    result = tournament(("a", "b", "c"), variants=["fair", "minimal"])
    page = markdown(result)
    titles = [line[3:] for line in page.splitlines() if line.startswith("## ")]
    assert titles == [
        "Ratings",
        "Scores of rows against columns",
        "Cycles",
        "Variants",
        "Elo by variant",
        "Mean score by variant",
        "Score of a by variant",
        "Ratings: fair",
        "Scores of rows against columns: fair",
        "Ratings: minimal",
        "Scores of rows against columns: minimal",
        "Pairs, seen from a",
        "What the numbers mean",
        "Agents",
        "Settings",
        "Versions",
    ]
    assert "- In the mean of all variants: a beats b beats c beats a" in page


# The page.


def test_the_page_shows_the_numbers() -> None:
    result = full()
    page = Page(html(result))
    assert page.tables["Ratings"][1:] == [
        [
            r.agent,
            f"{r.elo:+.0f}",
            ends(r),
            f"{r.score:.3f}",
            f"{r.score_low:.3f} to {r.score_high:.3f}",
            f"{r.nash_share:.3f}",
            f"{r.nash_score:.3f}",
            f"{r.alpha_rank:.3f}",
        ]
        for r in result.ratings
    ]
    head, *rows = page.tables["Pairs, seen from a"]
    assert head[:7] == ["a", "b", "wins", "draws", "losses", "score", "95 % interval"]
    assert rows == [
        [
            p.a,
            p.b,
            *map(str, (p.wins, p.draws, p.losses)),
            f"{p.score:.3f}",
            f"{p.low:.3f} to {p.high:.3f}",
            f"{p.win_rate:.3f}",
            f"{p.win_rate_low:.3f} to {p.win_rate_high:.3f}",
            f"{p.draw_rate:.3f}",
            f"{p.draw_rate_low:.3f} to {p.draw_rate_high:.3f}",
            *map(str, (p.truncated, p.forfeits_a, p.forfeits_b)),
            f"{p.mean_length:.1f}",
        ]
        for p in result.pairs
    ]


def test_payoffs_stand_in_the_order_of_strength() -> None:
    result = tournament(("weak", "strong"), seed=1)
    score = result.pairs[0].score
    if score > 0.5:  # whatever the draws say, one of the two is ahead
        score = 1 - score
    page = Page(html(result))
    caption = "Scores of rows against columns, the strongest first"
    best, second = (rating.agent for rating in result.ratings)
    assert page.tables[caption][1:] == [
        [f"1{best}", "\u2013", f"{1 - score:.3f}"],
        [f"2{second}", f"{score:.3f}", "\u2013"],
    ]
    kinds = [str(cell["class"]).split()[0] for cell in page.elements("td") if "style" in cell]
    assert kinds == ["won", "lost"]


def test_findings_are_told() -> None:
    page = Page(html(full()))
    for phrase in PHRASES.values():
        assert phrase in page.text
    quiet = Page(html(tournament(("a", "b"), draws=False)))
    for phrase in ("None is beyond doubt.", "No agent failed.", "No game was cut off."):
        assert phrase in quiet.text
    assert "Separation" not in quiet.text
    separated = Separation(0.99, (("a", "b"),), (), separated=True)
    assert (
        "Separated: every pair of agents is told apart at a family-wise confidence of 99 %."
        in Page(html(tournament(("a", "b"), separation=separated))).text
    )


def test_variants_are_compared_where_there_are_several() -> None:
    result = tournament(("a", "b", "c"), variants=["fair", "minimal+fair"])
    page = Page(html(result))
    elo, score, pairs = (
        rows for rows in page.tables.values() if rows[0][-3:-1] == ["fair", "minimal+fair"]
    )
    for row, rating in zip(elo[1:], result.ratings, strict=True):
        found = [next(r for r in s.ratings if r.agent == rating.agent) for s in result.standings]
        assert row == [rating.agent, *(f"{r.elo:+.0f}" for r in found)]
    for row, rating in zip(score[1:], result.ratings, strict=True):
        found = [next(r for r in s.ratings if r.agent == rating.agent) for s in result.standings]
        assert row == [rating.agent, *(f"{r.score:.3f}" for r in found)]
    assert [row[:2] for row in pairs[1:]] == [["a", "b"], ["a", "c"], ["b", "c"]]
    for row in pairs[1:]:
        played = [p.score for p in result.pairs if [p.a, p.b] == row[:2]]
        assert row[2:4] == [f"{p:.3f}" for p in played]
    assert [row[0] for row in page.tables["Pairs, seen from a"][1:]] == (
        ["fair"] * 3 + ["minimal+fair"] * 3
    )
    single = Page(html(tournament(("a", "b", "c"), variants=["fair"])))
    assert not any("mean" in rows[0] for rows in single.tables.values())


@pytest.mark.parametrize("longest", [5, 40, 1040])
def test_histograms_count_every_game(longest: int) -> None:
    result = full(variants=["minimal", "fair"])
    for match in result.matches:
        match.lengths[:] = match.lengths.clip(1, longest)
        match.lengths[0, 0] = 1
    page = html(result)
    plots = page.split('class="histogram"')[1:]
    assert len(plots) == 2
    for plot, variant in zip(plots, result.variants, strict=True):
        bars = re.findall(r'<rect class="bar"[^>]*><title>([^<]*)</title>', plot)
        games = [int(bar.partition(": ")[2].split()[0]) for bar in bars]
        assert sum(games) == 240
        matches = [m for m in result.matches if m.variant == variant]
        cut = re.findall(r'<rect class="cut"[^>]*><title>[^<]*, (\d+) cut off</title>', plot)
        assert sum(map(int, cut)) == sum(int(m.truncated.sum()) for m in matches)
        assert ("logarithmic" in plot) == (longest > 20)


def test_games_of_one_length_have_a_histogram() -> None:
    result = tournament(("a", "b"), draws=False)
    result.matches[0].lengths[:] = 7
    assert "7 turns: 40 games" in Page(html(result)).text


def test_notable_games_are_told_with_hands_and_moves() -> None:
    result = full()
    text = Page(html(result)).text
    longest, upset = result.notable
    assert f"deal 4: {ODD} (seat 0) against {LONG} (seat 1). It was cut off after 12 turns." in text
    assert (
        f"deal 17: {LONG} (seat 0) against {ODD} (seat 1); seat 1 attacked first. "
        f"{LONG} won after 12 turns, rated 212 Elo points below the loser." in text
    )
    for game in (longest, upset):
        for hand in game.hands:
            assert " ".join(hand) in text
        assert " ".join(game.moves) in " ".join(text.split())
    drawn = dataclasses.replace(longest, truncated=False, length=1)
    page = Page(html(dataclasses.replace(result, notable=(drawn,))))
    assert "It was a draw after 1 turn." in page.text


def test_names_are_text_and_nothing_else() -> None:
    page = Page(html(full(variants=["minimal", "fair"])))
    for name in NAMES:
        assert page.text.count(name) > 20
    assert len(page.scripts) == len(page.styles) == 1
    assert "alert" not in page.scripts[0]
    assert not page.elements("b")
    assert not any(key.startswith("on") for _, attributes in page.tags for key in attributes)


def test_the_page_needs_nothing_but_itself() -> None:
    source = html(full())
    page = Page(source)
    assert not re.search("https?:|//|url\\(|@import", re.sub(r"(?m)^ *// .*$", "", source))
    links = [a["href"] for a in page.elements("a")]
    places = {attributes.get("id") for _, attributes in page.tags}
    assert links
    assert all(link is not None and link[0] == "#" and link[1:] in places for link in links)
    assert not any({"src", "srcset", "data"} & set(attributes) for _, attributes in page.tags)
    policy = next(m["content"] for m in page.elements("meta") if "http-equiv" in m)
    digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
    assert policy == (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_plots_and_tables_say_what_they_are() -> None:
    source = html(full(variants=["minimal", "fair"]))
    page = Page(source)
    assert page.elements("html") == [{"lang": "en"}]
    assert len(page.elements("h1")) == 1
    assert all(page.tables)
    plots = re.findall(r'<svg[^>]*role="img">\s*<title>(.+?)</title>\s*<desc>(.+?)</desc>', source)
    assert len(plots) == source.count('role="img"') == 4 + 2
    assert all(head["scope"] in ("col", "row") for head in page.elements("th"))


def test_the_same_result_gives_the_same_bytes() -> None:
    for show in (html, markdown, printed):
        assert show(full()).encode() == show(full()).encode()


def test_a_large_tournament_stays_small() -> None:
    source = html(large())
    assert len(source.encode()) < 2_000_000
    page = Page(source)
    assert page.text.count("player_0 attacks") == 8000
    assert page.text.count("1580 more steps are in results.json.") == 16
    assert len(page.tables["Pairs, seen from a"]) == 1 + 66 * 8
