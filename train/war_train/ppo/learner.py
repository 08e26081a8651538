"""sb3-contrib's MaskablePPO on token observations, all rows at once, with its own generators.

Three things differ from the original: the policy is a `war_train.ppo.policy.CardPolicy`; every
draw (weights, actions, minibatches) comes from the run's own generators, so that global ones
neither matter nor move; and collecting a rollout handles all rows at once.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.buffers import RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.type_aliases import Schedule
from stable_baselines3.common.vec_env import VecEnv
from torch import Tensor
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from war_agents.agent import Agent
from war_agents.networks.card_network import CardNetwork, from_numpy
from war_train.finite import require_finite
from war_train.ppo.policy import CardPolicy
from war_train.ppo.rollout import Rollout
from war_train.run.networks import weights
from war_train.vec_env import SelfPlayVecEnv

# What SB3 and `SelfPlayPPO` call the losses, and what a log does.
LOSSES: Final = {
    "train/policy_gradient_loss": "policy_loss",
    "train/value_loss": "value_loss",
    "train/imitation_loss": "imitation_loss",
}
MOMENTS: Final = ("step", "exp_avg", "exp_avg_sq")


class SelfPlayPPO(MaskablePPO):
    """MaskablePPO on a `SelfPlayVecEnv`.

    Args:
        total_steps: what schedules run over, whatever `learn` is called with.
        entropy: the entropy bonus as a function of the progress remaining, 1 to 0.
        floor: the same for the pull towards the uniform policy.
        average: steps that the average of the weights looks back; 0 keeps none.
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
        self._teachers = teachers
        self._teacher_steps = teacher_steps if teachers else 0
        # The policy weighs the bonus itself.
        super().__init__(*args, **kwargs, ent_coef=1.0)  # type: ignore[misc]
        self._averaged = self._average_over(average) if average else None

    @property
    def best(self) -> CardNetwork:
        """The average of the weights if there is one, else the last."""
        return self.policy.network if self.policy.average is None else self.policy.average

    def _average_over(self, steps: int) -> AveragedModel:
        decay = 1.0 - min(1.0, self.n_steps * self.n_envs / steps)
        averaged = AveragedModel(self.policy.network, multi_avg_fn=get_ema_multi_avg_fn(decay))  # type: ignore[no-untyped-call]
        averaged.n_averaged += 1  # the weights at the start count: else the first update's would
        averaged.requires_grad_(False).eval()
        self.policy.pull_towards(cast(CardNetwork, averaged.module))
        return averaged

    def train(self) -> None:
        """Learns from the rollout.

        Raises:
            TrainingDivergedError: a loss or anything learned is not finite then. What is not stays
                so, whichever minibatch it came from, so that one look after all of them finds it.
        """
        buffer: Any = self.rollout_buffer
        if self._imitates(self.num_timesteps - self.n_steps * self.n_envs):
            self._imitate(buffer)
        else:
            super().train()
        # Of the actions played: its mean over them is the policy's.
        self.logger.record("train/entropy", -float(buffer.log_probs.mean()))
        if self._averaged is not None:
            self._averaged.update_parameters(self.policy.network)
        self.require_finite()

    def learned(self) -> dict[str, NDArray[Any]]:
        """Weights, their average and the optimiser's moments by name; they are not copied."""
        arrays = weights("network", self.policy.network)
        for number, moments in self.policy.optimizer.state_dict()["state"].items():
            arrays |= {f"adam/{number}/{name}": moments[name].numpy() for name in MOMENTS}
        if self.policy.average is not None:
            arrays |= weights("average", self.policy.average)
        return arrays

    def require_finite(self) -> None:
        """Refuses losses or anything `learned` that is not finite.

        Raises:
            TrainingDivergedError: naming the step and what it is.
        """
        figures: Mapping[str, Any] = self.logger.name_to_value
        losses = {name: np.asarray(figures[key]) for key, name in LOSSES.items() if key in figures}
        require_finite({**losses, **self.learned()}, self.num_timesteps)

    def _imitates(self, steps: int) -> bool:
        """Are the teachers imitated after so many steps?"""
        return steps < self._teacher_steps

    def _imitate(self, rollout: Rollout) -> None:
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

    def continue_from(
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
