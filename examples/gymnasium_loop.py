"""One seat against an agent, as a Gymnasium environment; the mask says which actions are legal."""

import gymnasium

# "war_envs:" imports the package, which registers the ids.
id_ = "war_envs:war_envs/StrategicWar-Minimal-v0"
env = gymnasium.make(id_, opponent="memory", info_text=True)
env.action_space.seed(7)
score = 0.0
observation, info = env.reset(seed=7)
for _ in range(10):
    terminated = truncated = False
    while not (terminated or truncated):
        action = env.action_space.sample(mask=info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(action)
    score += float(reward)
    print(f"{float(reward):+.0f}  {info['outcome']}")
    observation, info = env.reset()
print(f"random play against memory, ten games: {score:+.0f}")
