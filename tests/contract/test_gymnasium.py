"""What the field's cases ask of the Gymnasium view, beyond the exported checks."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv

from war_agents import scripted
from war_envs.registration import GYMNASIUM_IDS, gymnasium_id
from war_envs.testing.drivers import GymnasiumDriver, record
from war_envs.variant import GAMES

BOTH = pytest.mark.parametrize("game", GAMES)
FEW: dict[str, Any] = {"minimal": True, "num_ranks": 7, "max_turns": 60}
OTHERWISE: dict[str, Any] = {
    "minimal": True,
    "fair": True,
    "open_cards": True,
    "num_ranks": 5,
    "max_turns": 9,
    "encoding": "tokens",
    "memory": "table",
    "render_mode": "ansi",
    "render_view": "all",
    "seat": 1,
    "opponent": "memory",
}


def standard(game: str) -> str:
    return gymnasium_id(game, "standard")


@pytest.mark.field_case("A04")
@BOTH
def test_the_player_is_paid_what_the_game_says_and_once(game: str) -> None:
    outcomes = set()
    for seed in range(250):
        driver = GymnasiumDriver(gymnasium.make(standard(game), **FEW))
        driver.reset(seed)
        driver_turns = []
        rng = np.random.default_rng(seed)
        while not driver.over:
            mask = driver.turn()["agent"].mask
            driver.act({"agent": int(rng.choice(np.flatnonzero(mask)))})
            driver_turns.append(driver.turn()["agent"])
        total = sum(seen.reward for seen in driver_turns)
        last = driver_turns[-1]
        winner = int(driver.env.unwrapped._raw._position.games[0]["winner"])
        seat = last.info["seat"]
        assert total == (0 if winner < 0 else 1 if winner == seat else -1)
        assert last.reward == total
        assert bool(last.truncated) is ("truncated" in driver.env.unwrapped.outcome)
        outcomes.add(total)
    assert {1.0, -1.0} <= outcomes


@pytest.mark.field_case("A14")
def test_the_illegal_action_and_its_price_come_through_a_vector_env() -> None:
    def make() -> Any:
        return gymnasium.make(standard("strategic-war"))

    venv = SyncVectorEnv([make] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    venv.reset(seed=1)
    _, rewards, terminated, truncated, infos = venv.step(np.array([2, 0]))
    assert rewards.tolist() == [-1.0, 0.0]
    assert terminated.tolist() == [True, False]
    assert not truncated.any()
    final = infos["final_info"]
    assert final["illegal"][0] == final["seat"][0]
    assert final["winner"][0] == 1 - final["seat"][0]


@pytest.mark.field_case("A09", "A10", "A11")
@BOTH
def test_all_options_survive_copies_and_resets(game: str) -> None:
    options = OTHERWISE | ({"own_card": "first"} if game == "attack-defence" else {})
    env = gymnasium.make(standard(game), **options)

    def shown(env: Any) -> Any:
        inner = env.unwrapped
        raw = inner._raw
        views = (raw.encoding, raw.memory, inner.render_mode, raw.render_view)
        return inner.variant, views, inner.opponent.name, env.observation_space, env.action_space

    expected = shown(env)
    assert expected[0].options.items() <= options.items()
    for reset in ({}, {"seed": 5}, {"seed": 5, "options": {}}, {}):
        env.reset(**reset)
        twins: list[Any] = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
        for twin in (*twins, copy.copy(env.unwrapped)):
            assert shown(twin) == expected
            assert twin.unwrapped.seat == 1
            assert twin.spec is not None
            assert twin.spec.kwargs == OTHERWISE | options
            driver = GymnasiumDriver(twin)
            driver.reset()
            assert len(record(driver, 0)) <= 9 * 5 + 1  # rounds with wars, and the end


@pytest.mark.process
@pytest.mark.field_case("A10", "V02")
def test_all_options_reach_a_worker_process() -> None:
    def make() -> Any:
        return gymnasium.make("war_envs:war_envs/AttackDefence-v0", **OTHERWISE)

    alone = make()
    venv = AsyncVectorEnv([make], autoreset_mode=AutoresetMode.SAME_STEP)
    assert venv.single_observation_space == alone.observation_space
    assert venv.single_action_space == alone.action_space
    assert venv.get_attr("variant") == (alone.unwrapped.variant,)
    first, _ = venv.reset(seed=3)
    assert (first[0] == alone.reset(seed=3)[0]).all()
    for _ in range(40):
        observed, reward, terminated, truncated, infos = venv.step(np.zeros(1, np.int64))
        shown = alone.step(0)
        assert (reward[0], terminated[0], truncated[0]) == shown[1:4]
        if shown[2] or shown[3]:
            # The final observation is the true one, though the lane has been dealt anew.
            assert (infos["final_obs"][0] == shown[0]).all()
            shown = alone.reset()
        assert (observed[0] == shown[0]).all()
    venv.close()


@pytest.mark.field_case("S06")
def test_64_lanes_have_64_deals_after_each_reset() -> None:
    def make() -> Any:
        return gymnasium.make(gymnasium_id("attack-defence", "minimal+open-card"), seat=0)

    venv = SyncVectorEnv([make] * 64, autoreset_mode=AutoresetMode.SAME_STEP)
    for seed in (3, None):
        observations, _ = venv.reset(seed=seed)
        assert len({row.tobytes() for row in observations}) == 64


@pytest.mark.field_case("A17")
@BOTH
def test_rewards_and_flags_are_plain_python_for_whole_games(game: str) -> None:
    for opponent in scripted.names(game):
        env = gymnasium.make(standard(game), opponent=opponent, **FEW)
        for seed in range(5):
            _, info = env.reset(seed=seed)
            over = False
            while not over:
                result = env.step(env.action_space.sample(mask=info["action_mask"]))
                _, reward, terminated, truncated, info = result
                assert [type(part) for part in (reward, terminated, truncated)] == [
                    float,
                    bool,
                    bool,
                ]
                over = terminated or truncated


@pytest.mark.field_case("M06")
@pytest.mark.parametrize("id_", GYMNASIUM_IDS)
def test_both_checkers_pass_whatever_actions_they_draw(id_: str) -> None:
    check_for_sb3 = pytest.importorskip("stable_baselines3.common.env_checker").check_env
    env = gymnasium.make(id_, num_ranks=5, encoding="tokens").unwrapped
    for seed in range(20):
        env.action_space.seed(seed)
        check_env(env, skip_render_check=True, skip_close_check=True)
        check_for_sb3(env)
