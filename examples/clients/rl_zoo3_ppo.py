"""rl_zoo3: its command line trains PPO on a Gymnasium id; the model is loaded and played."""

import subprocess
import sys
import tempfile
from pathlib import Path

import gymnasium
from stable_baselines3 import PPO

ID = "war_envs/AttackDefence-Minimal-v0"
OPTIONS = {"num_ranks": 5, "opponent": "random"}
GAMES = 200

with tempfile.TemporaryDirectory() as folder:
    command = [sys.executable, "-m", "rl_zoo3.train"]
    command += ["--algo", "ppo", "--env", ID, "--gym-packages", "war_envs"]
    command += ["--env-kwargs", *(f"{name}:{value!r}" for name, value in OPTIONS.items())]
    command += ["--conf-file", str(Path(__file__).with_suffix(".yml"))]
    command += ["--log-folder", folder, "--seed", "1", "--device", "cpu", "--num-threads", "1"]
    subprocess.run(command, check=True)
    (saved,) = Path(folder).rglob(f"*{Path(ID).name}.zip")
    model = PPO.load(saved, device="cpu")

env = gymnasium.make(f"war_envs:{ID}", **OPTIONS)
env.reset(seed=2)
points = chosen = illegal = 0
for _ in range(GAMES):
    (observation, info), over = env.reset(), False
    while not over:
        action = int(model.predict(observation, deterministic=True)[0])
        chosen += 1
        illegal += not info["action_mask"][action]
        observation, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    points += reward
print(f"{points / GAMES:+.2f} points a game against random play")
print(f"illegal moves: {illegal} of {chosen}")
assert illegal == 0
