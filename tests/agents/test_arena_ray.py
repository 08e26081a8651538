"""Tournaments on a Ray cluster: a real one, on this machine."""

import importlib.util
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.command import WAR
from tests.support.processes import Process, processes, wait_for
from war_agents.arena import Tournament

pytestmark = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray")

# It ends with its standard input, and the cluster with it.
CLUSTER = """
import logging, sys, ray
found = ray.init(
    num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
    object_store_memory=100_000_000,
)
print(found["gcs_address"], flush=True)
sys.stdin.read()
ray.shutdown()
"""
PLAY = """
import json, sys
from war_agents.arena import Tournament
options, place = json.loads(sys.argv[1]), json.loads(sys.argv[2])
print(json.dumps(Tournament(**options, **place).run().to_json()))
"""
BAD = "tests.support.bad_agents:"
OPTIONS: dict[str, Any] = {"game": "attack-defence", "variants": "minimal", "seed": 2}


# The cluster of these tests has a token of its own, which others do not have.
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}


def environment(**more: str) -> dict[str, str]:
    path = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return os.environ | path | TOKEN | more


@pytest.fixture(scope="module")
def cluster() -> "Iterator[tuple[str, int]]":
    """The address of a cluster for two processes, and the process that owns it."""
    owner = subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert owner.stdin
    assert owner.stdout
    with owner:
        address = owner.stdout.readline().strip()
        assert address
        yield address, owner.pid
        ours = {process.pid for process in descendants(owner.pid)}
        owner.stdin.close()
        owner.wait(30)
    wait_for(lambda: not ours & {process.pid for process in processes()})


def descendants(pid: int) -> list[Process]:
    """The processes that come from ``pid``."""
    everybody = processes()
    found, family = [], {pid}
    while new := [p for p in everybody if p.parent in family and p.pid not in family]:
        found += new
        family |= {process.pid for process in new}
    return found


def start(address: str, options: dict[str, Any], **place: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", PLAY, json.dumps(OPTIONS | options), json.dumps(place)],
        env=environment(RAY_ADDRESS=address),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: "subprocess.Popen[str]") -> Any:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])  # Ray says before it what has been killed


def here(options: dict[str, Any]) -> Any:
    played = Tournament(**(OPTIONS | options), workers=0).run()
    return json.loads(json.dumps(played.to_json()))


@pytest.mark.process
@pytest.mark.slow
def test_a_cluster_plays_the_same_games(cluster: tuple[str, int]) -> None:
    agents = ["random", "memory", BAD + "Healthy", BAD + "Raises"]
    options = {"agents": agents, "deals": 3, "variants": ["minimal", "fair"]}
    found = result(start(cluster[0], options, ray="auto"))
    assert {row["agent"] for row in found["forfeits"]} == {BAD + "Raises"}
    assert found == here(options)


@pytest.mark.slow
@pytest.mark.process
def test_an_agent_that_ends_its_process_there_loses_its_games(cluster: tuple[str, int]) -> None:
    options = {"agents": ["random", "attack", BAD + "AlwaysExitsHard"], "deals": 1}
    found = result(start(cluster[0], options, ray=cluster[0]))
    assert [pair["forfeits_b"] for pair in found["pairs"]] == [0, 2, 2]
    assert {row["reason"] for row in found["forfeits"]} == {"ended its process, with exit code 7"}
    assert found["pairs"][0] == here(options | {"agents": ["random", "attack"]})["pairs"][0]


@pytest.mark.process
@pytest.mark.slow
def test_a_killed_process_of_the_cluster_changes_nothing(cluster: tuple[str, int]) -> None:
    address, owner = cluster
    options = {"agents": ["random", "memory", "attack", "defend"], "deals": 8000}
    running = start(address, options, ray="auto")

    def playing() -> list[int]:
        return [p.pid for p in descendants(owner) if p.command.startswith("ray::_play")]

    wait_for(playing, seconds=40)
    time.sleep(0.5)
    os.kill(playing()[0], signal.SIGKILL)
    assert running.poll() is None
    assert result(running) == here(options)


@pytest.mark.process
def test_no_cluster_is_told_in_one_line() -> None:
    arguments = ["--game", "attack-defence", "--agents", "random", "attack"]
    done = subprocess.run(
        [*WAR, "tournament", *arguments, "--ray", "127.0.0.1:1"],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert not done.stdout
    assert done.stderr.startswith("war: ray='127.0.0.1:1' is not allowed; no cluster answers there")
    assert done.stderr.count("\n") == 1


@pytest.mark.process
@pytest.mark.slow
def test_processes_here_and_a_cluster_together_are_refused() -> None:
    with pytest.raises(ValueError, match="workers=2 is not allowed with ray"):
        Tournament(["random", "attack"], **OPTIONS, deals=1, workers=2, ray="auto")
