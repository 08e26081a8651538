"""Imports point one way, and in no circle: for every module of the three packages."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = {"war_envs": ROOT, "war_agents": ROOT / "agents", "war_train": ROOT / "train"}
# What each package may import of these three.
BELOW = {
    "war_envs": {"war_envs"},
    "war_agents": {"war_agents", "war_envs"},
    "war_train": {"war_train", "war_agents", "war_envs"},
}


def modules() -> dict[str, Path]:
    """Every module by its dotted name."""
    found = {}
    for package, place in PLACES.items():
        for file in sorted((place / package).rglob("*.py")):
            parts = file.relative_to(place).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES = modules()


def imported(file: Path) -> Iterator[str]:
    """What a module imports of the three packages, wherever in it that stands."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else str(node.module) for name in whole]
        else:
            continue
        yield from (name for name in names if name in MODULES)


def others(file: Path) -> Iterator[str]:
    """The top-level packages that a module imports, whosever they are."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]


GRAPH = {name: set(imported(file)) - {name} for name, file in MODULES.items()}


@pytest.mark.parametrize("package", PLACES)
def test_imports_point_one_way(package: str) -> None:
    for name, targets in GRAPH.items():
        if name.split(".")[0] == package:
            assert {target.split(".")[0] for target in targets} <= BELOW[package], name


def test_what_every_run_has_knows_no_method_of_training() -> None:
    rooms = ("war_train.run", "war_train.league")
    for name, file in MODULES.items():
        if name.startswith(rooms):
            assert not any(target.startswith("war_train.ppo") for target in GRAPH[name]), name
            assert not {"stable_baselines3", "sb3_contrib"} & set(others(file)), name


def test_there_is_no_circle() -> None:
    try:
        order = list(TopologicalSorter(GRAPH).static_order())
    except CycleError as error:
        pytest.fail(f"a circle of imports: {' <- '.join(error.args[1])}")
    assert set(order) == set(MODULES)
    assert len(order) > 100
