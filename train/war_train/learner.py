"""sb3-contrib's MaskablePPO on token observations, all rows at once, with its own generators.

Three things differ from the original: the policy is a `war_agents.network.CardNetwork`; every draw
(weights, actions, minibatches) comes from the run's own generators, so that global ones neither
matter nor move; and collecting a rollout handles all rows at once.
"""

from collections.abc import Generator
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer, MaskableRolloutBufferSamples
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor

from war_agents.network import CardNetwork, NetworkShape, from_numpy, masked_log_probabilities
from war_envs.variant import Variant
from war_train.vec_env import SelfPlayVecEnv


class CardPolicy(MaskableActorCriticPolicy):
    """SB3's view of a `CardNetwork`.

    Args:
        variant, shape: what the network is for, and how large.
        generator: where weights and actions are drawn from.

    Attributes:
        network: all that is learned.
        draws: as given, ``generator``.
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
        **kwargs: Any,
    ) -> None:
        self._card_options = (variant, shape)
        self.draws = generator
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        self.network = CardNetwork(*self._card_options)
        self.network.initialise(self.draws)
        make_optimizer: Any = self.optimizer_class
        self.optimizer = make_optimizer(
            self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

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
        """Values, log-probabilities of ``actions`` and entropies, for an update."""
        logits, values = self.network(obs)
        log_probs = self._log_probabilities(logits, action_masks)
        # An illegal action's probability is exactly 0, and its logarithm finite: it adds nothing.
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)
        return values, log_probs.gather(1, actions.long().reshape(-1, 1)).flatten(), entropy

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


class Rollout(MaskableRolloutBuffer):
    """SB3's buffer, with minibatches drawn from a generator of its own.

    Args:
        generator: draws the order of the steps.
    """

    def __init__(self, *args: Any, generator: np.random.Generator, **kwargs: Any) -> None:
        self.generator = generator
        super().__init__(*args, **kwargs)

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Minibatches of one pass, ``batch_size`` steps or more: they share what is left over."""
        total = self.buffer_size * self.n_envs
        order = self.generator.permutation(total)
        columns = [
            array.reshape(total, *array.shape[2:])
            for array in (self.observations, self.actions, self.values, self.log_probs)
        ]
        columns += [a.reshape(total) for a in (self.advantages, self.returns)]
        columns.append(self.action_masks.reshape(total, self.mask_dims))
        # Never a remainder of its own: the advantages of a single step cannot be normalised.
        for rows in np.array_split(order, max(1, total // (batch_size or total))):
            yield MaskableRolloutBufferSamples(*(torch.from_numpy(c[rows]) for c in columns))


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO on a `SelfPlayVecEnv`.

    Args:
        total_steps: what schedules run over, whatever `learn` is called with.
        entropy: the entropy bonus as a function of the progress remaining, 1 to 0.
    """

    env: SelfPlayVecEnv
    policy: CardPolicy

    def __init__(self, *args: Any, total_steps: int, entropy: Schedule, **kwargs: Any) -> None:
        self._total_steps = total_steps
        self._entropy = entropy
        super().__init__(*args, **kwargs, ent_coef=entropy(1.0))  # type: ignore[misc]

    @property
    def updates(self) -> int:
        """Passes over rollouts so far."""
        return self._n_updates

    @property
    def minibatches(self) -> np.random.Generator:
        """Where the order of steps in minibatches is drawn from."""
        buffer: Any = self.rollout_buffer
        generator: np.random.Generator = buffer.generator
        return generator

    @property
    def last_episode_starts(self) -> NDArray[np.bool_]:
        """bool (num_envs,): the games that had ended in the last step; all before the first."""
        starts: Any = self._last_episode_starts
        return np.asarray(starts, np.bool_)

    def go_on(
        self, steps: int, updates: int, observation: NDArray[Any], starts: NDArray[np.bool_]
    ) -> None:
        """Counts on from ``steps`` and ``updates``; games stand as last observed.

        The next `learn` must be called with ``reset_num_timesteps=False``.
        """
        self.num_timesteps, self._n_updates = steps, updates
        self._last_obs, self._last_episode_starts = observation, starts

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        # Counted at the start of the rollout that is now learned from, so from 1 to just above 0.
        done = num_timesteps - self.n_steps * self.n_envs
        self._current_progress_remaining = max(0.0, 1.0 - done / self._total_steps)
        self.ent_coef = self._entropy(self._current_progress_remaining)

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Plays ``n_rollout_steps`` steps in every row; False if the callback has ended it."""
        games: Any = env  # a `SelfPlayVecEnv`
        observation: Any = self._last_obs
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        for _ in range(n_rollout_steps):
            action_masks = games.action_masks()
            with torch.no_grad():
                tensors = self.policy(from_numpy(observation), action_masks=action_masks)
            actions, values, log_probs = tensors
            new_obs, rewards, dones, infos = games.step(actions.numpy())
            self.num_timesteps += games.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
            ended = [infos[row] for row in np.flatnonzero(dones)]
            self._update_info_buffer(ended)
            rewards[dones] += self._values_at_limit(ended)
            rollout_buffer.add(  # type: ignore[call-arg]
                observation,
                actions.numpy(),
                rewards,
                self._last_episode_starts,  # type: ignore[arg-type]
                values,
                log_probs,
                action_masks=action_masks,
            )
            self._last_obs = observation = new_obs
            self._last_episode_starts = dones
        with torch.no_grad():
            values = self.policy.predict_values(from_numpy(observation))
        rollout_buffer.compute_returns_and_advantage(last_values=values, dones=dones)
        callback.on_rollout_end()
        return True

    def _values_at_limit(self, infos: list[dict[str, Any]]) -> NDArray[np.float32]:
        """For each ended game: what its last position was worth if only the turn limit ended it."""
        worth = np.zeros(len(infos), np.float32)
        cut = [k for k, info in enumerate(infos) if info["TimeLimit.truncated"]]
        if cut:
            final = np.stack([infos[k]["terminal_observation"] for k in cut])
            with torch.no_grad():
                worth[cut] = self.policy.predict_values(torch.from_numpy(final)).flatten().numpy()
        return worth * np.float32(self.gamma)
