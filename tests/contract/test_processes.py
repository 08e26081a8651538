"""What only a process of its own can show: imports, start-up, hash seeds, workers, no display."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.processes import NOTHING, Env, run
from war_envs.registration import PETTINGZOO_IDS

HERE = Path(__file__).parent


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("S02")
def test_games_are_the_same_in_every_process_whatever_the_hash_seed_and_the_threads() -> None:
    path = os.pathsep.join(sys.path)
    digests = {
        run(
            str(HERE / "digest.py"), threads, env={"PYTHONHASHSEED": seed, "PYTHONPATH": path}
        ).stdout
        for seed, threads in (("0", "1"), ("1", "2"), ("2", "3"), ("random", "1"))
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64


HEAVY = ("torch", "pygame", "matplotlib", "stable_baselines3", "sb3_contrib", "tensorboard")


@pytest.mark.process
@pytest.mark.field_case("P01")
@pytest.mark.parametrize("module", ["war_envs", "war_envs.testing", "war_envs.batch", "war_agents"])
def test_an_import_loads_nothing_heavy_and_prints_nothing(module: str) -> None:
    more = ("pytest", "hypothesis", "war_train") + (
        ("war_agents",) if module.startswith("war_envs") else ()
    )
    result = run(
        "-c",
        f"import sys, {module}\n"
        f"loaded = set({(*HEAVY, *more)!r}) & set(sys.modules)\n"
        "assert not loaded, loaded",
    )
    assert result.stdout == result.stderr == ""


def first_step(module: str, env: Env = NOTHING) -> str:
    """What a process says until it has made its first step."""
    code = (
        f"from war_envs import {module}\n"
        f"env = {module}.env()\n"
        "env.reset(seed=1)\n"
        "env.step(0)\n"
        "env.last()\n"
    )
    return run("-c", code, env=env).stderr


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("P01", "P04")
def test_the_first_step_ever_compiles_and_says_so_and_later_processes_say_nothing(
    tmp_path: Path,
) -> None:
    cache: Env = {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = first_step("strategic_war_v0", cache)  # the one with more to compile
    assert said == "war-envs: compiling kernels, which takes some seconds once\n"
    compiled = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert compiled
    assert first_step("strategic_war_v0", cache) == ""
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == compiled


@pytest.mark.process
@pytest.mark.field_case("R02")
def test_all_is_played_without_a_display_or_pygame() -> None:
    code = """
import sys
sys.modules["pygame"] = None  # whoever imports it fails
from war_envs import attack_defence_v0, strategic_war_v0
import gymnasium
for mode in (None, "ansi"):
    for module in (attack_defence_v0, strategic_war_v0):
        env = module.env(render_mode=mode, num_ranks=3)
        env.reset(seed=1)
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if mode:
                assert isinstance(env.render(), str)
            space = env.action_space(agent)
            over = terminated or truncated
            env.step(None if over else space.sample(observation["action_mask"]))
        env.close()
    for name in ("AttackDefence", "StrategicWar"):
        env = gymnasium.make(f"war_envs/{name}-v0", render_mode=mode, num_ranks=3)
        env.reset(seed=1)
        for _ in range(5):
            if mode:
                assert isinstance(env.render(), str)
        env.close()
"""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER", "XDG_RUNTIME_DIR")
    run("-c", code, env=dict.fromkeys(names))


# Registered ids.


@pytest.mark.process
@pytest.mark.field_case("P06", "V05")
def test_ids_are_registered_by_the_import_and_say_so_where_they_are_not() -> None:
    code = """
import gymnasium, importlib, pettingzoo
try:
    gymnasium.make("war_envs/AttackDefence-v0")
except gymnasium.error.NamespaceNotFound as error:
    assert "war_envs" in str(error)
else:
    raise AssertionError("registered without an import")
# The documented way that needs no import of ours.
assert gymnasium.make("war_envs:war_envs/StrategicWar-Minimal-v0").reset(seed=1)
import war_envs
from war_envs.registration import GYMNASIUM_IDS, PETTINGZOO_IDS, register
assert len(GYMNASIUM_IDS) == len(set(GYMNASIUM_IDS)) == 16
for id_ in GYMNASIUM_IDS:
    assert id_.startswith("war_envs/")
    assert gymnasium.spec(id_).namespace == "war_envs"
    assert gymnasium.make(id_).unwrapped.spec.id == id_
for kind, ids in PETTINGZOO_IDS.items():
    for id_ in ids:
        pettingzoo.make(kind, id_).reset(seed=1)
        pettingzoo.make(kind, id_.removesuffix("-v0")).reset(seed=1)
# Twice, without a warning of overriding.
register()
importlib.reload(war_envs)
for make, wrong in (
    (gymnasium.make, "war_envs/AttackDefence-v7"),
    (gymnasium.make, "war_envs/AttackDefense-v0"),
):
    try:
        make(wrong)
    except gymnasium.error.Error as error:
        assert "AttackDefence" in str(error), error
    else:
        raise AssertionError(wrong)
gymnasium.pprint_registry(exclude_namespaces=["classic_control"])
if PETTINGZOO_IDS:  # an older PettingZoo has no registry
    pettingzoo.pprint_registry()
"""
    listed = run("-c", code).stdout
    for name in (
        "war_envs/AttackDefence-Minimal-Fair-OpenCard-v0",
        "war_envs/StrategicWar-Fair-v0",
        *PETTINGZOO_IDS.get("aec", ()),
    ):
        assert name in listed
