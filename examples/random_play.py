"""Random play through PettingZoo's two interfaces: agent by agent, and both choices at once."""

import numpy as np

from war_envs import attack_defence_v0, strategic_war_v0


def play_aec() -> None:
    """Strategic War, agent by agent."""
    env = strategic_war_v0.env(minimal=True, info_text=True)
    env.reset(seed=7)
    rng = np.random.default_rng(7)
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        if terminated or truncated:
            print(f"{agent}: reward {reward:+.0f}; {info['outcome']}")
            env.step(None)
        else:
            assert observation is not None  # only last(observe=False) leaves it out
            env.step(rng.choice(np.flatnonzero(observation["action_mask"])))


def play_parallel() -> None:
    """War of Attack and Defence, both choices at once."""
    env = attack_defence_v0.parallel_env(minimal=True)
    observations, _ = env.reset(seed=7)
    rng = np.random.default_rng(7)
    turns = 0
    while env.agents:
        actions = {
            agent: rng.choice(np.flatnonzero(observations[agent]["action_mask"]))
            for agent in env.agents
        }
        observations, rewards, _, _, _ = env.step(actions)
        turns += 1
    print(f"after {turns} turns {rewards}; {env.outcome}")


if __name__ == "__main__":
    play_aec()
    play_parallel()
