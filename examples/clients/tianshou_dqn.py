"""Tianshou: masked DQN by self-play in Strategic War, a learner for each seat.

Only the winner makes the last move, and what follows a move in the buffer is the opponent's
position. Returns over whole games bring each player its own result, and never learn the value of a
move from the position of the opponent.
"""

import gymnasium
import numpy as np
import torch
from tianshou.algorithm import DQN, MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

from war_envs import strategic_war_v0

TURNS = 15
LONGEST = 10 * TURNS  # decisions in a game: five cards a player make two wars a round at most


def make_env() -> PettingZooEnv:
    """The AEC environment, with the masks that Tianshou expects."""
    return PettingZooEnv(strategic_war_v0.env(minimal=True, num_ranks=5, max_turns=TURNS))


def learner(env: PettingZooEnv) -> DQN:
    """A DQN over what one player sees."""
    seen: gymnasium.spaces.Box = env.observation_space["observation"]
    model = Net(state_shape=seen.shape, action_shape=env.action_space.n, hidden_sizes=(64, 64))
    policy = DiscreteQLearningPolicy(model=model, action_space=env.action_space, eps_training=0.2)
    return DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=LONGEST,
    )


np.random.seed(1)  # noqa: NPY002  Tianshou explores with the global generator
torch.manual_seed(1)
torch.set_num_threads(1)
env = make_env()
algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[learner(env), learner(env)], env=env)
envs = DummyVectorEnv([make_env for _ in range(4)])
envs.seed(1)
buffer = VectorReplayBuffer(20_000, len(envs))
collector = Collector[CollectStats](algorithm.policy, envs, buffer)
collector.reset()
algorithm.run_training(
    OffPolicyTrainerParams(
        training_collector=collector,
        max_epochs=2,
        epoch_num_steps=2000,
        collection_step_num_env_steps=100,
        update_step_num_gradient_steps_per_sample=0.2,
        batch_size=64,
        show_progress=False,
    )
)

played = buffer[buffer.sample_indices(0)]  # all of it
legal = played.obs.mask[np.arange(len(played)), played.act]
results = played.rew[played.done]
print(f"{len(results)} games of {len(played) / len(results):.1f} decisions")
assert (results.sum(axis=1) == 0).all(), "what one player wins, the other loses"
assert np.abs(results).sum() > 0
print(f"illegal moves: {(~legal).sum()} of {len(legal)}")
assert legal.all()
