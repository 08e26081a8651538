"""PPO as a way to learn: what a run makes its learner and its exploiters with."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import Schedule

from war_agents import Agent
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_envs.engine import seeding
from war_train.ppo.config import PPOSettings
from war_train.ppo.learner import SelfPlayPPO
from war_train.ppo.policy import CardPolicy
from war_train.ppo.rollout import Rollout
from war_train.ppo.watched import PPOLearner
from war_train.run.config import RunSettings
from war_train.vec_env import SelfPlayVecEnv

LAST_RATE: Final = 0.05


class PPO:
    """MaskablePPO, see `war_train.run.learner.Method`.

    Args:
        run: what is played, and how long schedules run.
        settings: how it learns.
    """

    def __init__(self, run: RunSettings, settings: PPOSettings) -> None:
        self._run = run
        self._settings = settings

    @property
    def num_envs(self) -> int:
        """Games at once."""
        return self._settings.num_envs

    @property
    def shape(self) -> NetworkShape:
        """How large its networks are."""
        return self._settings.shape

    @property
    def teacher(self) -> str | None:
        """The agent that its learner imitates at first, if there is one."""
        return self._settings.teacher

    def make_learner(
        self,
        env: SelfPlayVecEnv,
        seed: int,
        *,
        teachers: Sequence[Agent] = (),
        callbacks: Sequence[Any] = (),
        first: CardNetwork | None = None,
        steps: int | None = None,
    ) -> PPOLearner:
        """A new learner; see `war_train.run.learner.Method`.

        Args:
            env: the games that it learns from.
            seed: fixes its weights and all that it samples.
            teachers: agents, one for each variant, that it imitates at first.
            callbacks: Stable-Baselines3's, called at every step.
            first: what it begins as, a copy; by default a new network.
            steps: what its schedules run over; by default the run's steps.
        """
        settings = self._settings
        weights, minibatches = _generators(seed)
        model = SelfPlayPPO(
            CardPolicy,
            env,
            total_steps=self._run.steps if steps is None else steps,
            learning_rate=_linear(settings.learning_rate, settings.learning_rate * LAST_RATE),
            entropy=_linear(settings.entropy, settings.entropy_end),
            floor=_linear(settings.floor, 0.0),
            teachers=teachers,
            teacher_steps=settings.imitate_steps,
            average=settings.average,
            n_steps=settings.rollout // settings.num_envs,
            batch_size=settings.batch_size,
            n_epochs=settings.epochs,
            gamma=settings.gamma,
            gae_lambda=settings.gae_lambda,
            clip_range=settings.clip_range,
            vf_coef=settings.value_weight,
            max_grad_norm=settings.max_grad_norm,
            rollout_buffer_class=Rollout,
            rollout_buffer_kwargs={"generator": minibatches},
            policy_kwargs={
                "variant": self._run.variant if first is None else first.variant,
                "shape": settings.shape if first is None else first.shape,
                "generator": weights,
                "magnet": settings.magnet,
                "optimizer_kwargs": {"eps": 1e-5, "fused": True},
            },
            device="cpu",
        )
        if first is not None:
            model.policy.network.load_state_dict(first.state_dict())
            if model.policy.average is not None:
                model.policy.average.load_state_dict(first.state_dict())
        model.set_logger(Logger(None, []))  # it only gathers; the run's log is written by the loop
        return PPOLearner(model, env, callbacks)


def _generators(seed: int) -> tuple[torch.Generator, np.random.Generator]:
    """Of its own: for weights and actions, and for minibatches."""
    words = seeding.generator_state(seed, seeding.AGENTS, 2**32)
    weights = torch.Generator().manual_seed(int(words[0] >> np.uint64(1)))
    return weights, np.random.default_rng([int(word) for word in words])


def _linear(start: float, end: float) -> Schedule:
    """From ``start`` to ``end``, linearly in the progress remaining, 1 to 0."""
    return lambda remaining: end + (start - end) * remaining
