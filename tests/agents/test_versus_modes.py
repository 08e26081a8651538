"""Autoreset of the Gymnasium vector environment, in each of Gymnasium's modes."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import vector as wrappers
from numpy.typing import NDArray

from war_envs.registration import gymnasium_id
from war_envs.variant import GAMES

BOTH = pytest.mark.parametrize("game", GAMES)
MODES = pytest.mark.parametrize("mode", AutoresetMode)
PLACES = pytest.mark.parametrize("place", ["info", "observation"])
SHORT: dict[str, Any] = {"minimal": True, "num_ranks": 5, "max_turns": 12, "opponent": "memory"}


def make(game: str, number: int, mode: Any, **options: Any) -> Any:
    id_ = gymnasium_id(game, "standard")
    return gymnasium.make_vec(id_, number, autoreset_mode=mode, **SHORT | options)


def legal(mask: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    return np.asarray((rng.random(mask.shape) * mask).argmax(axis=-1), np.int64)


def alone(place: str, observations: Any) -> NDArray[Any]:
    """The observations without their masks."""
    shown = observations["observation"] if place == "observation" else observations
    return np.asarray(shown)


@MODES
@pytest.mark.parametrize("spelt", ["member", "value"])
def test_the_mode_is_told_by_each_instance(mode: AutoresetMode, spelt: str) -> None:
    given = mode if spelt == "member" else mode.value
    envs, other = make("attack-defence", 2, given), make("attack-defence", 2, "SameStep")
    assert envs.autoreset_mode is envs.metadata["autoreset_mode"] is mode
    assert other.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    default: Any = gymnasium.make_vec(gymnasium_id("attack-defence", "standard"), 2)
    assert default.autoreset_mode is AutoresetMode.SAME_STEP


@pytest.mark.parametrize("mode", ["same-step", "", None, 1, ["SameStep"]], ids=str)
def test_other_modes_are_refused(mode: Any) -> None:
    with pytest.raises(ValueError, match=r"autoreset_mode=.* is not allowed; choose from NextStep"):
        make("attack-defence", 2, mode)


@pytest.mark.field_case("V01")
@BOTH
@MODES
@PLACES
def test_row_0_is_what_gymnasiums_own_makes_of_the_single_environment(
    game: str, mode: AutoresetMode, place: str
) -> None:
    options = {**SHORT, "seat": 1, "mask": place}
    id_ = gymnasium_id(game, "standard")
    theirs = SyncVectorEnv([lambda: gymnasium.make(id_, **options)], autoreset_mode=mode)
    ours = make(game, 3, mode, seat=1, mask=place)
    assert ours.single_observation_space == theirs.single_observation_space
    assert ours.single_action_space == theirs.single_action_space
    rng = np.random.default_rng(3)
    observations, infos = ours.reset(seed=6)
    expected: Any = theirs.reset(seed=6)
    over, ends = np.zeros(3, bool), 0
    result: Any
    for _ in range(120):
        np.testing.assert_array_equal(alone(place, observations)[0], alone(place, expected[0])[0])
        mask = infos["action_mask"]
        np.testing.assert_array_equal(mask[0], expected[-1]["action_mask"][0])
        assert observations in ours.observation_space
        if place == "observation":
            np.testing.assert_array_equal(observations["action_mask"], mask)
        # Now and then any action, which may be illegal; where a row is reset, it is ignored.
        actions = legal(mask if rng.random() < 0.95 else np.ones_like(mask), rng)
        if mode is AutoresetMode.NEXT_STEP:
            actions[over] = 99
        observations, *result, infos = ours.step(actions)
        expected = theirs.step(actions[:1])
        for one, other in zip(result, expected[1:4], strict=True):
            assert one.dtype == other.dtype
            assert one[0] == other[0]
        final = {key for key in infos if "final" in key}
        same_step_end = mode is AutoresetMode.SAME_STEP and bool((result[1] | result[2]).any())
        assert bool(final) == same_step_end
        over = result[1] | result[2]
        ends += over[0]
        if over[0] and mode is AutoresetMode.SAME_STEP:
            last, their_last = infos["final_obs"][0], expected[4]["final_obs"][0]
            np.testing.assert_array_equal(alone(place, last), alone(place, their_last))
            assert last in ours.single_observation_space
            if place == "observation":
                assert last["action_mask"].all()
        if mode is AutoresetMode.DISABLED and over.any():
            observations, infos = ours.reset(options={"reset_mask": over})
            if over[0]:
                expected = theirs.reset()
            over = np.zeros(3, bool)
    assert ends > 5


@BOTH
def test_all_rows_play_the_same_games_in_each_mode(game: str) -> None:
    """Row by row, leaving out the steps that deal anew, all modes show the same."""
    histories: dict[AutoresetMode, list[list[Any]]] = {}
    for mode in AutoresetMode:
        envs = make(game, 6, mode)
        rows: list[list[Any]] = [[] for _ in range(6)]
        observations, infos = envs.reset(seed=8)
        over = np.zeros(6, bool)
        for _ in range(150):
            # A choice that follows from what is seen alone.
            sums = observations.sum(axis=1, dtype=np.float64) * 1000
            actions = np.array(
                [
                    np.flatnonzero(mask)[int(total) % mask.sum()]
                    for mask, total in zip(infos["action_mask"], sums, strict=True)
                ]
            )
            observations, rewards, terminated, truncated, infos = envs.step(actions)
            ended = terminated | truncated
            for i in np.flatnonzero(~over) if mode is AutoresetMode.NEXT_STEP else range(6):
                last = observations[i]
                if ended[i] and mode is AutoresetMode.SAME_STEP:
                    last = infos["final_obs"][i]
                rows[i].append((last.tobytes(), rewards[i], terminated[i], truncated[i]))
            if mode is AutoresetMode.NEXT_STEP:
                assert not rewards[over].any()
                assert not ended[over].any()
            over = ended
            if mode is AutoresetMode.DISABLED and over.any():
                observations, infos = envs.reset(options={"reset_mask": over})
        histories[mode] = rows
    for i in range(6):
        lanes = [histories[mode][i] for mode in AutoresetMode]
        shortest = min(map(len, lanes))
        assert sum(row[2] or row[3] for row in lanes[0][:shortest]) > 3
        assert all(lane[:shortest] == lanes[0][:shortest] for lane in lanes)


@BOTH
def test_without_autoreset_games_that_are_over_must_be_dealt_anew(game: str) -> None:
    envs, twin = make(game, 4, "Disabled"), make(game, 4, "Disabled")
    rng = np.random.default_rng(1)
    for one in (envs, twin):
        observations, infos = one.reset(seed=2)
    over = np.zeros(4, bool)
    while not over.any():
        actions = legal(infos["action_mask"], rng)
        for one in (envs, twin):
            observations, _, terminated, truncated, infos = one.step(actions)
        over = terminated | truncated
    assert infos["action_mask"][over].all()  # nothing is left to choose
    rows = np.flatnonzero(over).tolist()
    with pytest.raises(ValueError, match=rf"games of rows \[{rows[0]}.* are over.*reset_mask"):
        envs.step(legal(infos["action_mask"], rng))
    wrong: tuple[Any, ...] = (
        [True] * 4,
        np.ones(3, bool),
        np.ones(4, int),
        np.zeros(4, bool),
        None,
    )
    for mask in wrong:
        with pytest.raises(ValueError, match="reset_mask="):
            envs.reset(options={"reset_mask": mask})
    for seed in (-1, "x"):
        with pytest.raises(ValueError, match="seed="):
            envs.reset(seed=seed, options={"reset_mask": over})
    options = {"reset_mask": over.copy()}
    shown, infos = envs.reset(options=options)
    np.testing.assert_array_equal(options["reset_mask"], over)  # the caller's, too
    other, _ = twin.reset(options={"reset_mask": over})
    np.testing.assert_array_equal(shown, other)
    np.testing.assert_array_equal(shown[~over], observations[~over])
    assert (shown[over] != observations[over]).any(axis=1).all()
    assert infos["_action_mask"].all()
    envs.step(legal(infos["action_mask"], rng))


@BOTH
@MODES
def test_a_reset_of_some_rows_takes_running_games_and_seeds(game: str, mode: AutoresetMode) -> None:
    envs, fresh = make(game, 4, mode, seat=0), make(game, 4, mode, seat=0)
    with pytest.raises(RuntimeError, match=r"reset\(\)"):
        envs.reset(options={"reset_mask": np.ones(4, bool)})
    observations, infos = envs.reset(seed=1)
    for _ in range(3):
        observations, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
    chosen = np.array([False, True, False, True])
    shown, _ = envs.reset(seed=5, options={"reset_mask": chosen})
    expected, _ = fresh.reset(seed=5)
    np.testing.assert_array_equal(shown[chosen], expected[chosen])
    np.testing.assert_array_equal(shown[~chosen], observations[~chosen])
    np.testing.assert_array_equal(envs.reset(seed=5)[0], expected)
    np.testing.assert_array_equal(envs.reset(options={})[0], fresh.reset()[0])


@BOTH
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED])
@PLACES
def test_gymnasiums_vector_wrappers(game: str, mode: AutoresetMode, place: str) -> None:
    envs: Any = wrappers.RecordEpisodeStatistics(make(game, 5, mode, mask=place))
    if place == "observation":
        envs = wrappers.FlattenObservation(envs)
    if mode is AutoresetMode.NEXT_STEP:
        envs = wrappers.NormalizeObservation(envs)
    size = envs.single_observation_space.shape
    low, high = np.full(size, -1, np.float32), np.full(size, 1, np.float32)
    if mode is AutoresetMode.DISABLED:
        envs = wrappers.RescaleObservation(envs, low, high)
    envs = wrappers.TransformObservation(envs, lambda shown: shown)
    rng = np.random.default_rng(4)
    _, infos = envs.reset(seed=3)
    played, lengths, over = np.zeros(5, int), [], np.zeros(5, bool)
    for _ in range(100):
        if mode is AutoresetMode.NEXT_STEP:
            played[over] = -1
        observations, _, terminated, truncated, infos = envs.step(legal(infos["action_mask"], rng))
        played += 1
        over = terminated | truncated
        if mode is AutoresetMode.DISABLED:  # older releases normalise beyond the space they name
            assert observations in envs.observation_space
        if over.any():
            np.testing.assert_array_equal(infos["episode"]["l"][over], played[over])
            lengths += played[over].tolist()
            if mode is AutoresetMode.DISABLED:
                played[over] = 0
                _, infos = envs.reset(options={"reset_mask": over})
    assert len(lengths) > 10


@BOTH
@MODES
@PLACES
def test_copies_and_specs_keep_the_mode(game: str, mode: AutoresetMode, place: str) -> None:
    envs = make(game, 3, mode.value, mask=place)
    again: Any = gymnasium.make_vec(envs.spec)
    json: Any = gymnasium.make_vec(type(envs.spec).from_json(envs.spec.to_json()))
    copies = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs)), again, json]
    for one in copies:
        assert one.autoreset_mode is mode
        assert one.observation_space == envs.observation_space
        assert one.num_envs == 3
    envs.reset(seed=1)
    rng = np.random.default_rng(0)
    over = np.zeros(3, bool)
    while not over.any():
        *_, terminated, truncated, _ = envs.step(legal(envs.action_masks(), rng))
        over = terminated | truncated
    twins = [envs, copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    shown = []
    for one in twins:
        if mode is AutoresetMode.DISABLED:
            one.reset(options={"reset_mask": over})
        history = []
        for _ in range(30):
            observations, *_ = one.step(one.action_masks().argmax(axis=1))
            history.append(alone(place, observations).tobytes())
            if mode is AutoresetMode.DISABLED:
                one.reset(options={"reset_mask": np.ones(3, bool)})
        shown.append(history)
    assert shown[0] == shown[1] == shown[2]
