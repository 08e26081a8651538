"""Wrappers of Gymnasium around the ids, single and vector."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers
from gymnasium.vector import AutoresetMode
from packaging.version import Version

from war_envs.registration import gymnasium_id

SHORT: dict[str, Any] = {"num_ranks": 5, "max_turns": 20, "opponent": "random"}
SAME_STEP = pytest.param(
    AutoresetMode.SAME_STEP,
    marks=pytest.mark.skipif(
        Version(gymnasium.__version__) < Version("1.4"),
        reason="Gymnasium before 1.4 miscounts where games are reset in the same step",
    ),
)


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_wrappers_of_gymnasium_and_the_way_through_a_spec(game: str) -> None:
    env: Any = gymnasium.make(gymnasium_id(game, "minimal"), **SHORT)
    env = wrappers.RecordEpisodeStatistics(wrappers.TimeLimit(env, 1000))
    env = wrappers.FrameStackObservation(env, 3)
    env = wrappers.Autoreset(wrappers.FlattenObservation(env))
    twin = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    rng, played, last = np.random.default_rng(1), 0, {}
    (seen, info), (seen_too, _) = env.reset(seed=1), twin.reset(seed=1)
    for _ in range(200):
        np.testing.assert_array_equal(seen, seen_too)
        assert seen in env.observation_space
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        seen, _, terminated, truncated, info = env.step(action)
        seen_too = twin.step(action)[0]
        if terminated or truncated:
            played, last = played + 1, info
    assert played > 3
    assert last["episode"]["l"] > 1


@pytest.mark.parametrize("mode", [SAME_STEP, AutoresetMode.NEXT_STEP])
def test_episode_statistics_of_vector_environments_are_those_of_the_games(
    mode: AutoresetMode,
) -> None:
    envs: Any = gymnasium.make_vec(
        gymnasium_id("strategic-war", "minimal"), num_envs=3, autoreset_mode=mode, **SHORT
    )
    envs = wrappers.vector.RecordEpisodeStatistics(envs)
    rng, games = np.random.default_rng(1), 0
    _, infos = envs.reset(seed=1)
    lengths, returns, over = np.zeros(3, int), np.zeros(3), np.zeros(3, bool)
    for _ in range(100):
        fresh = over & (mode is AutoresetMode.NEXT_STEP)  # the step that deals anew is none
        actions = (rng.random(infos["action_mask"].shape) * infos["action_mask"]).argmax(axis=1)
        _, rewards, terminated, truncated, infos = envs.step(actions)
        lengths += ~fresh
        returns += rewards
        over = terminated | truncated
        if over.any():
            np.testing.assert_array_equal(infos["episode"]["l"][over], lengths[over])
            np.testing.assert_array_equal(infos["episode"]["r"][over], returns[over])
            games += over.sum()
            lengths[over], returns[over] = 0, 0
    assert games > 20
