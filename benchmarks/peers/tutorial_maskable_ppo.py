"""PettingZoo's tutorial of MaskablePPO on connect-four, as it is published, on one thread."""

import gymnasium
import pettingzoo.utils
import torch
from common import measure
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.wrappers import ActionMasker


class SB3ActionMaskWrapper(pettingzoo.utils.BaseWrapper, gymnasium.Env):
    """The tutorial's own view of an AEC environment as one of Gymnasium."""

    def reset(self, seed=None, options=None):
        """Both spaces are those of the first agent."""
        super().reset(seed, options)
        first = self.possible_agents[0]
        self.observation_space = super().observation_space(first)["observation"]
        self.action_space = super().action_space(first)
        return self.observe(self.agent_selection), {}

    def step(self, action):
        """The next agent's observation, with the reward of the one that has just moved."""
        mover = self.agent_selection
        super().step(action)
        return (
            self.observe(self.agent_selection),
            self._cumulative_rewards[mover],
            self.terminations[mover],
            self.truncations[mover],
            self.infos[mover],
        )

    def observe(self, agent):
        """Without the mask."""
        return super().observe(agent)["observation"]

    def action_mask(self):
        """The mask of the agent whose turn it is."""
        return super().observe(self.agent_selection)["action_mask"]


torch.set_num_threads(1)
env = SB3ActionMaskWrapper(connect_four_v3.env())
env.reset(seed=1)
model = MaskablePPO(
    MaskableActorCriticPolicy, ActionMasker(env, SB3ActionMaskWrapper.action_mask), device="cpu"
)
model.set_random_seed(1)


def work():
    """A rollout and its update; the decisions in it."""
    model.learn(total_timesteps=model.n_steps, reset_num_timesteps=False)
    return model.n_steps


measure(
    "pettingzoo/connect_four/maskable-ppo-tutorial",
    work,
    unit="decisions/s",
    includes="PettingZoo's published tutorial of MaskablePPO, default settings: rollouts of "
    "decisions of both players in one environment, and updates",
    packages=("pettingzoo", "torch", "stable-baselines3", "sb3-contrib"),
)
