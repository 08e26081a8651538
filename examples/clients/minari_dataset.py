"""Minari: the games of a scripted agent as a dataset, with infos, read back and checked."""

import os
import tempfile

import gymnasium
import minari
import numpy as np

import war_agents
from war_envs.variant import make_variant

GAMES = 20
VARIANT = make_variant("strategic-war", "minimal", num_ranks=5)

# For the sake of this example only; otherwise datasets lie in ~/.minari.
folder = tempfile.TemporaryDirectory()
os.environ["MINARI_DATASETS_PATH"] = folder.name

agent = war_agents.make("memory", game="strategic-war", variant=VARIANT)
env = minari.DataCollector(
    gymnasium.make(
        "war_envs:war_envs/StrategicWar-Minimal-v0",
        num_ranks=5,
        opponent="random",
        encoding=agent.encoding,
        memory=agent.memory,
    ),
    record_infos=True,
)
rng = np.random.default_rng(1)
for game in range(GAMES):
    observation, info = env.reset(seed=game)
    over = False
    while not over:
        actions, _ = agent.act(  # for many positions at once, of which this is one
            observation[None], info["action_mask"][None], rng.integers(2**63, size=1, dtype="u8")
        )
        observation, _, terminated, truncated, info = env.step(int(actions[0]))
        over = terminated or truncated
dataset = env.create_dataset(
    "war-envs/strategic-war/memory-v0",
    algorithm_name="memory, against random",
    code_permalink="https://example.org/your-code",
    author="You",
    author_email="you@example.org",
    description="Strategic War, 10 cards",
)
env.close()

# Reading it back needs no more than the dataset: it knows the environment and its options.
dataset = minari.load_dataset("war-envs/strategic-war/memory-v0")
again = dataset.recover_environment()
assert again.observation_space == dataset.observation_space
chosen = illegal = 0
for episode in dataset:
    masks = episode.infos["action_mask"][:-1]  # the last one follows the last action
    legal = masks[np.arange(len(episode.actions)), episode.actions]
    chosen += len(legal)
    illegal += int((legal == 0).sum())
    assert episode.rewards.sum() == episode.rewards[-1]
score = np.mean([episode.rewards[-1] for episode in dataset])
print(f"{len(dataset)} games, {score:+.2f} points a game")
print(f"illegal moves: {illegal} of {chosen}")
assert len(dataset) == GAMES
assert illegal == 0
folder.cleanup()
