"""What agents are given: the same rule for all, scripted and trained."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tests.support.decks import GAMES
from war_agents import Agent, make, names
from war_envs.batch import make_batch

Given = tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.uint64]]
ALL = [(game, name) for game in GAMES for name in names(game)]
B = 64


def positions(game: str) -> Given:
    """B observations after some random choices, their masks, and seeds."""
    rng = np.random.default_rng(1)
    batch = make_batch(game, B, "minimal")
    batch.reset(seed=3)
    for _ in range(5):
        _, mask = batch.observe()
        batch.step((mask * rng.random(mask.shape)).argmax(axis=-1))
    observation, mask = batch.observe(np.arange(B), batch.acting.argmax(axis=1))
    return observation, mask, rng.integers(2**64, size=B, dtype=np.uint64)


def actions(agent: Agent, *given: Any) -> list[int]:
    chosen, state = agent.act(*given)
    assert chosen.dtype == np.int64
    assert chosen.shape == (len(given[0]),)
    assert state is None
    return [int(action) for action in chosen]


@pytest.mark.parametrize(("game", "name"), ALL)
def test_memory_layout_and_library_do_not_matter(game: str, name: str) -> None:
    agent = make(name, game=game, variant="minimal")
    given = positions(game)
    expected = actions(agent, *given)
    observation, mask, seeds = given
    read_only = tuple(array.copy() for array in given)
    for array in read_only:
        array.flags.writeable = False
    others: list[tuple[Any, ...]] = [
        read_only,
        tuple(np.asfortranarray(array) for array in given),
        tuple(np.repeat(array, 2, axis=0)[::2] for array in given),
        tuple(np.flip(np.flip(array).copy()) for array in given),  # strides below 0
        (np.hstack([observation, observation])[:, : observation.shape[1]], mask, seeds),
        tuple(map(torch.from_numpy, given)),
        (observation, mask.astype(bool), seeds),
        (observation, torch.from_numpy(mask).bool(), seeds),
    ]
    for other in others:
        assert actions(agent, *other) == expected
    starts = np.zeros(B, bool)
    for state in (None, np.zeros((B, 3)), (np.zeros(B), torch.zeros(B, 2)), ()):
        assert actions(agent, *given, state, starts) == expected
    assert actions(agent, *(array[:0] for array in given), None, starts[:0]) == []
    assert actions(agent, *(array[:1] for array in given)) == expected[:1]


@pytest.mark.parametrize(("game", "name"), ALL)
def test_everything_else_is_refused_by_name_in_one_line(game: str, name: str) -> None:
    agent = make(name, game=game, variant="minimal")
    observation, mask, seeds = positions(game)
    nothing = mask.copy()
    nothing[7] = 0
    wrong: list[tuple[Any, ...]] = [
        ("observation", observation[:, 1:], observation[0], observation.astype(np.float32)),
        ("observation", observation.astype(np.int8), observation[None], torch.zeros(B, 83), "text"),
        ("observation", {"observation": observation, "action_mask": mask}, None, 5, [[0], [0, 1]]),
        ("action_mask", mask[:1], mask[:-1], mask[0], mask[:, :1], mask.astype(int), nothing, None),
        (
            "action_mask",
            mask.astype(np.float32),
            np.concatenate([mask, mask]),
            {"a": 1},
            mask[None],
        ),
        ("seeds", seeds[:1], seeds[:-1], seeds[0], seeds[:, None], 7, None, seeds.astype(np.int64)),
        ("seeds", seeds.astype(float), seeds.astype(np.uint32), seeds.tolist(), "seeds"),
        ("state", np.zeros(B - 1), np.zeros(()), {}, 5, "state", (np.zeros(B), np.zeros(1))),
        ("starts", np.zeros(B), np.zeros(1, bool), np.zeros((B, 1), bool), True, {}, "starts"),
    ]
    for argument, *values in wrong:
        for value in values:
            given: dict[str, Any] = {"observation": observation, "action_mask": mask}
            given |= {"seeds": seeds, argument: value}
            with pytest.raises(ValueError, match=rf"^{argument}\b") as refused:
                agent.act(**given)
            assert "\n" not in str(refused.value)
            assert len(str(refused.value)) < 600
