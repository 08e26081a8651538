"""Action masks: whoever chooses has a legal action, and a mask is what ``sample`` wants."""

from typing import Any

import numpy as np
import pytest

import war_agents
from war_agents import scripted
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.batch import make_batch
from war_envs.engine.engine import ENGINES
from war_envs.engine.layout import Layout
from war_envs.variant import GAMES, VARIANT_NAMES, make_variant


def random_actions(mask: Any, rng: np.random.Generator) -> Any:
    """A random legal action for each row of (..., A)."""
    return np.where(mask == 1, rng.random(mask.shape), -1.0).argmax(axis=-1)


@pytest.mark.field_case("M01", "M02")
@pytest.mark.parametrize("game", GAMES)
def test_whoever_chooses_has_a_legal_action_in_ten_thousand_games(game: str) -> None:
    rng = np.random.default_rng(0)
    for variant in VARIANT_NAMES:
        batch = make_batch(game, 1250, variant, num_ranks=7, memory="table")
        batch.reset(seed=1)
        for _ in range(20_000):
            if not batch.acting.any():
                break
            _, mask = batch.observe()
            assert mask.dtype == np.int8
            assert mask.shape[-1] == batch.num_actions
            assert set(np.unique(mask)) <= {0, 1}
            acting = batch.acting
            # Nobody is without an action: a masked distribution can be fed with all rows.
            assert mask.any(axis=-1).all()
            idle = ~acting if mask.ndim == 3 else ~acting.any(axis=1)
            assert (mask[idle] == 1).all()
            batch.step(random_actions(mask, rng), autoreset=False)
        assert not batch.acting.any()


@pytest.mark.field_case("M02")
@pytest.mark.parametrize("game", GAMES)
def test_finished_games_stay_out_of_the_statistics(game: str) -> None:
    rng = np.random.default_rng(0)
    batch = make_batch(game, 64, "minimal", num_ranks=3)
    batch.reset(seed=1)
    while batch.acting.any(axis=1).all():
        batch.step(random_actions(batch.observe()[1], rng), autoreset=False)
    finished = ~batch.acting.any(axis=1)
    before = batch.games[finished].copy()
    step = batch.step(random_actions(batch.observe()[1], rng), autoreset=False)
    assert not step.reward[finished].any()
    assert not set(step.final_rows) & set(np.flatnonzero(finished))
    assert not batch.acting[finished].any()
    assert (batch.games[finished] == before).all()


@pytest.mark.field_case("A07")
def test_the_action_of_who_does_not_move_is_ignored_in_a_batch() -> None:
    rng = np.random.default_rng(0)
    one, other = (make_batch("strategic-war", 100, "minimal") for _ in range(2))
    for batch in (one, other):
        batch.reset(seed=3)
    for _ in range(200):
        actions = random_actions(one.observe()[1], rng)
        both = rng.integers(0, 4, (100, 2))
        both[np.arange(100), one.mover] = actions
        first, second = one.step(actions), other.step(both)
        assert (first.reward == second.reward).all()
        assert (one.games == other.games).all()


@pytest.mark.field_case("M01")
@pytest.mark.parametrize("game", GAMES)
def test_every_scripted_agent_refuses_a_mask_without_a_legal_action(game: str) -> None:
    for name in scripted.names(game):
        agent = war_agents.make(name, game=game)
        batch = make_batch(game, 3, encoding=agent.encoding, memory=agent.memory)
        batch.reset(seed=1)
        observation, mask = batch.observe([0, 1, 2], [0, 0, 0])
        seeds = np.arange(3, dtype=np.uint64)
        actions, _ = agent.act(observation, mask, seeds)
        assert mask[np.arange(3), actions].all()
        mask[1] = 0
        with pytest.raises(ValueError, match=r"action_mask.* row 1 "):
            agent.act(observation, mask, seeds)


@pytest.mark.parametrize("game", GAMES)
def test_with_one_legal_action_every_scripted_agent_plays_it(game: str) -> None:
    for name in scripted.names(game):
        agent = war_agents.make(name, game=game)
        batch = make_batch(game, 50, encoding=agent.encoding, memory=agent.memory)
        batch.reset(seed=1)
        observation, _ = batch.observe(np.arange(50), np.zeros(50, int))
        for only in range(batch.num_actions):
            mask = np.zeros((50, batch.num_actions), np.int8)
            mask[:, only] = 1
            actions, _ = agent.act(observation, mask, np.arange(50, dtype=np.uint64))
            assert (actions == only).all(), name


@pytest.mark.field_case("M08")
@pytest.mark.parametrize("module", [attack_defence_v0, strategic_war_v0])
def test_masks_can_be_sampled_as_they_are(module: Any) -> None:
    env: Any = module.env()
    env.reset(seed=1)
    for agent in env.agent_iter(300):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        mask = observation["action_mask"]
        space = env.action_space(agent)
        assert mask.dtype == env.observation_space(agent)["action_mask"].dtype == np.int8
        assert mask.shape == (space.n,)
        assert (mask.astype(bool).astype(np.int8) == mask).all()
        action = space.sample(mask)
        assert mask[action]
        env.step(action)


@pytest.mark.field_case("M09")
def test_with_one_card_left_only_top_is_legal() -> None:
    env = strategic_war_v0.raw_env(minimal=True, num_ranks=3)
    rng = np.random.default_rng(0)
    forced = 0
    for seed in range(30):
        env.reset(seed=seed)
        while not any(env.terminations.values()) and not any(env.truncations.values()):
            agent = env.agent_selection
            mask = env.observe(agent)["action_mask"]
            if mask[0]:  # a card must be flipped
                single = len(env.hands[int(agent[-1])]) == 1
                assert mask.tolist() == [1, not single, 0, 0]
                forced += single
            env.step(int(rng.choice(np.flatnonzero(mask))))
    assert forced > 10


@pytest.mark.field_case("M09")
@pytest.mark.parametrize("game", GAMES)
def test_numbers_have_room_in_their_types(game: str) -> None:
    engine = ENGINES[make_variant(game).game]
    layout: Layout = engine.layout
    assert engine.num_actions <= 63  # of 127 in an int8 mask's index, with room to spare
    assert max(field.scale for field in layout.header) <= 255
    assert len(layout.features) - 1 <= 127  # card tokens in a uint8
    record = engine.dtype
    counters = ["turn", "max_turns", "sizes", "heads"]
    assert all(record[name].base == np.int64 for name in counters)
    assert record["hands"].base == np.uint8


@pytest.mark.field_case("M03")
def test_a_masked_distribution_survives_large_logits() -> None:
    torch = pytest.importorskip("torch")
    distributions = pytest.importorskip("sb3_contrib.common.maskable.distributions")
    generator = torch.Generator().manual_seed(0)
    for scale in (1, 10, 50):
        logits = scale * torch.randn(20_000, 4, generator=generator)
        mask = torch.rand(20_000, 4, generator=generator) < 0.5
        mask[torch.arange(20_000), torch.randint(4, (20_000,), generator=generator)] = True
        spread = distributions.MaskableCategorical(logits=logits, masks=mask)
        assert torch.isfinite(spread.entropy()).all()
        assert torch.isfinite(spread.probs).all()
        assert mask[torch.arange(20_000), spread.sample()].all()
