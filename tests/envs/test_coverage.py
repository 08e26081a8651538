"""With the JIT off, every line and branch of the kernels runs, to the same results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.decks import GAMES
from tests.support.replay import digest_of

ROOT = Path(__file__).parents[2]
FILES = (
    "engine/kernels.py",
    "engine/layout.py",
    *(
        f"{game}/{file}"
        for game in ("attack_defence", "strategic_war")
        for file in ("rules.py", "views.py", "observation.py", "global_state.py")
    ),
)


@pytest.mark.process
@pytest.mark.slow
def test_every_branch_runs_and_plain_python_agrees(tmp_path: Path) -> None:
    sources = [str(ROOT / "war_envs" / file) for file in FILES]
    assert all(Path(source).is_file() for source in sources)
    settings = tmp_path / "coveragerc"
    settings.write_text("\n    ".join(["[run]\nbranch = true\ninclude =", *sources]))
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONHASHSEED": "7",
        "PYTHONPATH": str(ROOT),
        "COVERAGE_FILE": str(tmp_path / "data"),
    }

    def coverage(command: str, *arguments: str) -> str:
        return subprocess.run(
            [sys.executable, "-m", "coverage", command, f"--rcfile={settings}", *arguments],
            cwd=ROOT,
            env=environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout

    printed = coverage("run", "-m", "tests.support.replay")
    assert json.loads(printed) == {game: digest_of(game) for game in GAMES}

    report = tmp_path / "report.json"
    coverage("json", "-o", str(report))
    found = json.loads(report.read_text(encoding="utf-8"))["files"]
    measured = {(ROOT / name).resolve(): content for name, content in found.items()}
    missing = {}
    for source in sources:
        content = measured[Path(source).resolve()]
        lines = [*content["missing_lines"], *content["excluded_lines"]]
        assert content["executed_branches"]
        if lines or content["missing_branches"]:
            missing[source] = lines, content["missing_branches"]
    assert not missing, f"lines and branches that never ran: {missing}"
