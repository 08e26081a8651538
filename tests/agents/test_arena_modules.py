"""Where workers find modules, and what of the environment reaches the agents in them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.failures import BAD, play

AGENT = """
import os
import helper

class Mine:
    name, encoding, memory = "mine", "tokens", "perfect"

    def act(self, observation, action_mask, seeds, state=None, starts=None):
        assert os.environ.get("PYTHONPATH") == helper.EXPECTED, os.environ.get("PYTHONPATH")
        return action_mask.argmax(axis=1), None
"""
OWN = ("random", "queue", "types", "json", "pickle", "signal", "numpy", "numba", "cloudpickle")
FOLDER = b"a:b;c two\nlines \xc3\xb6 \xff"


@pytest.mark.process
@pytest.mark.slow
def test_agents_beside_files_of_any_name_in_a_folder_of_any_name_play(tmp_path: Path) -> None:
    home = tmp_path / os.fsdecode(FOLDER)
    home.mkdir()
    given = os.pathsep.join(filter(None, sys.path))
    (home / "mine.py").write_text(AGENT)
    (home / "helper.py").write_text(f"EXPECTED = {given!r}")
    for name in OWN:
        (home / f"{name}.py").write_text("raise SystemExit('this is not it')")
    program = "from war_agents.cli import main; main()"
    arguments = ["tournament", "--game", "attack-defence", "--minimal", "--num-ranks", "3"]
    arguments += ["--agents", "random", "mine:Mine", "--deals", "2", "--workers", "1"]
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments, "--out", "out"],
        env=os.environ | {"PYTHONPATH": given},
        cwd=home,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((home / "out" / "results.json").read_text())["forfeits"] == []


@pytest.mark.slow
@pytest.mark.process
def test_files_where_a_program_is_started_are_not_taken_for_modules_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither where its folder is searched, nor where it is searched first."""
    for module in ("queue", "struct", "random"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('not me')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    assert not play("random", "attack").forfeits
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert not play("random", BAD + "Healthy").forfeits
