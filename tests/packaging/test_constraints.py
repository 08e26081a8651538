"""constraints.txt pins all that an install needs: an unpinned torch is a download of gigabytes."""

from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = {"train", "onnx", "ray", "dev"}


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
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
