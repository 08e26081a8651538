"""sb3-contrib's MaskablePPO on token observations, all rows at once, with its own generators.

Three things differ from the original: the policy is a `war_agents.network.CardNetwork`; every draw
(weights, actions, minibatches) comes from the run's own generators, so that global ones neither
matter nor move; and collecting a rollout handles all rows at once.
"""

import copy
from collections.abc import Generator, Sequence
from typing import Any, cast

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
from torch.nn import functional

from war_agents.agent import Agent
from war_agents.network import CardNetwork, NetworkShape, from_numpy, masked_log_probabilities
from war_envs.variant import Variant
from war_train.vec_env import SelfPlayVecEnv


class CardPolicy(MaskableActorCriticPolicy):
    """SB3's view of a `CardNetwork`.

    Args:
        variant, shape: what the network is for, and how large.
        generator: where weights and actions are drawn from.
        averages: keep a slow average of the weights.
        magnet: see below.

    Attributes:
        network: all that is learned.
        draws: as given, ``generator``.
        entropy: weight of the entropy bonus now.
        floor: weight now of the pull towards even probabilities.
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
        averages: bool = False,
        magnet: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self._card_options = (variant, shape)
        self._averages = averages
        self.draws = generator
        self.magnet = magnet
        self.entropy = 0.0
        self.floor = 0.0
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Schedule) -> None:
        self.network = CardNetwork(*self._card_options)
        self.network.initialise(self.draws)
        # In a list, so that for torch it is no part of this module, which is trained.
        copies = [copy.deepcopy(self.network)] if self._averages else []
        self._average = [network.requires_grad_(False).eval() for network in copies]
        make_optimizer: Any = self.optimizer_class
        self.optimizer = make_optimizer(
            self.network.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs
        )

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

        with the policy p, even probabilities u of the legal actions, and the average policy q. The
        gradient of KL(u, p) does not fade as a probability nears 0, so no action is ever given up.
        With the magnet a step is one of magnetic mirror descent (Sokota et al. 2023), which in
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


class Rollout(MaskableRolloutBuffer):
    """SB3's buffer, with minibatches drawn from a generator of its own.

    Args:
        generator: draws the order of the steps.

    Attributes:
        labels: int64 (steps, rows): what the teachers would have played, if there are any.
    """

    def __init__(self, *args: Any, generator: np.random.Generator, **kwargs: Any) -> None:
        self.generator = generator
        super().__init__(*args, **kwargs)
        self.labels = np.zeros((self.buffer_size, self.n_envs), np.int64)

    def get(  # type: ignore[override]
        self, batch_size: int | None = None
    ) -> Generator[MaskableRolloutBufferSamples, None, None]:
        """Minibatches of one pass, ``batch_size`` steps or more: they share what is left over."""
        for rows in self._orders(batch_size):
            yield self._samples(rows)

    def with_labels(
        self, batch_size: int | None
    ) -> Generator[tuple[MaskableRolloutBufferSamples, Tensor], None, None]:
        """`get`, each minibatch with what the teachers would have played, int64 (B,)."""
        labels = self.labels.reshape(-1)
        for rows in self._orders(batch_size):
            yield self._samples(rows), torch.from_numpy(labels[rows])

    def _orders(self, batch_size: int | None) -> list[NDArray[np.int64]]:
        total = self.buffer_size * self.n_envs
        order = self.generator.permutation(total)
        # Never a remainder of its own: the advantages of a single step cannot be normalised.
        return np.array_split(order, max(1, total // (batch_size or total)))

    def _samples(self, rows: NDArray[np.int64]) -> MaskableRolloutBufferSamples:
        total = self.buffer_size * self.n_envs
        columns = [
            array.reshape(total, *array.shape[2:])
            for array in (self.observations, self.actions, self.values, self.log_probs)
        ]
        columns += [a.reshape(total) for a in (self.advantages, self.returns)]
        columns.append(self.action_masks.reshape(total, self.mask_dims))
        return MaskableRolloutBufferSamples(*(torch.from_numpy(c[rows]) for c in columns))


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO on a `SelfPlayVecEnv`.

    Args:
        total_steps: what schedules run over, whatever `learn` is called with.
        entropy: the entropy bonus as a function of the progress remaining, 1 to 0.
        floor: the same for the pull towards even probabilities.
        average: steps that the average of the weights looks back, if the policy keeps one.
        teachers: agents, one for each variant, that are imitated at first.
        teacher_steps: how long.
    """

    env: SelfPlayVecEnv
    policy: CardPolicy

    def __init__(
        self,
        *args: Any,
        total_steps: int,
        entropy: Schedule,
        floor: Schedule,
        average: int = 0,
        teachers: Sequence[Agent] = (),
        teacher_steps: int = 0,
        **kwargs: Any,
    ) -> None:
        self._total_steps = total_steps
        self._entropy = entropy
        self._floor = floor
        self._average = average
        self._teachers = teachers
        self._teacher_steps = teacher_steps if teachers else 0
        # The policy weighs the bonus itself.
        super().__init__(*args, **kwargs, ent_coef=1.0)  # type: ignore[misc]

    @property
    def best(self) -> CardNetwork:
        """The average of the weights if there is one, else the last."""
        return self.policy.network if self.policy.average is None else self.policy.average

    def train(self) -> None:
        """Learns from the rollout."""
        buffer: Any = self.rollout_buffer
        if self._imitates(self.num_timesteps - self.n_steps * self.n_envs):
            self._imitate(buffer)
        else:
            super().train()
        # Of the actions played: its mean over them is the policy's.
        self.logger.record("train/entropy", -float(buffer.log_probs.mean()))
        if self.policy.average is not None:
            weight = min(1.0, self.n_steps * self.n_envs / self._average)
            with torch.no_grad():
                for mean, now in zip(
                    self.policy.average.parameters(), self.policy.network.parameters(), strict=True
                ):
                    mean.lerp_(now, weight)
            self.policy.average.eval()  # makes its table

    def _imitates(self, steps: int) -> bool:
        """Are the teachers imitated after so many steps?"""
        return steps < self._teacher_steps

    def _imitate(self, rollout: "Rollout") -> None:
        """Learns what the teachers would have played, and what positions were worth."""
        self.policy.set_training_mode(True)
        rate = self.lr_schedule(self._current_progress_remaining)
        for group in self.policy.optimizer.param_groups:
            group["lr"] = rate
        losses = []
        for _ in range(self.n_epochs):
            for batch, labels in rollout.with_labels(self.batch_size):
                found = self.policy.evaluate_actions(
                    batch.observations, labels, action_masks=batch.action_masks
                )
                values, log_probs, bonus = found
                value_loss = functional.mse_loss(values, batch.returns)
                imitation = -log_probs.mean()
                loss = imitation - cast(Tensor, bonus).mean() + self.vf_coef * value_loss
                self.policy.optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
                self.policy.optimizer.step()
                losses.append((imitation.item(), value_loss.item()))
        self._n_updates += self.n_epochs
        imitated, worth = np.mean(losses, axis=0)
        self.logger.record("train/imitation_loss", float(imitated))
        self.logger.record("train/value_loss", float(worth))
        self.logger.record("train/learning_rate", rate)

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
        self.policy.entropy = self._entropy(self._current_progress_remaining)
        self.policy.floor = self._floor(self._current_progress_remaining)

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
        labels = rollout_buffer.labels  # type: ignore[attr-defined]
        imitates = self._imitates(self.num_timesteps)
        callback.on_rollout_start()
        for step in range(n_rollout_steps):
            action_masks = games.action_masks()
            if imitates:
                labels[step] = games.choices_of(self._teachers)
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
