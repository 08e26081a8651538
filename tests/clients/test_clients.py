"""The examples for other libraries run as they stand, and choose nothing that is illegal.

Most need an environment of their own, which ``make test-clients`` makes under ``.venvs``; set
WAR_CLIENTS to look for them in another folder. Those are marked ``clients`` and left out otherwise.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/clients"
VENVS = Path(os.environ.get("WAR_CLIENTS", ROOT / ".venvs"))

# The environment that each needs.
CLIENTS = {
    "agilerl_dqn.py": "agilerl",
    "minari_dataset.py": "farama",
    "rl_zoo3_ppo.py": "rl_zoo3",
    "rllib_ppo.py": "rllib",
    "supersuit_vector.py": "farama",
    "tianshou_dqn.py": "tianshou",
    "torchrl_gymnasium.py": "torchrl",
    "torchrl_self_play.py": "torchrl",
}
# Those that ours is enough for, and their arguments: the default is for a person with a minute.
OURS = {"maskable_ppo.py": ["1024"]}


def run(python: str, name: str, cwd: Path, *arguments: str) -> None:
    done = subprocess.run(
        [python, str(EXAMPLES / name), *arguments],
        cwd=cwd,
        env=os.environ | {"RAY_AUTH_MODE": "disabled"},  # else Ray writes a token into the home
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"illegal moves: 0 of [1-9]\d*", done.stdout.splitlines()[-1])
    assert not list(cwd.iterdir())


def test_every_example_is_run_and_every_environment_pinned() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(CLIENTS) | set(OURS)
    pinned = {path.stem.removeprefix("requirements-") for path in EXAMPLES.glob("*.txt")}
    assert pinned == set(CLIENTS.values())
    made = re.search(r"^CLIENTS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert made
    assert set(made[1].split()) == pinned


def test_every_example_has_its_recipe() -> None:
    page = (ROOT / "docs/clients.md").read_text()
    for name in {**CLIENTS, **OURS}:
        assert f"(../examples/clients/{name})" in page


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("name", OURS)
def test_in_this_environment(name: str, tmp_path: Path) -> None:
    run(sys.executable, name, tmp_path, *OURS[name])


@pytest.mark.clients
@pytest.mark.parametrize("name", CLIENTS)
def test_in_its_own_environment(name: str, tmp_path: Path) -> None:
    run(str(VENVS / CLIENTS[name] / "bin/python"), name, tmp_path)
