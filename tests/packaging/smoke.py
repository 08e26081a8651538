"""What a fresh install must be able to do; check_wheel.py runs this text with ``python -c``.

Imports every module, plays some moves of each game through each kind of environment, and prints a
digest of all that the players saw (the same whatever the cache, the folder and the compiler) and
the place that ``war_envs`` came from. With the argument ``brief`` it plays less.
"""

import hashlib
import importlib
import importlib.metadata
import sys
from typing import Any

import gymnasium
import numpy as np

import war_envs
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.batch import make_batch

# Every module imports, or says in one line which extra it needs.
for file in importlib.metadata.files("war-envs") or ():
    if file.suffix == ".py":
        module = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        try:
            importlib.import_module(module)
        except ImportError as error:
            hint = str(error)
            assert "war-envs[" in hint, f"import {module}: no extra is named in {hint!r}"
            assert "\n" not in hint, f"import {module}: more than a line in {hint!r}"

heavy = {"torch", "pygame", "matplotlib"} & set(sys.modules)
assert not heavy, f"a base install must do without {heavy}"

digest = hashlib.sha256()


def look(observation: dict[str, Any]) -> int:
    """Digest what a player sees; the player's first legal action."""
    digest.update(observation["observation"].tobytes() + observation["action_mask"].tobytes())
    return int(np.argmax(observation["action_mask"]))


# Some moves of one game only, which compiles a part of the kernels.
BRIEF = sys.argv[1:] == ["brief"]

for game in (attack_defence_v0,) if BRIEF else (attack_defence_v0, strategic_war_v0):
    env = game.env()
    env.reset(seed=7)
    for _ in range(20):
        env.step(look(env.last()[0]))

if BRIEF:
    print(digest.hexdigest(), war_envs.__file__)
    sys.exit()

parallel = attack_defence_v0.parallel_env()
seen, _infos = parallel.reset(seed=7)
parallel.step({agent: look(seen[agent]) for agent in parallel.agents})

for name in ("war_envs/AttackDefence-v0", "war_envs/StrategicWar-v0"):
    view = gymnasium.make(name, opponent="memory", render_mode="ansi")
    before, info = view.reset(seed=7)
    after = view.step(int(np.argmax(info["action_mask"])))[0]
    digest.update(before.tobytes() + after.tobytes() + repr(view.render()).encode())

batches = [make_batch("attack-defence", 3), make_batch("strategic-war", 3)]
for batch in batches:
    batch.reset(seed=7)
    observations, masks = batch.observe()
    digest.update(observations.tobytes())
    batch.step(masks.argmax(-1))

print(digest.hexdigest(), war_envs.__file__)
