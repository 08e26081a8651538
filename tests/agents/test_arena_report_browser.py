"""The HTML report in a real browser, without a network."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.support.tournaments import findings, tournament
from war_agents.arena.report import html
from war_agents.arena.results import TournamentResult
from war_envs.variant import VARIANT_NAMES

pytestmark = pytest.mark.browser

BROWSERS: Final = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
LONG: Final = "runs/" + "W" * 70
SCRIPT: Final = "<script>alert(1)</script>"
NAMES: Final = ("first", LONG, SCRIPT, '[red]|*a*<b>&"', *(f"agent-{i}" for i in range(8)))
DESKTOP: Final = (1280, 900)
PHONE: Final = (360, 740)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        message = f"no browser was found on PATH; one of {', '.join(BROWSERS)} is needed"
        if "CI" in os.environ:
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as playwright:
        # Chromium's sandbox does not start as root, and the page is ours.
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(
        tmp_path_factory.mktemp("report"),
        tournament(NAMES, variants=VARIANT_NAMES[4:], **findings(NAMES, "minimal")),
    )


def written(folder: Path, result: TournamentResult) -> Path:
    file = folder / "report.html"
    file.write_text(html(result), encoding="utf-8")
    return file


@dataclass
class Visit:
    """An opened page, with all that it did."""

    page: Page
    said: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def visit(browser: Browser, file: Path, size: tuple[int, int] = DESKTOP, **options: Any) -> Visit:
    viewport = {"width": size[0], "height": size[1]}
    page = browser.new_context(viewport=viewport, offline=True, **options).new_page()  # type: ignore[arg-type]
    opened = Visit(page)
    page.on("console", lambda message: opened.said.append(message.text))
    page.on("pageerror", lambda error: opened.said.append(str(error)))
    page.on("dialog", lambda dialog: opened.said.append(dialog.message))
    page.on("request", lambda request: opened.requests.append(request.url))
    page.on("requestfailed", lambda request: opened.said.append(f"failed: {request.url}"))
    page.goto(file.as_uri())
    page.wait_for_load_state("networkidle")
    return opened


def column(page: Page, table: str, number: int) -> list[str]:
    rows = page.locator("table", has_text=table).first.locator("tbody tr")
    cells: list[str] = rows.evaluate_all(
        "(rows, number) => rows.map((row) => row.cells[number].textContent.trim())", number
    )
    return cells


def test_it_opens_offline_and_asks_for_nothing(browser: Browser, report: Path) -> None:
    opened = visit(browser, report)
    assert opened.said == []
    assert opened.requests == [report.as_uri()]
    assert opened.page.title().startswith("War of Attack and Defence, 4 variants: 12 agents")


def test_names_are_shown_as_text_and_never_run(browser: Browser, report: Path) -> None:
    opened = visit(browser, report)
    text = opened.page.locator("body").inner_text()
    for name in NAMES:
        assert name in text
    assert opened.page.locator("script").count() == 1
    assert opened.page.locator("b").count() == 0
    assert opened.said == []


def test_the_policy_keeps_out_what_would_slip_in(browser: Browser, report: Path) -> None:
    opened = visit(browser, report)
    refused, ran = opened.page.evaluate(
        """() => new Promise((tell) => {
            const refused = [];
            document.addEventListener("securitypolicyviolation", (event) => {
                refused.push(event.effectiveDirective);
                if (refused.length === 2) tell([refused.sort(), window.ran ?? false]);
            });
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            const image = document.createElement("img");
            image.src = "http://127.0.0.1:9/image.png";
            document.body.append(script, image);
        })"""
    )
    assert refused == ["img-src", "script-src-elem"]
    assert ran is False


def test_a_click_sorts_numbers_as_numbers_and_another_turns_them_round(
    browser: Browser, report: Path
) -> None:
    page = visit(browser, report).page
    table = page.locator("#ratings table")
    head = table.locator("thead th", has_text="Elo")
    elos = column(page, "Ratings", 1)
    assert sorted(elos, key=float, reverse=True) == elos != sorted(elos)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(page, "Ratings", 1) == elos[::-1]
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, "Ratings", 1) == elos

    name = table.locator("thead th").first
    name.get_by_role("button").click()
    assert name.get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") is None
    names = column(page, "Ratings", 0)
    assert [n for n in names if n.startswith("agent-")] == [f"agent-{i}" for i in range(8)]
    assert set(names) == set(NAMES)


def test_intervals_without_an_end_sort_where_they_begin(browser: Browser, report: Path) -> None:
    page = visit(browser, report).page
    page.locator("#ratings thead th").nth(2).get_by_role("button").click()
    found = column(page, "Ratings", 2)
    assert found[0].startswith("< ")
    assert found[-1].startswith("> ")
    lows = [float(text.split(" to ")[0]) for text in found[1:-1]]
    assert lows == sorted(lows)


def test_the_keyboard_sorts_too(browser: Browser, report: Path) -> None:
    page = visit(browser, report).page
    head = page.locator("#pairs thead th", has_text="wins")
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    wins = [int(text) for text in column(page, "Pairs, seen from a", 3)]
    assert wins == sorted(wins)
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    wins = [int(text) for text in column(page, "Pairs, seen from a", 3)]
    assert wins == sorted(wins, reverse=True)


@pytest.mark.parametrize("size", [DESKTOP, PHONE, (320, 600)])
def test_the_page_never_scrolls_sideways(
    browser: Browser, report: Path, size: tuple[int, int]
) -> None:
    page = visit(browser, report, size).page
    page.locator("details").evaluate_all("(all) => all.forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_long_tables_scroll_on_a_screen_and_are_whole_in_print(
    browser: Browser, report: Path
) -> None:
    page = visit(browser, report).page
    pairs = page.locator("#pairs .scroll")
    hidden = "(box) => box.scrollHeight - box.clientHeight"
    assert pairs.evaluate(hidden) > 1000
    page.emulate_media(media="print")
    assert pairs.evaluate(hidden) == 0


LUMINANCE: Final = """
const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
function luminance(colour) {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  const [r, g, b] = [...pixel.getImageData(0, 0, 1, 1).data].map((v) => {
    const share = v / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
"""
CONTRASTS: Final = f"""(all) => {{{LUMINANCE}
  const clear = "rgba(0, 0, 0, 0)";
  return all.map((one) => {{
    let back = one;
    while (getComputedStyle(back).backgroundColor === clear) back = back.parentElement;
    const shades = [getComputedStyle(one).color, getComputedStyle(back).backgroundColor];
    const [light, dark] = shades.map(luminance).sort((p, q) => q - p);
    return (light + 0.05) / (dark + 0.05);
  }});
}}"""


def test_text_can_be_read_in_light_and_dark(browser: Browser, report: Path) -> None:
    backgrounds = []
    for scheme in ("light", "dark"):
        page = visit(browser, report, color_scheme=scheme).page
        texts = page.locator("h1, h2, h3, p, li, a, th, td, dt, dd, caption, summary, .who")
        contrasts = texts.evaluate_all(CONTRASTS)
        assert len(contrasts) > 1000
        assert min(contrasts) >= 4.5
        backgrounds.append(
            page.evaluate(
                f"() => {{{LUMINANCE} return luminance(getComputedStyle(document.body)"
                ".backgroundColor); }"
            )
        )
    assert backgrounds[0] > 0.9
    assert backgrounds[1] < 0.05


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
def test_plots_have_a_size_and_labels_do_not_overlap(
    browser: Browser, report: Path, size: tuple[int, int]
) -> None:
    page = visit(browser, report, size).page
    boxes = """(all) => all.map((one) => {
        const box = one.getBoundingClientRect();
        return [box.left, box.right, box.top, box.bottom];
    })"""
    for selector, number in (("svg[role=img]", 12 + 4), ("circle.dot", 12), ("rect.bar", 4)):
        shapes = page.locator(selector).evaluate_all(boxes)
        assert len(shapes) >= number
        for left, right, top, bottom in shapes:
            assert right - left >= 0.4
            assert bottom - top >= 0.4
            assert 0 <= left <= right <= size[0]
    for selector in (".axis text", ".who, .value", ".histogram text"):
        labels = page.locator(selector).evaluate_all(boxes)
        assert len(labels) > 3
        for i, (left, right, top, bottom) in enumerate(labels):
            for other in labels[:i]:
                apart = (
                    left >= other[1] or other[0] >= right or top >= other[3] or other[2] >= bottom
                )
                assert apart, (selector, i)


def test_all_is_there_without_a_script(browser: Browser, report: Path) -> None:
    plain = visit(browser, report, java_script_enabled=False)
    assert plain.said == []
    assert plain.page.locator("button").count() == 0
    scripted = visit(browser, report).page
    assert scripted.locator("button").count() > 0
    shown = [page.locator("main").inner_text() for page in (plain.page, scripted)]
    assert shown[0].split() == shown[1].split()

    moves = plain.page.locator(".game details").first
    assert not moves.locator("li").first.is_visible()
    moves.locator("summary").click()
    assert moves.locator("li").first.is_visible()


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_the_smallest_tournament_has_a_page(browser: Browser, tmp_path: Path, game: str) -> None:
    opened = visit(
        browser, written(tmp_path, tournament(("a", "b"), game=game, draws=False)), PHONE
    )
    assert opened.said == []
    assert opened.page.locator("svg[role=img]").count() == 3
