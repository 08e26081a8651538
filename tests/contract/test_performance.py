"""Threads and memory of everything that plays: neither grows with games."""

import gc
import random
import tracemalloc
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.support.envs import pettingzoo_env
from tests.support.memory import SLACK, grown
from tests.support.processes import run
from war_agents import make as make_agent
from war_agents.arena import play_match, run_tournament
from war_envs.batch import make_batch
from war_envs.registration import gymnasium_id
from war_envs.variant import GAMES, make_variant

BOTH = pytest.mark.parametrize("game", GAMES)
SMALL: dict[str, Any] = {"minimal": True, "num_ranks": 3}


# --- threads ---


@pytest.mark.process
@pytest.mark.field_case("F01")
@pytest.mark.parametrize("threads", [None, "3"])
def test_an_import_leaves_the_number_of_threads_alone(threads: str | None) -> None:
    code = """
import os
before = dict(os.environ)
import war_envs.batch, war_agents.arena, war_agents.cli
assert dict(os.environ) == before
"""
    run("-c", code, env={"OMP_NUM_THREADS": threads})


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("F01")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="/proc counts the threads")
def test_playing_starts_no_threads() -> None:
    code = """
from pathlib import Path
import gymnasium
import numpy as np
import scipy.linalg  # whose BLAS has threads of its own
import war_envs
from war_agents.arena import run_tournament
from war_envs.batch import make_batch

def threads():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Threads:"))

def play():
    for game, name in (("attack-defence", "AttackDefence"), ("strategic-war", "StrategicWar")):
        batch = make_batch(game, 1000, "minimal")  # enough to share, if threads were wanted
        batch.reset(1)
        for _ in range(3):
            _, mask = batch.observe(encoding="vector")
            batch.step(mask.argmax(-1))
        envs = gymnasium.make_vec(f"war_envs/{name}-v0", num_envs=1000, opponent="memory")
        _, infos = envs.reset(seed=1)
        for _ in range(3):
            *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
        run_tournament(["random", "memory"], game=game, deals=50, seed=1)

before = threads()
counts = []
for _ in range(4):
    play()
    counts.append(threads())
assert counts == [before] * 4, (before, counts)
"""
    run("-c", code, env={"OMP_NUM_THREADS": None})


# --- memory ---


def aec(game: str) -> Any:
    name = {"attack-defence": "attack_defence", "strategic-war": "strategic_war"}[game]
    return pettingzoo_env("aec", name, **SMALL)


@pytest.mark.slow
@pytest.mark.field_case("F04")
@BOTH
def test_resets_of_one_environment_leave_nothing(game: str) -> None:
    env, single = aec(game), gymnasium.make(gymnasium_id(game, "minimal"), num_ranks=3)

    def work() -> None:
        for _ in range(100):
            env.reset()
            single.reset()
        env.reset(seed=1)
        single.reset(seed=1)

    assert grown(work, warm=2, times=20) < SLACK  # 4,000 resets


@pytest.mark.slow
@pytest.mark.field_case("F04")
@BOTH
def test_games_of_one_environment_leave_nothing(game: str) -> None:
    env, single = aec(game), gymnasium.make(gymnasium_id(game, "minimal"), num_ranks=3)
    choose = random.Random(1).choice

    def work() -> None:
        for _ in range(10):
            env.reset()
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                over = terminated or truncated
                legal = np.flatnonzero(observation["action_mask"])
                env.step(None if over else int(choose(legal)))
            _, info = single.reset()
            over = False
            while not over:
                legal = np.flatnonzero(info["action_mask"])
                _, _, terminated, truncated, info = single.step(int(choose(legal)))
                over = terminated or truncated

    assert grown(work, warm=2, times=20) < SLACK  # 400 games


@pytest.mark.slow
@pytest.mark.field_case("F04")
@BOTH
def test_steps_of_many_games_leave_nothing(game: str) -> None:
    batch = make_batch(game, 64, **SMALL)
    batch.reset(seed=1)
    native: Any = gymnasium.make_vec(
        gymnasium_id(game, "minimal"), num_envs=64, num_ranks=3, opponent="memory"
    )
    infos = native.reset(seed=1)[1]
    rng = np.random.default_rng(1)

    def choose(mask: Any) -> Any:
        return (rng.random(mask.shape) * mask).argmax(axis=-1)

    def work() -> None:
        nonlocal infos
        for _ in range(20):
            batch.step(choose(batch.observe()[1]))
            batch.observe(encoding="vector", copy=False)
            infos = native.step(choose(infos["action_mask"]))[4]
        batch.reset()
        infos = native.reset()[1]

    assert grown(work, warm=8, times=10) < SLACK


@pytest.mark.field_case("F04")
@BOTH
def test_an_agent_that_is_asked_again_and_again_keeps_nothing(game: str) -> None:
    agents = [make_agent(name, game=game, variant="minimal") for name in ("random", "memory")]
    batch = make_batch(game, 50, "minimal")
    batch.reset(seed=1)
    rows, seeds = np.arange(50), np.arange(50, dtype=np.uint64)
    positions = []
    for agent in agents:
        seats = rows % 2 if game == "attack-defence" else batch.mover
        positions.append(batch.observe(rows, seats, encoding=agent.encoding, memory=agent.memory))

    def work() -> None:
        for agent, (observation, mask) in zip(agents, positions, strict=True):
            agent.act(observation, mask, seeds)

    assert grown(work, warm=20, times=400) < SLACK


@pytest.mark.slow
@pytest.mark.field_case("F04")
@BOTH
def test_matches_and_tournaments_keep_their_results_only(game: str) -> None:
    variant = make_variant(game, **SMALL)

    def match(deals: int) -> Any:
        return play_match(
            "random", "memory", game=game, variant=variant, deals=deals, seed=1, chunk_games=64
        )

    def work() -> None:
        match(100)
        run_tournament(["random", "memory"], game=game, variant=variant, deals=100, seed=1)

    # NumPy keeps some small arrays of every size, of which there are many here; the results of one
    # match are 2 KB and more.
    assert grown(work, warm=3, times=12) < 40 * 1024
    # A longer match holds more results; of the games it holds no more at once.
    results, peaks = [], []
    for deals in (64, 512):
        gc.collect()
        tracemalloc.start()
        results.append(match(deals))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    short, long = (sum(a.nbytes for a in (r.results, r.lengths, r.truncated)) for r in results)
    assert long == 8 * short
    assert peaks[1] - peaks[0] < long + 128 * 1024
