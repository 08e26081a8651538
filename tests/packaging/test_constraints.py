"""constraints.txt pins all that an install needs: an unpinned torch is a download of gigabytes.

constraints-lowest.txt pins the lowest versions that are allowed, with which the tests are run too.
"""

import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = {"train", "onnx", "ray", "dev"}


def pins(file: str = "constraints.txt") -> dict[str, str]:
    lines = (ROOT / file).read_text().splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pairs}


def needed(requirement: Requirement, seen: dict[tuple[str, str], Requirement]) -> None:
    """Add ``requirement`` and all that it needs to ``seen``, by name and extra."""
    for extra in {"", *requirement.extras}:
        key = (canonicalize_name(requirement.name), extra)
        if key in seen:
            continue
        seen[key] = requirement
        for line in requires(requirement.name) or ():
            child = Requirement(line)
            if child.marker is None or child.marker.evaluate({"extra": extra}):
                needed(child, seen)


def test_every_distribution_that_an_install_needs_is_pinned() -> None:
    seen: dict[tuple[str, str], Requirement] = {}
    needed(Requirement(f"war-envs[{','.join(EXTRAS)}]"), seen)
    assert {name for name, _ in seen} - pins().keys() == {"war-envs"}


@pytest.mark.parametrize("line", requires("war-envs") or ())
def test_the_projects_own_ranges_admit_the_pins(line: str) -> None:
    requirement = Requirement(line)
    assert requirement.specifier.contains(pins()[canonicalize_name(requirement.name)])


def test_torch_is_pinned_without_a_build_tag() -> None:
    assert pins()["torch"] == "2.13.0"


def test_the_lowest_versions_are_the_lower_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lowest = pins("constraints-lowest.txt")
    for line in sum(project["optional-dependencies"].values(), project["dependencies"]):
        requirement = Requirement(line)
        version = lowest[canonicalize_name(requirement.name)]
        bounds = [spec.version for spec in requirement.specifier if spec.operator == ">="]
        assert bounds, f"{line} has no lower bound"
        assert Version(version) == Version(bounds[0]), line
