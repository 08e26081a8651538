"""Registered ids in worker processes that have not imported the package."""

from pathlib import Path

import pytest

from tests.contract.test_processes import run

WORKERS = Path(__file__).parent / "workers.py"
METHODS = pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])


@METHODS
def test_async_vector_env_makes_an_id_in_its_workers(method: str) -> None:
    assert run(str(WORKERS), method, "async").stdout == "fine\n"


@METHODS
def test_subproc_vec_env_makes_an_id_in_its_workers(method: str) -> None:
    pytest.importorskip("stable_baselines3")
    assert run(str(WORKERS), method, "sb3").stdout == "fine\n"


def test_a_script_without_a_file_may_start_workers() -> None:
    assert run("-c", WORKERS.read_text(), "spawn", "async").stdout == "fine\n"
