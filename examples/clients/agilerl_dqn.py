"""AgileRL: masked DQN by self-play, one network for both seats of Strategic War."""

from collections import deque

import numpy as np
import torch
from agilerl.algorithms import DQN
from agilerl.components import ReplayBuffer
from agilerl.components.data import Transition

from war_envs import strategic_war_v0

GAMES = 300

np.random.seed(1)  # noqa: NPY002  AgileRL draws from the global generator
torch.manual_seed(1)
torch.set_num_threads(1)
env = strategic_war_v0.env(minimal=True, num_ranks=5)
player = env.possible_agents[0]
learner = DQN(
    env.observation_space(player)["observation"],
    env.action_space(player),
    net_config={"encoder_config": {"hidden_size": [64]}, "head_config": {"hidden_size": [64]}},
    batch_size=64,
    lr=1e-3,
    gamma=1.0,
)
memory = ReplayBuffer(20_000)
chosen = illegal = 0
lengths: deque[int] = deque(maxlen=100)
for game in range(GAMES):
    env.reset(seed=game)
    before, decisions = {}, 0
    for agent in env.agent_iter():
        # The reward is the agent's own, of all that has happened since its last choice: the loser,
        # who does not make the last move, is paid here too.
        seen, reward, terminated, truncated, _ = env.last()
        over = terminated or truncated
        if agent in before:
            observation, action = before[agent]
            transition = Transition(
                obs=observation,
                action=action,
                reward=reward,
                next_obs=seen["observation"],
                done=terminated,  # a game that is cut short is not at its end
            ).to_tensordict()
            memory.add(transition.unsqueeze(0))
        if over:
            env.step(None)
            continue
        action = learner.get_action(
            seen["observation"][None],
            epsilon=max(0.05, 1 - game / 200),
            action_mask=seen["action_mask"][None],
        ).item()
        chosen, decisions = chosen + 1, decisions + 1
        illegal += not seen["action_mask"][action]
        before[agent] = seen["observation"], action
        env.step(action)
        if len(memory) >= 500 and chosen % 4 == 0:
            learner.learn(memory.sample(learner.batch_size))
    lengths.append(decisions)
rewards = memory.storage["reward"][: len(memory)]
print(f"{GAMES} games, the last 100 of {np.mean(lengths):.1f} decisions")
print(f"{(rewards > 0).sum()} rewards for winning, {(rewards < 0).sum()} for losing")
print(f"illegal moves: {illegal} of {chosen}")
assert (rewards > 0).sum() == (rewards < 0).sum() > 0
assert illegal == 0
