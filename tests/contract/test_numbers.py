"""One rule for numbers, whatever library they are of: integers, no bools, no floats, no arrays of
one where one number is asked for.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from war_envs import attack_defence_v0
from war_envs.batch import make_batch
from war_envs.messages import shown
from war_train.vec_env import SelfPlayVecEnv


class Choice(IntEnum):
    DEFEND = 1


class Scalar:
    """An array of another library: what makes an index of it does not look at dtype and shape."""

    def __init__(self, value: Any, dtype: str, shape: tuple[int, ...] = ()) -> None:
        self.value, self.dtype, self.shape = value, dtype, shape

    def __repr__(self) -> str:
        return f"Scalar({self.value!r}, {self.dtype!r}, {self.shape})"

    def __index__(self) -> int:
        return int(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.full(self.shape, self.value, dtype)


ONE: list[Any] = [
    1,
    Choice.DEFEND,
    np.int8(1),
    np.uint64(1),
    np.array(1),
    np.array(1, np.uint8),
    torch.tensor(1),
    torch.tensor(1, dtype=torch.uint8),
    Scalar(1, "int32"),
]
NOT_ONE: list[Any] = [
    True,
    np.True_,
    np.array(True),
    torch.tensor(True),
    Scalar(True, "bool"),
    Scalar(True, "<dtype: 'bool'>"),
    1.0,
    np.float64(1),
    np.array(1.0),
    torch.tensor(1.0),
    [1],
    np.array([1]),
    np.array([[1]]),
    np.array([True]),
    torch.tensor([1]),
    torch.tensor([True]),
    Scalar(1, "int32", (1,)),
    np.array(1, object),
    np.timedelta64(1, "s"),
    torch.empty((), dtype=torch.int64, device="meta"),
    10**5000,
    "1",
    None,
]


@pytest.mark.parametrize("one", ONE, ids=shown)
def test_an_integer_of_any_library_is_that_integer(one: Any) -> None:
    env, expected = attack_defence_v0.raw_env(num_ranks=3), attack_defence_v0.raw_env(num_ranks=3)
    env.reset(seed=one)
    expected.reset(seed=1)
    assert env.hands == expected.hands
    env.step(one)
    expected.step(1)
    assert env.get_state() == expected.get_state()
    batch = make_batch("attack-defence", one, num_ranks=3)
    batch.reset(one, domain=one)
    assert batch.num_games == 1


@pytest.mark.parametrize("wrong", NOT_ONE, ids=shown)
def test_what_is_no_integer_is_refused_by_name(wrong: Any) -> None:
    env = attack_defence_v0.raw_env(num_ranks=3)
    env.reset(seed=1)
    before = env.get_state()
    batch = make_batch("attack-defence", 1, num_ranks=3)
    calls: dict[str, Callable[[], object]] = {
        "action": lambda: env.step(wrong),
        "num_games": lambda: make_batch("attack-defence", wrong),
        "domain": lambda: batch.reset(1, domain=wrong),
    }
    if wrong is not None:  # a seed of the system's
        calls["seed"] = lambda: env.reset(seed=wrong)
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"^{name}=") as refused:
            call()
        assert "\n" not in str(refused.value)
        assert env.get_state() == before


TWO: list[Any] = [
    [0, 1],
    (0, Choice.DEFEND),
    [np.int8(0), 1],
    [torch.tensor(0), torch.tensor(1)],
    np.array([0, 1], np.uint8),
    np.array([0, 1], ">i4"),
    np.array([0, 9, 1, 9])[::2],
    torch.tensor([0, 1]),
    torch.tensor([0, 1], dtype=torch.uint8),
]
NOT_TWO: list[Any] = [
    [False, True],
    [0, True],
    [0, np.True_],
    [torch.tensor(0), torch.tensor(True)],
    [0.0, 1.0],
    [0, 1.0],
    np.array([False, True]),
    np.array([0.0, 1.0]),
    np.array([0, 1], object),
    np.array([0, True], object),
    np.array(["0", "1"]),
    torch.tensor([False, True]),
    torch.tensor([0.0, 1.0]),
    torch.tensor([0.0, 1.0], requires_grad=True),
    torch.empty(2, dtype=torch.int64, device="meta"),
    [0],
    [[0], [0, 1]],
    [0, 10**30],
    [0, None],
    {0: 1},
    None,
    1,
]


def test_arrays_of_actions_go_by_the_same_rule_everywhere() -> None:
    batch = make_batch("strategic-war", 2, num_ranks=5)
    batch.reset(seed=1)
    vector: Any = gymnasium.make_vec("war_envs/AttackDefence-v0", num_envs=2, num_ranks=5)
    vector.reset(seed=1)
    train = SelfPlayVecEnv("attack-defence", 2, opponents={"random": 1.0})
    train.reset()
    steps = (batch.step, vector.step, train.step)
    for step in steps:
        for right in TWO:
            batch.reset(seed=1)  # the first card may be either end's
            step(right)
        for wrong in NOT_TWO:
            before = batch.games.copy(), vector.action_masks(), train.action_masks()
            with pytest.raises(ValueError, match=r"^actions") as refused:
                step(wrong)
            assert "\n" not in str(refused.value)
            after = batch.games, vector.action_masks(), train.action_masks()
            assert all(map(np.array_equal, before, after))
    train.close()
    for wrong in NOT_TWO:
        if wrong is not None:  # no such argument
            with pytest.raises(ValueError, match=r"^lanes"):
                batch.reset(1, lanes=wrong)
            with pytest.raises(ValueError, match=r"^(rows|seats)"):
                batch.observe(rows=[0, 1], seats=wrong)
