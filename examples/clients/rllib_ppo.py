"""RLlib's new API stack: masked PPO, one policy for both seats of Strategic War."""

from typing import Any

import gymnasium
import numpy as np
import ray
from pettingzoo.utils import BaseWrapper
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

from war_envs import strategic_war_v0


class Renamed(BaseWrapper):
    """Observations under the names and types that RLlib's masking module wants."""

    def observation_space(self, agent: str) -> gymnasium.spaces.Dict:
        """``observations``, and ``action_mask`` as floats: the module takes their logarithm."""
        space = super().observation_space(agent)
        mask = gymnasium.spaces.Box(0.0, 1.0, space["action_mask"].shape, np.float32)
        return gymnasium.spaces.Dict({"action_mask": mask, "observations": space["observation"]})

    def observe(self, agent: str) -> dict[str, Any]:
        """What the agent sees."""
        seen = super().observe(agent)
        mask = seen["action_mask"].astype(np.float32)
        return {"action_mask": mask, "observations": seen["observation"]}

    def last(self, observe: bool = True) -> tuple[Any, ...]:
        """As any environment's, with the observation renamed."""
        return (self.observe(self.agent_selection) if observe else None, *super().last(False)[1:])


def count_illegal(*, samples: list[Any], metrics_logger: Any, **_: Any) -> None:
    """Holds each action in a sample against the mask that the policy saw."""
    for game in samples:
        for player in game.agent_episodes.values():
            actions = player.get_actions()
            masks = player.get_observations(slice(0, len(actions)))["action_mask"]
            legal = masks[np.arange(len(actions)), actions]
            metrics_logger.log_value("decisions", len(actions), reduce="lifetime_sum")
            metrics_logger.log_value("illegal", (legal == 0).sum(), reduce="lifetime_sum")


# env(), not raw_env(): before it trains, RLlib tries one random action that knows no mask. That may
# lose a game of env(), and raises in raw_env().
register_env("strategic_war", lambda config: PettingZooEnv(Renamed(strategic_war_v0.env(**config))))
config = (
    PPOConfig()
    .environment("strategic_war", env_config={"minimal": True, "num_ranks": 5})
    .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_args, **_options: "shared")
    .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
    .env_runners(num_env_runners=0)  # in this process: games of a small deck are quick
    .callbacks(on_sample_end=count_illegal)
    .training(gamma=1.0, lr=1e-3, train_batch_size_per_learner=1024, minibatch_size=256)
    .debugging(seed=1)
)
ray.init(include_dashboard=False, num_cpus=1)
algorithm = config.build_algo()
for _ in range(3):
    played = algorithm.train()["env_runners"]
    print(f"games of {played['episode_len_mean']:.1f} decisions")
algorithm.stop()
ray.shutdown()

print(f"illegal moves: {played['illegal']:.0f} of {played['decisions']:.0f}")
assert played["decisions"] > 3000
assert played["illegal"] == 0
