"""The golden files hold: what a published ``_v0`` gives for a seed never changes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.golden import FOLDER
from tests.golden.playthroughs import PLAYTHROUGHS
from tests.golden.results import RESULTS

# Processors and versions of torch differ in a network's last bits, and a run that learns from
# them by more.
TOLERANCES = {"champions.json": 1e-4, "training.json": 1e-2}
EXACT = 1e-6  # the files hold six decimals


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_a_game_goes_as_it_was_written_down(name: str) -> None:
    assert PLAYTHROUGHS[name]().splitlines() == (FOLDER / name).read_text("utf-8").splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("name", RESULTS)
def test_results_are_what_they_were(name: str) -> None:
    expected = json.loads((FOLDER / name).read_text("utf-8"))
    found = json.loads(json.dumps(RESULTS[name]()))
    assert list(_differences(found, expected, TOLERANCES.get(name, EXACT))) == []


def test_every_golden_file_is_compared() -> None:
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*")}
    written = {name for name in files if name.endswith((".txt", ".json"))}
    assert written == {*PLAYTHROUGHS, *RESULTS}


def _differences(found: Any, expected: Any, tolerance: float, where: str = "") -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        for key in expected:
            yield from _differences(found[key], expected[key], tolerance, f"{where}/{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for i, pair in enumerate(zip(found, expected, strict=True)):
            yield from _differences(*pair, tolerance, f"{where}/{i}")
    elif isinstance(expected, float) and isinstance(found, float):
        if abs(found - expected) > tolerance * max(1.0, abs(expected)):
            yield f"{where} is {found}, was {expected}"
    elif found != expected or type(found) is not type(expected):
        yield f"{where} is {found!r}, was {expected!r}"
