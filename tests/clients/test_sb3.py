"""Algorithms, callbacks and wrappers of Stable-Baselines3, on the Gymnasium ids as they are."""

from pathlib import Path
from typing import Any

import pytest
import sb3_contrib
import stable_baselines3
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from stable_baselines3.common.callbacks import BaseCallback, CheckpointCallback, EvalCallback
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import VecNormalize

from war_envs.registration import gymnasium_id

SHORT: dict[str, Any] = {"num_ranks": 5, "max_turns": 20, "opponent": "random"}
ON_POLICY = {"n_steps": 32, "device": "cpu", "seed": 1}
OFF_POLICY = {"learning_starts": 32, "buffer_size": 200, "device": "cpu", "seed": 1}
MASKLESS = [
    (stable_baselines3.PPO, "MlpPolicy", {**ON_POLICY, "batch_size": 32}),
    (stable_baselines3.A2C, "MlpPolicy", ON_POLICY),
    (stable_baselines3.DQN, "MlpPolicy", OFF_POLICY),
    (sb3_contrib.QRDQN, "MlpPolicy", OFF_POLICY),
    (sb3_contrib.TRPO, "MlpPolicy", {**ON_POLICY, "batch_size": 32}),
    (
        sb3_contrib.RecurrentPPO,
        "MlpLstmPolicy",
        {**ON_POLICY, "batch_size": 32, "policy_kwargs": {"lstm_hidden_size": 16}},
    ),
]


class CountIllegal(BaseCallback):
    """Looks at the infos of all games that end."""

    games = illegal = 0

    def _on_step(self) -> bool:
        for done, info in zip(self.locals["dones"], self.locals["infos"], strict=True):
            self.games += bool(done)
            self.illegal += bool(done) and info["illegal"] >= 0
        return True


def vec_env(game: str) -> Any:
    return make_vec_env(gymnasium_id(game, "minimal"), n_envs=2, seed=1, env_kwargs=SHORT)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "policy", "options"), MASKLESS, ids=[case[0].__name__ for case in MASKLESS]
)
def test_algorithms_without_masks_play_the_game_that_needs_none(
    algorithm: Any, policy: str, options: dict[str, Any], tmp_path: Path
) -> None:
    count, env = CountIllegal(), vec_env("attack-defence")
    model = algorithm(policy, env, **options).learn(256, callback=count)
    assert count.games > 5
    assert count.illegal == 0
    model.save(tmp_path / "model")
    again = algorithm.load(tmp_path / "model", device="cpu")
    seen = env.reset()
    assert (
        again.predict(seen, deterministic=True)[0] == model.predict(seen, deterministic=True)[0]
    ).all()


def test_maskable_ppo_with_callbacks_and_normalised_rewards(tmp_path: Path) -> None:
    count = CountIllegal()
    env = VecNormalize(vec_env("strategic-war"))
    evaluation = VecNormalize(vec_env("strategic-war"), training=False)
    model = MaskablePPO("MlpPolicy", env, batch_size=32, **ON_POLICY)  # type: ignore[arg-type]
    model.learn(
        256,
        callback=[
            count,
            CheckpointCallback(64, str(tmp_path), save_vecnormalize=True),
            MaskableEvalCallback(evaluation, n_eval_episodes=3, eval_freq=64, verbose=0),
        ],
    )
    assert count.games > 5
    assert count.illegal == 0
    assert len(list(tmp_path.glob("*.zip"))) == len(list(tmp_path.glob("*.pkl"))) == 2


def test_evaluation_of_a_plain_algorithm() -> None:
    env, evaluation = vec_env("attack-defence"), vec_env("attack-defence")
    callback = EvalCallback(evaluation, n_eval_episodes=4, eval_freq=32, verbose=0)
    stable_baselines3.PPO("MlpPolicy", env, batch_size=32, **ON_POLICY).learn(64, callback=callback)  # type: ignore[arg-type]
    assert -1 <= callback.best_mean_reward <= 1
