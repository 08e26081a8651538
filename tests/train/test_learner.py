"""MaskablePPO on card networks: probabilities, schedules, bootstrapping, and whose randomness."""

from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3.common.callbacks import BaseCallback

import war_agents
from tests.support.models import positions
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.policy import TorchPolicy
from war_envs.engine.engine import ENGINES
from war_envs.variant import Variant, make_variant
from war_train.ppo.learner import SelfPlayPPO
from war_train.ppo.policy import CardPolicy
from war_train.ppo.rollout import Rollout
from war_train.vec_env import SelfPlayVecEnv

SHAPE = NetworkShape(embedding=16, hidden=8)


def learner(variant: Variant, *, num_envs: int = 4, n_steps: int = 8, **more: Any) -> SelfPlayPPO:
    """A small learner that plays against random."""
    venv = SelfPlayVecEnv(
        variant.game, num_envs, variant, opponents={"random": 1.0}, encoding="tokens", seed=1
    )
    settings: dict[str, Any] = {
        "total_steps": 1000,
        "entropy": lambda remaining: 0.01 * remaining,
        "floor": lambda remaining: 0.0,
        "n_steps": n_steps,
        "batch_size": 16,
        "n_epochs": 1,
        "rollout_buffer_class": Rollout,
        "rollout_buffer_kwargs": {"generator": np.random.default_rng(0)},
        "policy_kwargs": policy_kwargs(variant),
        "device": "cpu",
    }
    return SelfPlayPPO(CardPolicy, venv, **{**settings, **more})


def policy_kwargs(variant: Variant, **more: Any) -> dict[str, Any]:
    generator = torch.Generator().manual_seed(1)
    return {"variant": variant, "shape": SHAPE, "generator": generator, **more}


