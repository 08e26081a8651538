"""How an exported file is used, as a Python program that runs as it stands."""

from pathlib import Path

from war_agents.models.model_card import ENCODING
from war_envs.registration import gymnasium_id
from war_envs.variant import Variant

_SB3 = """\
import gymnasium
import war_envs
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor

{env}
model = MaskablePPO.load({file}, device="cpu")
score, _ = evaluate_policy(model, Monitor(env), n_eval_episodes=20, deterministic=False)
print(score)  # the mean reward, -1 to 1
"""
_GAME = """

{env}
rng = np.random.default_rng()
observation, info = env.reset()
over = False
while not over:
    chances = probabilities(observation[None], info["action_mask"][None])[0].astype(float)
    action = rng.choice(len(chances), p=chances / chances.sum())
    observation, reward, terminated, truncated, info = env.step(action)
    over = terminated or truncated
print(reward)  # 1 won, 0 drawn, -1 lost
"""
_ONNX = (
    """\
import gymnasium
import numpy as np
import onnxruntime
import war_envs

session = onnxruntime.InferenceSession({file})


def probabilities(tokens, action_mask):  # uint8 (B, F) and int8 (B, A) give float32 (B, A)
    return session.run(["probabilities"], {{"tokens": tokens, "action_mask": action_mask}})[0]
"""
    + _GAME
)
_TORCHSCRIPT = (
    """\
import gymnasium
import numpy as np
import torch
import war_envs

module = torch.jit.load({file})


def probabilities(tokens, action_mask):  # uint8 (B, F) and int8 (B, A) give float32 (B, A)
    return module(torch.from_numpy(tokens), torch.from_numpy(action_mask)).numpy()
"""
    + _GAME
)
_PROGRAMS = {"sb3": _SB3, "onnx": _ONNX, "torchscript": _TORCHSCRIPT}


def program(file: Path, *, to: str, variant: Variant, memory: str) -> str:
    """A program that reads an exported file, and plays what it is for.

    Args:
        file: the file, as the program will name it.
        to: its format.
        variant, memory: what the policy plays, and what its observations hold.
    """
    options = {"encoding": ENCODING, "memory": memory, **variant.options}
    arguments = [repr(gymnasium_id(variant.game, "standard")), "opponent='memory'"]
    arguments += [f"{name}={value!r}" for name, value in options.items()]
    lines = "".join(f"    {argument},\n" for argument in arguments)
    return _PROGRAMS[to].format(file=repr(str(file)), env=f"env = gymnasium.make(\n{lines})")
