"""MaskablePPO on a PettingZoo environment: the policy plays one seat against itself in the other.

A wrapper that hands each decision in turn to one learner, as is often seen, is wrong for two
players: the loser, who does not make the last move, is never paid, and the value of a position is
learned from the next one, which is the opponent's. Here a step leads from one own turn to the next
one, so each reward is the own one, and the learner changes its seat with every game.
"""

import sys
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from sb3_contrib import MaskablePPO

from war_envs import strategic_war_v0

Policy = Callable[[dict[str, Any]], int]


class OneSeat(gymnasium.Env):
    """One seat of a two-player AEC environment; ``opponent`` chooses for the other."""

    def __init__(self, env: AECEnv, opponent: Policy) -> None:
        self.env, self.opponent = env, opponent
        self.seat = env.possible_agents[1]  # the first game is played from the other one
        self.observation_space = env.observation_space(self.seat)["observation"]
        self.action_space = env.action_space(self.seat)
        self.results: list[float] = []
        self.decisions = self.illegal = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """The next game, from the other seat than the last."""
        super().reset(seed=seed)
        self.env.reset(seed=seed, options=options)
        first, second = self.env.possible_agents
        self.seat = second if self.seat == first else first
        observation, _, _, _, info = self._own_turn()
        return observation, info

    def step(self, action: int) -> Any:
        """The own choice, and the opponent's until the next own turn or the end."""
        self.decisions += 1
        self.illegal += not self.mask[action]
        self.env.step(int(action))
        result = self._own_turn()
        if result[2] or result[3]:
            self.results.append(result[1])
        return result

    def _own_turn(self) -> Any:
        for agent in self.env.agent_iter():
            seen, reward, terminated, truncated, info = self.env.last()
            if agent == self.seat:
                self.mask = seen["action_mask"]
                return seen["observation"], reward, terminated, truncated, info
            self.env.step(None if terminated or truncated else self.opponent(seen))
        raise AssertionError("each player has a last turn, when the game is over")

    def action_masks(self) -> Any:
        """What MaskablePPO asks for."""
        return self.mask


def current_policy(seen: dict[str, Any]) -> int:
    """What the network that learns would do in the other seat."""
    action, _ = model.predict(seen["observation"], action_masks=seen["action_mask"])
    return int(action)


def random_policy(seen: dict[str, Any]) -> int:
    """Any legal action."""
    return int(rng.choice(np.flatnonzero(seen["action_mask"])))


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 8192
rng = np.random.default_rng(1)
env = OneSeat(strategic_war_v0.env(minimal=True, num_ranks=5), current_policy)
model = MaskablePPO("MlpPolicy", env, n_steps=512, gamma=1.0, seed=1, device="cpu")
model.learn(steps)
won, lost = env.results.count(1), env.results.count(-1)
print(f"against itself: {won} games won and {lost} lost")
assert min(won, lost) > 0

env.opponent, env.results = random_policy, []
for _ in range(200):
    observation, over = env.reset()[0], False
    while not over:
        action, _ = model.predict(observation, action_masks=env.action_masks())
        observation, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
print(f"against random play: {np.mean(env.results):+.2f} points a game")
print(f"illegal moves: {env.illegal} of {env.decisions}")
assert env.illegal == 0
