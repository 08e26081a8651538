"""Registered ids in worker processes that have not imported the package."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import run

WORKERS = Path(__file__).parent / "workers.py"
METHODS = pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("S06", "V05")
@METHODS
def test_async_vector_env_makes_an_id_in_its_workers(method: str) -> None:
    assert run(str(WORKERS), method, "async").stdout == "fine\n"


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("S06", "V05")
@pytest.mark.parametrize("method", ["forkserver", "fork"])  # of which the first is its own
def test_subproc_vec_env_makes_an_id_in_its_workers(method: str) -> None:
    pytest.importorskip("stable_baselines3")
    assert run(str(WORKERS), method, "sb3").stdout == "fine\n"


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("V05")
def test_a_script_without_a_file_may_start_workers() -> None:
    assert run("-c", WORKERS.read_text(), "spawn", "async").stdout == "fine\n"


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("V05")
def test_a_script_from_standard_input_may_start_workers() -> None:
    # Forked ones: the others read the script again, which Python cannot do here.
    assert run("-", "fork", "async", typed=WORKERS.read_text()).stdout == "fine\n"


@pytest.mark.process
@pytest.mark.field_case("V05")
def test_an_id_without_its_module_fails_in_a_spawned_worker_and_names_what_is_missing(
    tmp_path: Path,
) -> None:
    script = tmp_path / "bare.py"
    script.write_text("""
import gymnasium

def make():
    return gymnasium.make("war_envs/AttackDefence-v0")

if __name__ == "__main__":
    import war_envs  # which the workers do not do

    gymnasium.vector.AsyncVectorEnv([make] * 2, context="spawn").reset(seed=1)
""")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "Namespace war_envs not found" in done.stderr
