"""``war bench``: what its lines hold."""

import functools
import importlib
import inspect
import json
from types import ModuleType
from typing import Any

import pytest

from tests.support.command import as_command
from war_agents.bench import SECTIONS, Section, tournament
from war_agents.bench.measure import rate
from war_agents.bench.report import figure
from war_agents.cli import main
from war_train.bench import train

KEYS = {"name", "variant", "batch", "threads", "unit", "includes", "median", "min", "max"}
KEYS |= {"machine", "versions"}
QUICK: dict[Section, dict[str, Any]] = {
    "batch": {"seconds": 0.01, "batch": 32, "large": 64},
    "aec": {"seconds": 0.3},
    "vec": {"seconds": 0.01, "batch": 32},
    "train": {"seconds": 0.0, "repeats": 1},
    "tournament": {"seconds": 0.0, "deals": 2, "repeats": 1},
}
NAMES: dict[Section, set[str]] = {
    "batch": {
        f"batch/{game}/{kind}"
        for game in ("attack-defence", "strategic-war")
        for kind in (
            "tokens",
            "tokens/speed-up",
            "vector",
            "vector/numpy-copy",
            "vector/share-of-copy",
        )
    },
    "aec": {
        f"aec/{game}/{kind}"
        for game in ("attack-defence", "strategic-war", "trivial")
        for kind in ("raw", "env", "wrappers")
    },
    "vec": {
        f"vec/{game}/{kind}"
        for game in ("attack-defence", "strategic-war")
        for kind in ("gymnasium/vector", "gymnasium/tokens", "self-play")
    },
    "train": {"train/self-play", "train/ceiling", "train/share-of-ceiling"},
    "tournament": {"tournament/scripted"},
}


def bench(
    section: Section,
    *arguments: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What the command prints when it measures for a moment only."""
    module = importlib.import_module(
        f"{'war_train' if section == 'train' else 'war_agents'}.bench.{section}"
    )
    monkeypatch.setattr(module, "run", functools.partial(module.run, **QUICK[section]))
    with as_command("bench", section, *arguments):
        main()
    return str(capsys.readouterr().out)


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_json_lines(
    section: Section, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = bench(section, "--json", monkeypatch=monkeypatch, capsys=capsys)
    lines: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert {line["name"] for line in lines} == NAMES[section]
    for line in lines:
        assert line.keys() >= KEYS
        assert line["min"] <= line["median"] <= line["max"], line
        # What wrappers add is a difference, which a moment's stop may turn over in one repeat.
        assert line["median" if line["name"].endswith("/wrappers") else "min"] > 0, line
        assert line["batch"] >= 1
        assert line["threads"] >= 1
        assert line["versions"]["war-envs"]
        assert line["includes"]
    assert all(line["repeats"] == QUICK[section].get("repeats", 5) for line in lines)
    if section == "batch":
        assert {line["threads"] for line in lines} == {1, 2}


@pytest.mark.parametrize("section", [train, tournament])
def test_five_repeats_are_the_default(section: ModuleType) -> None:
    assert inspect.signature(section.run).parameters["repeats"].default == 5


def test_the_table_shows_every_measurement(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = bench("aec", monkeypatch=monkeypatch, capsys=capsys)
    assert all(name in out for name in NAMES["aec"])
    assert "full games" in out
    assert "\x1b" not in out
    assert "…" not in out


def test_only_the_work_is_timed_and_counted() -> None:
    calls: list[str] = []

    def work() -> int:
        calls.append("work")
        return 3

    assert rate(work, 0.0, lambda: calls.append("prepare")) > 0
    assert calls == ["prepare", "work"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.123"),
        (8.97, "8.97"),
        (123.4, "123"),
        (64_231.0, "64,200"),
        (1e7, "10,000,000"),
    ],
)
def test_figures(value: float, text: str) -> None:
    assert figure(value) == text
