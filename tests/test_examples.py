"""Every example runs as it stands, from anywhere, and says what it promises."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
LAST_LINES = {
    "random_play.py": "after ",
    "gymnasium_loop.py": "random play against memory, ten games: ",
    "own_agent.py": "against memory   0.",
    "position.py": "  (['7D', 'TC', 'KS'], ['2C', 'AH'])",
    "train_and_evaluate.py": "champion 0.",
    "plain_ppo.py": "against random 0.",
    "recurrent_ppo.py": "forgetting  0.",
    "league_agent.py": "tit-for-tat 0.",
}
# Training takes its number of steps as an argument; the default is for a person with a minute.
STEPS = {
    "train_and_evaluate.py": "4096",
    "plain_ppo.py": "4096",
    "recurrent_ppo.py": "4096",
    "league_agent.py": "4096",
}


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(LAST_LINES)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("name", LAST_LINES)
def test_example(name: str, tmp_path: Path) -> None:
    arguments = [STEPS[name]] if name in STEPS else []
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(LAST_LINES[name])
    assert not list(tmp_path.iterdir())
