"""The Gymnasium vector environment: the single environment's games, many at once."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from war_agents.versus.vector import VersusVectorEnv
from war_envs.registration import GYMNASIUM_IDS

IDS = {
    "attack-defence": "war_envs/AttackDefence-Minimal-v0",
    "strategic-war": "war_envs/StrategicWar-Minimal-v0",
}
BOTH = pytest.mark.parametrize("game", IDS)


def make(game: str, num_envs: int, **options: Any) -> Any:
    return gymnasium.make_vec(IDS[game], num_envs=num_envs, **options)


def legal(mask: np.ndarray[Any, Any], rng: np.random.Generator) -> np.ndarray[Any, Any]:
    choices: np.ndarray[Any, Any] = (rng.random(mask.shape) * mask).argmax(axis=1)
    return choices


@pytest.mark.parametrize("id_", GYMNASIUM_IDS)
def test_every_id_makes_it_and_tells_the_truth_about_itself(id_: str) -> None:
    envs: Any = gymnasium.make_vec(id_, num_envs=3, max_turns=5)
    assert isinstance(envs.unwrapped, VersusVectorEnv)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    assert envs.spec.id == id_
    rng = np.random.default_rng(0)
    observations, infos = envs.reset(seed=1)
    for _ in range(20):
        assert observations in envs.observation_space
        actions = legal(infos["action_mask"], rng)
        assert actions in envs.action_space
        observations, *_, infos = envs.step(actions)
    envs.close()
    envs.close()


@pytest.mark.field_case("V01")
@BOTH
@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("encoding", ["vector", "tokens"])
def test_row_0_plays_the_games_of_the_single_environment(
    game: str, seat: int, encoding: str
) -> None:
    options: dict[str, Any] = {
        "opponent": "memory",
        "seat": seat,
        "encoding": encoding,
        "max_turns": 40,
    }
    envs = make(game, 3, **options)
    env = gymnasium.make(IDS[game], **options)
    rng = np.random.default_rng(1)
    observations, infos = envs.reset(seed=9)
    observation, info = env.reset(seed=9)
    endings = set()
    for _ in range(700):
        assert np.array_equal(observations[0], observation)
        assert np.array_equal(infos["action_mask"][0], info["action_mask"])
        # Now and then any action, which may be illegal.
        mask = infos["action_mask"] if rng.random() < 0.97 else np.ones_like(infos["action_mask"])
        actions = legal(mask, rng)
        observations, rewards, terminations, truncations, infos = envs.step(actions)
        observation, reward, terminated, truncated, info = env.step(actions[0])
        assert (rewards[0], terminations[0], truncations[0]) == (reward, terminated, truncated)
        ended = terminated or truncated
        assert bool(infos.get("_final_obs", np.zeros(3))[0]) == ended
        if ended:
            assert np.array_equal(infos["final_obs"][0], observation)
            final = infos["final_info"]
            assert final["_seat"][0]
            for key in info:
                np.testing.assert_array_equal(final[key][0], info[key], strict=True)
            endings.add((reward, truncated, info["illegal"] >= 0))
            observation, info = env.reset()
    assert len(endings) >= 2, endings


@BOTH
def test_a_row_is_the_same_among_any_number(game: str) -> None:
    few, many = (make(game, number, opponent="memory") for number in (2, 9))
    rng = np.random.default_rng(2)
    first, infos = few.reset(seed=4)
    second, _ = many.reset(seed=4)
    for _ in range(150):
        assert np.array_equal(first, second[:2])
        actions = np.concatenate([legal(infos["action_mask"], rng), np.zeros(7, int)])
        actions[2:] = many.unwrapped.action_masks()[2:].argmax(axis=1)
        first, *_, infos = few.step(actions[:2])
        second, *_ = many.step(actions)


@BOTH
def test_seats_take_turns_unless_one_is_given(game: str) -> None:
    seats: dict[Any, set[int]] = {}
    for seat in (None, 0, "player_1"):
        envs = make(game, 4, seat=seat, max_turns=3)
        _, infos = envs.reset(seed=5)
        rng = np.random.default_rng(3)
        seats[seat] = set(infos["seat"].tolist())
        for _ in range(30):
            *_, infos = envs.step(legal(infos["action_mask"], rng))
            seats[seat] |= set(infos["seat"].tolist())
    assert seats == {None: {0, 1}, 0: {0}, "player_1": {1}}


@pytest.mark.field_case("V03")
@BOTH
def test_what_is_returned_stays_the_callers(game: str) -> None:
    envs, twin = make(game, 5, max_turns=6), make(game, 5, max_turns=6)
    observations, infos = envs.reset(seed=6)
    twin.reset(seed=6)
    rng = np.random.default_rng(4)
    for _ in range(40):
        actions = legal(infos["action_mask"], rng)
        result, expected = envs.step(actions), twin.step(actions)
        for ours, theirs in zip(result[:4], expected[:4], strict=True):
            assert np.array_equal(ours, theirs)
        observations, infos = result[0], result[4]
        kept = infos["action_mask"].copy()
        for array in (*result[:4], infos["action_mask"], infos["seat"]):
            array[...] = 1
        infos["action_mask"] = kept
    assert observations.all()


def test_wrong_arguments_are_named_and_change_nothing() -> None:
    envs = make("attack-defence", 2)
    with pytest.raises(RuntimeError, match="reset"):
        envs.unwrapped.step(np.zeros(2, int))
    envs.reset(seed=7)
    before = envs.unwrapped.action_masks()
    for wrong in (np.zeros(3, int), np.zeros(2), np.array([0, 2]), np.array([-1, 0]), None):
        with pytest.raises(ValueError, match="actions"):
            envs.unwrapped.step(wrong)
    wrong_resets: tuple[dict[str, Any], ...] = (
        {"seed": -1},
        {"seed": "x"},
        {"options": {"hands": []}},
        {"options": {"first_attacker": 0}},
        {"options": {"resetmask": np.ones(2, bool)}},
        {"options": [1]},
    )
    for arguments in wrong_resets:
        with pytest.raises(ValueError, match=r"^(seed|option)"):
            envs.reset(**arguments)
    with pytest.warns(UserWarning, match="ignores unknown options: 'x'"):
        envs.unwrapped.clone().reset(options={"x": 1})
    assert np.array_equal(before, envs.unwrapped.action_masks())
    for options in (
        {"seat": 2},
        {"num_ranks": 4},
        {"render_mode": "ansi"},
        {"encoding": "pixels"},
    ):
        with pytest.raises(ValueError, match=next(iter(options))):
            make("attack-defence", 2, **options)
    with pytest.raises(ValueError, match="game='strategic-war' is not allowed"):
        gymnasium.make_vec(IDS["attack-defence"], num_envs=2, game="strategic-war")
    with pytest.raises(ValueError, match="agent 'nobody' is unknown"):
        make("attack-defence", 2, opponent="nobody")


@BOTH
@pytest.mark.parametrize("mode", AutoresetMode)
def test_infos_have_the_same_keys_and_dtypes_at_every_step(game: str, mode: AutoresetMode) -> None:
    """And those of Gymnasium's own, in the same mode."""
    options: dict[str, Any] = {"opponent": "memory", "seat": 0, "max_turns": 8, "num_ranks": 5}
    id_ = IDS[game]
    ours = gymnasium.make_vec(id_, 1, autoreset_mode=mode, **options)
    how: dict[str, Any] = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": mode}}
    theirs = gymnasium.make_vec(id_, 1, **how, **options)
    results: list[Any] = [envs.reset(seed=3) for envs in (ours, theirs)]
    rng, ends = np.random.default_rng(5), 0
    for _ in range(80):
        infos, expected = (result[-1] for result in results)
        assert set(infos) == set(expected)
        assert_same_infos(infos, expected)
        ended = mode is AutoresetMode.DISABLED and len(results[0]) > 2 and results[0][2:4]
        if ended and (ended[0] | ended[1]).any():
            ends += 1
            results = [
                envs.reset(options={"reset_mask": np.ones(1, bool)}) for envs in (ours, theirs)
            ]
            continue
        mask = infos["action_mask"] if rng.random() < 0.95 else np.ones_like(infos["action_mask"])
        actions = legal(mask, rng)
        results = [envs.step(actions) for envs in (ours, theirs)]
        ends += int((results[0][2] | results[0][3]).sum())
    assert ends > 5


def assert_same_infos(infos: dict[str, Any], expected: dict[str, Any]) -> None:
    assert set(infos) == set(expected)
    for key, value in infos.items():
        if isinstance(value, dict):
            assert_same_infos(value, expected[key])
        elif key == "final_obs":
            np.testing.assert_array_equal(value[0], expected[key][0], strict=True)
        else:
            np.testing.assert_array_equal(value, expected[key], strict=True)
