"""SB3's view of a `CardNetwork`: its probabilities, and what regularises them."""

from typing import Any, Self

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.distributions import (
    MaskableCategorical,
    MaskableCategoricalDistribution,
    MaskableDistribution,
)
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor

from war_agents.networks.card_network import CardNetwork, NetworkShape, masked_log_probabilities
from war_envs.variant import Variant


class _Actions(MaskableCategoricalDistribution):
    """SB3's distribution, also of no positions at all, on which torch's checks would fail."""

    def proba_distribution(self, action_logits: Tensor) -> Self:
        self.distribution = MaskableCategorical(logits=action_logits, validate_args=False)
        return self


class CardPolicy(MaskableActorCriticPolicy):
    """SB3's view of a `CardNetwork`.

    Args:
        variant, shape: what the network is for, and how large.
        generator: where weights and actions are drawn from.
        magnet: see below.

    Attributes:
        network: all that is learned.
        draws: as given, ``generator``.
        entropy: weight of the entropy bonus now.
        floor: weight now of the pull towards the uniform policy.
        magnet: weight of the divergence from the average policy.
    """

    network: CardNetwork

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        variant: Variant,
        shape: NetworkShape,
        generator: torch.Generator,
        magnet: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self._card_options = (variant, shape)
        self.draws = generator
        self.magnet = magnet
        self.entropy = 0.0
        self.floor = 0.0
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        self.action_dist = _Actions(self.action_space.n)  # type: ignore[attr-defined]
        self.network = CardNetwork(*self._card_options)
        self.network.initialise(self.draws)
        self._average: list[CardNetwork] = []
        make_optimizer: Any = self.optimizer_class
        self.optimizer = make_optimizer(
            self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

    def pull_towards(self, average: CardNetwork) -> None:
        """Makes ``average`` what the magnet pulls towards."""
        # In a list, so that for torch it is no part of this module, which is trained.
        self._average = [average]

    @property
    def average(self) -> CardNetwork | None:
        """A slow average of the weights, in evaluation mode, if it is kept."""
        return self._average[0] if self._average else None

    def forward(
        self, obs: Tensor, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Actions, values and the actions' log-probabilities, for a rollout."""
        logits, values = self.network(obs)
        log_probs = self._log_probabilities(logits, action_masks)
        if deterministic:
            actions = log_probs.argmax(dim=1, keepdim=True)
        else:
            actions = torch.multinomial(log_probs.exp(), 1, generator=self.draws)
        return actions.flatten(), values, log_probs.gather(1, actions).flatten()

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Values, log-probabilities of ``actions`` and what regularises, for an update.

        The last is the bonus that PPO takes for the entropy:

            entropy * H(p) - floor * KL(u, p) - magnet * KL(p, q)

        with the policy p, the uniform policy u over the legal actions, and the average policy q.
        The gradient of KL(u, p) does not fade as a probability nears 0, so no action is ever given
        up. With the magnet a step is one of magnetic mirror descent (Sokota et al. 2023), which in
        two-player zero-sum games makes the last policy converge where plain self-play cycles.
        """
        logits, values = self.network(obs)
        log_probs = self._log_probabilities(logits, action_masks)
        # An illegal action's probability is exactly 0, and its logarithm finite: it adds nothing.
        bonus = -(self.entropy + self.magnet) * (log_probs.exp() * log_probs).sum(dim=1)
        if self.magnet and self.average is not None:
            with torch.no_grad():
                pull = self._log_probabilities(self.average.logits(obs), action_masks)
            bonus = bonus + self.magnet * (log_probs.exp() * pull).sum(dim=1)
        if self.floor and action_masks is not None:
            legal = torch.as_tensor(action_masks).reshape(log_probs.shape)
            bonus = bonus + self.floor * (log_probs * legal).sum(dim=1) / legal.sum(dim=1)
        return values, log_probs.gather(1, actions.long().reshape(-1, 1)).flatten(), bonus

    @staticmethod
    def _log_probabilities(logits: Tensor, action_masks: Any) -> Tensor:
        if action_masks is None:
            return torch.log_softmax(logits, dim=-1)
        return masked_log_probabilities(logits, action_masks)

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        """The distribution of actions, as SB3's ``predict`` wants it."""
        distribution = self.action_dist.proba_distribution(action_logits=self.network.logits(obs))
        if action_masks is not None:
            distribution.apply_masking(action_masks)
        return distribution

    def predict_values(self, obs: Any) -> Tensor:
        """Values, (B, 1)."""
        return self.network.values(obs).unsqueeze(1)
