"""The Gymnasium views with the action mask in the observation."""

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from stable_baselines3.common.env_checker import check_env as sb3_check_env

from war_agents.versus.single import VersusEnv
from war_agents.versus.vector import VersusVectorEnv
from war_envs.registration import GYMNASIUM_IDS, gymnasium_id
from war_envs.testing import check_gymnasium
from war_envs.variant import GAMES

BOTH = pytest.mark.parametrize("game", GAMES)
SHORT: dict[str, Any] = {"minimal": True, "num_ranks": 5, "max_turns": 12, "opponent": "memory"}


@pytest.mark.parametrize("encoding", ["vector", "tokens"])
@pytest.mark.parametrize("id_", GYMNASIUM_IDS)
def test_the_spaces_tell_of_it(id_: str, encoding: str) -> None:
    bare = gymnasium.make(id_, num_ranks=3, encoding=encoding).observation_space
    masked: Any = gymnasium.make(id_, num_ranks=3, encoding=encoding, mask="observation")
    space = masked.observation_space
    assert isinstance(space, spaces.Dict)
    assert set(space) == {"observation", "action_mask"}
    assert space["observation"] == bare
    assert space["action_mask"] == spaces.Box(0, 1, (masked.action_space.n,), np.int8)
    many: Any = gymnasium.make_vec(id_, 2, num_ranks=3, encoding=encoding, mask="observation")
    assert many.single_observation_space == space
    for env in (masked, many):
        shown, _ = env.reset(seed=1)
        assert shown in env.observation_space


@BOTH
def test_it_is_the_same_game_with_the_same_mask(game: str) -> None:
    bare, masked = VersusEnv(game, **SHORT), VersusEnv(game, mask="observation", **SHORT)
    rng = np.random.default_rng(0)
    for seed in range(5):
        result: Any = (*bare.reset(seed=seed)[:1], 0.0, False, False, bare.reset(seed=seed)[1])
        shown, info = masked.reset(seed=seed)
        other: Any = (shown, 0.0, False, False, info)
        while True:
            np.testing.assert_array_equal(other[0]["observation"], result[0])
            np.testing.assert_array_equal(other[0]["action_mask"], result[4]["action_mask"])
            np.testing.assert_equal(other[4], result[4])
            assert not np.shares_memory(other[0]["action_mask"], other[4]["action_mask"])
            assert other[1:4] == result[1:4]
            if result[2] or result[3]:
                assert other[0]["action_mask"].all()  # nothing is left to choose
                break
            action = int(rng.choice(np.flatnonzero(other[0]["action_mask"])))
            result, other = bare.step(action), masked.step(action)


@pytest.mark.parametrize("id_", GYMNASIUM_IDS[::5])
def test_all_checks_pass(id_: str) -> None:
    check_gymnasium(lambda: gymnasium.make(id_, mask="observation", render_mode="ansi", **SHORT))
    for seed in range(5):
        env = gymnasium.make(id_, mask="observation", encoding="tokens", **SHORT)
        env.action_space.seed(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(env.unwrapped, skip_render_check=True)
            sb3_check_env(env)


@pytest.mark.process
@BOTH
@pytest.mark.parametrize("kind", [SyncVectorEnv, AsyncVectorEnv])
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_final_observations_have_it_too(game: str, kind: Any) -> None:
    id_ = gymnasium_id(game, "standard")
    options = {"mask": "observation", "seat": 0, **SHORT}
    theirs = kind([lambda: gymnasium.make(id_, **options)], autoreset_mode=AutoresetMode.SAME_STEP)
    ours: Any = VersusVectorEnv(game, 1, **options)
    results: list[Any] = [one.reset(seed=2) for one in (ours, theirs)]
    ends = 0
    for _ in range(40):
        np.testing.assert_equal(results[0][0], results[1][0])
        actions = results[0][0]["action_mask"].argmax(axis=1)
        results = [one.step(actions) for one in (ours, theirs)]
        if "final_obs" in results[0][4]:
            ends += 1
            one, other = (result[4]["final_obs"][0] for result in results)
            np.testing.assert_equal(one, other)
            assert one in ours.single_observation_space
    assert ends > 1
    theirs.close()


@pytest.mark.parametrize("place", ["obs", "", None, 1, ["info"]], ids=str)
def test_other_places_are_refused(place: Any) -> None:
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(ValueError, match=r"mask=.* choose from info, observation") as caught:
            make(GYMNASIUM_IDS[0], mask=place)
        assert "\n" not in str(caught.value)
