"""The games and the learner that a configuration asks for."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import Schedule

from war_agents import Agent
from war_agents.models.model_card import ENCODING
from war_agents.networks.card_network import CardNetwork
from war_envs.engine import seeding
from war_train.config import TrainConfig
from war_train.league.league import League
from war_train.ppo.learner import SelfPlayPPO
from war_train.ppo.policy import CardPolicy
from war_train.ppo.rollout import Rollout
from war_train.vec_env import SelfPlayVecEnv

LAST_RATE = 0.05


def make_games(
    config: TrainConfig,
    league: League,
    seed: int,
    make_env: Callable[..., SelfPlayVecEnv] = SelfPlayVecEnv,
) -> SelfPlayVecEnv:
    """The games of a configuration against a league, with deals and opponents from ``seed``."""
    return make_env(
        config.game,
        config.num_envs,
        config.played,
        opponents=league,
        encoding=ENCODING,
        memory=config.memory,
        seed=seed,
    )


def make_learner(
    config: TrainConfig,
    env: SelfPlayVecEnv,
    seed: int,
    *,
    teachers: Sequence[Agent] = (),
    first: CardNetwork | None = None,
    steps: int | None = None,
) -> SelfPlayPPO:
    """A new learner on ``env``.

    Args:
        config: all there is to say.
        env: the games that it learns from.
        seed: fixes its weights and all that it draws.
        teachers: agents, one for each variant, that it imitates at first.
        first: what it begins as, a copy; by default a new network.
        steps: what its schedules run over; by default ``config.steps``.
    """
    weights, minibatches = _generators(seed)
    model = SelfPlayPPO(
        CardPolicy,
        env,
        total_steps=config.steps if steps is None else steps,
        learning_rate=_linear(config.learning_rate, config.learning_rate * LAST_RATE),
        entropy=_linear(config.entropy, config.entropy_end),
        floor=_linear(config.floor, 0.0),
        teachers=teachers,
        teacher_steps=config.imitate_steps or 0,
        average=config.average,
        n_steps=config.rollout // config.num_envs,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_grad_norm,
        rollout_buffer_class=Rollout,
        rollout_buffer_kwargs={"generator": minibatches},
        policy_kwargs={
            "variant": config.variant if first is None else first.variant,
            "shape": config.shape if first is None else first.shape,
            "generator": weights,
            "magnet": config.magnet,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        device="cpu",
    )
    if first is not None:
        model.policy.network.load_state_dict(first.state_dict())
        if model.policy.average is not None:
            model.policy.average.load_state_dict(first.state_dict())
    model.set_logger(Logger(None, []))  # it only gathers; `Run` writes
    return model


def _generators(seed: int) -> tuple[torch.Generator, np.random.Generator]:
    """Of its own: for weights and actions, and for minibatches."""
    words = seeding.generator_state(seed, seeding.AGENTS, 2**32)
    weights = torch.Generator().manual_seed(int(words[0] >> np.uint64(1)))
    return weights, np.random.default_rng([int(word) for word in words])


def _linear(start: float, end: float) -> Schedule:
    """From ``start`` to ``end``, linearly in the progress remaining, 1 to 0."""
    return lambda remaining: end + (start - end) * remaining