def shaken(network: CardNetwork) -> None:
    """Makes weights large, so that probabilities are far from even."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0.0, 0.5, generator=generator)


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_the_agent_has_the_probabilities_that_sb3_has(game: str) -> None:
    variant = make_variant(game, "minimal", num_ranks=5)
    model: Any = learner(variant)
    network = model.policy.network
    shaken(network)
    observation, mask = positions(variant, 300)
    agent = TorchPolicy(network.eval(), name="x")
    ours = agent.probabilities(observation, mask)
    tokens = torch.from_numpy(observation)
    with torch.no_grad():
        distribution = model.policy.get_distribution(tokens, mask)
        theirs = distribution.distribution.probs.numpy()
        actions, values, log_probs = model.policy(tokens, action_masks=mask)
        model.policy.entropy = 1.0
        again, evaluated, entropy = model.policy.evaluate_actions(
            tokens, actions, torch.from_numpy(mask).float()
        )
        expected = distribution.log_prob(actions)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    assert (ours[mask == 0] == 0).all()
    assert ours.std() > 0.05
    np.testing.assert_allclose(log_probs, expected, atol=1e-5)
    np.testing.assert_allclose(evaluated, expected, atol=1e-5)
    np.testing.assert_allclose(entropy, distribution.entropy(), atol=1e-5)
    np.testing.assert_allclose(values, model.policy.predict_values(tokens).flatten().detach())
    np.testing.assert_allclose(values, again)
    best, _ = model.predict(observation, deterministic=True, action_masks=mask)
    np.testing.assert_array_equal(best, ours.argmax(axis=1))


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_what_regularises_is_entropy_floor_and_magnet(game: str) -> None:
    variant = make_variant(game, "minimal", num_ranks=5)
    model: Any = learner(variant, average=100)
    policy = model.policy
    shaken(policy.network)
    observation, mask = positions(variant, 300)
    tokens, masks = torch.from_numpy(observation), torch.from_numpy(mask).float()
    legal = mask == 1

    def probabilities(network: CardNetwork) -> Any:
        return TorchPolicy(network.eval(), name="x").probabilities(observation, mask)

    p, q = probabilities(policy.network), probabilities(policy.average)
    log_p, log_q = (np.log(x, where=legal, out=np.zeros_like(x)) for x in (p, q))
    parts = {
        "entropy": -(p * log_p).sum(axis=1),
        "floor": log_p.sum(axis=1) / legal.sum(axis=1),
        "magnet": -(p * (log_p - log_q)).sum(axis=1),
    }
    for name, expected in parts.items():
        policy.entropy = policy.floor = policy.magnet = 0.0
        setattr(policy, name, 0.7)
        with torch.no_grad():
            _, _, bonus = policy.evaluate_actions(tokens, torch.zeros(300), masks)
        np.testing.assert_allclose(bonus, 0.7 * expected, atol=1e-4, err_msg=name)


def test_an_action_that_is_hardly_ever_taken_is_pulled_back_by_the_floor() -> None:
    logits = torch.tensor([[-12.0, 12.0]], requires_grad=True)
    for name, least, most in (("entropy", 0.0, 1e-6), ("floor", 0.01, 1.0)):
        policy: Any = learner(make_variant("attack-defence", "minimal", num_ranks=3)).policy
        policy.network.forward = lambda _: (logits, torch.zeros(1))
        setattr(policy, name, 0.03)
        _, _, bonus = policy.evaluate_actions(torch.zeros(1), torch.zeros(1), torch.ones(1, 2))
        (gradient,) = torch.autograd.grad(bonus.sum(), logits)
        assert least < gradient[0, 0] < most


def test_the_average_follows_the_weights_over_as_many_steps_as_it_is_told() -> None:
    variant = make_variant("attack-defence", "minimal", num_ranks=3)
    model = learner(variant, average=64)
    expected = [p.detach().clone() for p in model.policy.network.parameters()]
    average = model.best
    for _ in range(3):
        model.learn(32, reset_num_timesteps=False, log_interval=None)  # type: ignore[arg-type]
        now = list(model.policy.network.parameters())
        expected = [(a + b) / 2 for a, b in zip(expected, now, strict=True)]
        for found, wanted in zip(average.parameters(), expected, strict=True):
            torch.testing.assert_close(found, wanted)
    table = average.table()
    torch.testing.assert_close(average._ready_table(), table)
    assert model.best is average
    assert learner(variant).policy.average is None


@pytest.mark.slow
def test_a_teacher_is_imitated_for_as_long_as_it_is_told() -> None:
    variant = make_variant("attack-defence", "minimal", num_ranks=5)
    teacher = war_agents.make("memory", game="attack-defence", variant=variant)
    model: Any = learner(
        variant,
        num_envs=64,
        n_epochs=4,
        batch_size=64,
        learning_rate=3e-3,
        teachers=[teacher],
        teacher_steps=20_000,
        total_steps=10**9,
    )
    observation, mask = positions(variant, 2000)
    wanted, _ = teacher.act(observation, mask, np.zeros(2000, np.uint64))
    rows = np.arange(2000)

    def agreement() -> float:
        agent = TorchPolicy(model.policy.network.eval(), name="x")
        return float(agent.probabilities(observation, mask)[rows, wanted].mean())

    assert agreement() < 0.6
    model.learn(20_000, log_interval=None)
    assert agreement() > 0.85
    assert "train/imitation_loss" in model.logger.name_to_value
    model.logger.dump()
    model.learn(512, reset_num_timesteps=False, log_interval=None)
    assert "train/imitation_loss" not in model.logger.name_to_value


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_the_first_layer_is_a_dense_one_on_the_vector_observation(game: str) -> None:
    """Except for the last card of each zone, read once more, and the chances of meetings."""
    variant = make_variant(game, "minimal", num_ranks=5)
    network = CardNetwork(variant, SHAPE)
    network.initialise(torch.Generator().manual_seed(0))
    observation, _ = positions(variant, 50)
    encoding = ENGINES[variant.game].layout
    header, zones = len(encoding.header), encoding.slots_per_card
    slots = encoding.num_slots(variant.deck_size)
    features = encoding.features[observation[:, header:]]
    sizes = [observation[:, encoding.index(f"{z}_size")] for z in ("own", "other", "table")[:zones]]
    last = [
        features[np.arange(50), zone * variant.deck_size + np.maximum(size.astype(int) - 1, 0)]
        for zone, size in enumerate(sizes)
    ]
    features = np.concatenate([features, np.stack(last, axis=1)], axis=1)
    assert features.shape[1] == slots + zones
    weights = network.slots.detach().numpy()
    expected = np.einsum("bsf,fse->be", features, weights)
    head = torch.from_numpy(observation[:, :header] / encoding.scales)
    with torch.no_grad():
        _, inputs = network.read(torch.from_numpy(observation))
        torch.testing.assert_close(inputs[:, :header], head)
        expected += network.header(inputs).numpy()
        found = network.embed(torch.from_numpy(observation)).numpy()
        np.testing.assert_allclose(found, np.maximum(expected, 0), atol=1e-4)
        np.testing.assert_allclose(found, network.eval().embed(torch.from_numpy(observation)))


@pytest.mark.field_case("M04")
def test_with_one_legal_action_even_an_untrained_policy_plays_it() -> None:
    variant = make_variant("strategic-war", "minimal", num_ranks=5)
    model = learner(variant)
    observation, _ = positions(variant, 400)
    only = np.arange(400) % 4
    mask = np.eye(4, dtype=np.int8)[only]
    with torch.no_grad():
        actions, _, log_probs = model.policy(torch.from_numpy(observation), action_masks=mask)
    np.testing.assert_array_equal(actions, only)
    np.testing.assert_allclose(log_probs, 0.0, atol=1e-6)
    np.testing.assert_array_equal(model.predict(observation, action_masks=mask)[0], only)


class OneGameAfterAnother:
    """Stands in for the engine: rows end by a win, by the limit, and by both at once."""

    num_envs = 3

    def __init__(self, width: int) -> None:
        self.width = width

    def action_masks(self) -> Any:
        return np.ones((3, 2), np.int8)

    def step(self, actions: Any) -> Any:
        infos: list[dict[str, Any]] = [
            {
                "terminal_observation": np.full(self.width, row + 1, np.uint8),
                "TimeLimit.truncated": row == 1,
                "episode": {"r": reward, "l": 1},
            }
            for row, reward in enumerate((1.0, 0.0, -1.0))
        ]
        rewards = np.array([1.0, 0.0, -1.0], np.float32)
        return np.zeros((3, self.width), np.uint8), rewards, np.ones(3, bool), infos


class Nothing(BaseCallback):
    def _on_step(self) -> bool:
        return True


@pytest.mark.field_case("T01")
def test_only_a_pure_truncation_is_worth_what_its_last_position_is() -> None:
    variant = make_variant("attack-defence", "minimal", num_ranks=3)
    model: Any = learner(variant, num_envs=3, n_steps=2, gamma=0.9)
    width = model.policy.network.header_size + 12
    seen: list[Any] = []

    def ten(tokens: torch.Tensor) -> torch.Tensor:
        seen.append(tokens.numpy())
        return torch.full((len(tokens), 1), 10.0)

    model.policy.predict_values = ten
    model._setup_learn(6, None)
    model._last_obs = np.zeros((3, width), np.uint8)
    callback = Nothing()
    callback.init_callback(model)
    stub: Any = OneGameAfterAnother(width)
    model.collect_rollouts(stub, callback, model.rollout_buffer, 2)
    np.testing.assert_allclose(model.rollout_buffer.rewards, [[1.0, 9.0, -1.0]] * 2)
    assert (seen[0] == 2).all(), "the last position, not the new deal's"
    np.testing.assert_allclose(model.rollout_buffer.returns, [[1.0, 9.0, -1.0]] * 2, atol=1e-5)


@pytest.mark.field_case("T03")
def test_schedules_run_over_the_whole_training_however_it_is_cut() -> None:
    variant = make_variant("attack-defence", "minimal", num_ranks=3)
    rates: list[list[float]] = []
    for parts in ([160], [32] * 5, [96, 64]):
        model = learner(variant, total_steps=160, learning_rate=lambda remaining: remaining)
        found: list[float] = []
        train = model.train

        def train_and_note(
            model: SelfPlayPPO = model, found: list[float] = found, train: Any = train
        ) -> None:
            train()
            assert model.policy.entropy == pytest.approx(0.01 * found_rate(model))
            found.append(found_rate(model))

        model.train = train_and_note  # type: ignore[method-assign]
        for part in parts:
            model.learn(part, reset_num_timesteps=model.num_timesteps == 0, log_interval=None)  # type: ignore[arg-type]
        rates.append(found)
    np.testing.assert_allclose(rates[0], [1.0, 0.8, 0.6, 0.4, 0.2])
    assert rates[0] == rates[1] == rates[2]


def found_rate(model: SelfPlayPPO) -> float:
    return float(model.policy.optimizer.param_groups[0]["lr"])


@pytest.mark.parametrize(("total", "size", "expected"), [(12, 4, 3), (13, 4, 3), (7, 5, 1)])
def test_minibatches_cover_a_rollout_once_and_are_never_small(
    total: int, size: int, expected: int
) -> None:
    variant = make_variant("attack-defence", "minimal", num_ranks=3)
    model = learner(variant, num_envs=1, n_steps=total, batch_size=size)
    model.rollout_buffer.returns[:, 0] = np.arange(total)
    model.rollout_buffer.observations[:, 0, 0] = np.arange(total)
    for _ in range(2):
        parts = list(model.rollout_buffer.get(size))
        assert len(parts) == expected
        assert min(len(part.actions) for part in parts) >= size
        found = torch.cat([part.returns for part in parts]).tolist()
        assert sorted(found) == list(range(total)) != found
        assert torch.cat([part.observations[:, 0] for part in parts]).tolist() == found


def test_the_network_refuses_shapes_out_of_range() -> None:
    for wrong in (0, 4097, 1.5, True):
        with pytest.raises(ValueError, match="hidden"):
            NetworkShape(hidden=wrong)  # type: ignore[arg-type]
