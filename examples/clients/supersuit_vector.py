"""SuperSuit: many games as one vector environment, each player a row, in both games."""

import numpy as np
import supersuit
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

from war_envs import attack_defence_v0, strategic_war_v0

GAMES, STEPS = 8, 500

rng = np.random.default_rng(1)
chosen = illegal = 0
for name, env in (
    ("Attack and Defence", attack_defence_v0.parallel_env(minimal=True, num_ranks=5)),
    (
        "Strategic War",
        turn_based_aec_to_parallel(strategic_war_v0.env(minimal=True, num_ranks=5)),
    ),
):
    rows = supersuit.pettingzoo_env_to_vec_env_v1(env)
    rows = supersuit.concat_vec_envs_v1(rows, GAMES, num_cpus=1, base_class="gymnasium")
    seen, infos = rows.reset(seed=1)
    results = []
    for _ in range(STEPS):
        mask = seen["action_mask"]
        acts = mask.any(axis=1)  # the mask of a player who waits is all zero: nothing is chosen
        actions = (rng.random(mask.shape) * mask).argmax(axis=1)
        chosen += acts.sum()
        illegal += (mask[acts, actions[acts]] == 0).sum()
        seen, rewards, terminated, truncated, infos = rows.step(actions)
        over = (terminated | truncated).astype(bool)
        results.append(rewards[over].reshape(-1, 2))  # rows 2 k and 2 k + 1 play game k
    played = np.concatenate(results)
    print(f"{name}: {len(played)} games, player_0 won {(played[:, 0] > 0).mean():.0%}")
    assert (played.sum(axis=1) == 0).all(), "what one player wins, the other loses"
    assert np.abs(played).sum() > 0
    rows.close()
print(f"illegal moves: {illegal} of {chosen}")
assert illegal == 0
