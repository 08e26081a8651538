"""Training with PPO: `train`, and `resume`."""

from collections.abc import Sequence
from pathlib import Path

from stable_baselines3.common.callbacks import BaseCallback

from war_train.config import TrainConfig
from war_train.ppo.method import PPO
from war_train.run import checkpoint
from war_train.run.games import MakeEnv
from war_train.run.training import Training
from war_train.vec_env import SelfPlayVecEnv


def train(
    config: TrainConfig,
    callbacks: Sequence[BaseCallback] = (),
    *,
    make_env: MakeEnv = SelfPlayVecEnv,
) -> Path:
    """Trains an agent.

    ``config.out`` then holds ``model.safetensors`` and its card ``model.json``, ``config.json``,
    ``log.jsonl`` (one line per update), ``tensorboard/``, ``state.safetensors``, with which
    `resume` goes on, and ``run.lock``. The same configuration with the same
    seed gives the same run on the same machine, times apart. Global generators neither matter nor
    change, and the process is afterwards as before: matrix products in bfloat16, threads and signal
    handlers are for the run only.

    SIGINT and SIGTERM end the run after the step or update that is going on; that needs the main
    thread. A callback that returns False ends it too, and then there is no last evaluation and no
    error, as in Stable-Baselines3. However a run ends early, what is saved is how it stood after
    its last update: steps behind that are played again by `resume`, and are in no row of the log.

    Args:
        config: all there is to say.
        callbacks: further callbacks of Stable-Baselines3, called at every step.
        make_env: makes the games from the arguments of `SelfPlayVecEnv`.

    Returns:
        The model file, also if a callback has ended the run.

    Raises:
        ValueError: an opponent that is unknown, or a folder that is not empty; nothing is written.
        TrainingStoppedError: a signal came; the model has been saved.
        TrainingDivergedError: a loss, a weight or a moment is not finite; the last state and model
            that were are kept.
        OSError: the disk is full or cannot be written; the last model that was saved is whole.
    """
    return _training(config, callbacks, make_env).run(goes_on=False)


def resume(
    folder: str | Path, callbacks: Sequence[BaseCallback] = (), *, progress: bool = True
) -> Path:
    """Goes on with a run that ended early, however it ended, from where it was saved last.

    What it then leaves is what it would have left without the break, times apart.

    Args:
        folder: the run's, with ``config.json`` and ``state.safetensors``.
        callbacks: as for `train`; they know nothing of the steps before.
        progress: as in `TrainConfig`.

    Returns:
        The model file.

    Raises:
        ValueError: no such run, one that has finished or that another process works on, damaged
            files, or an opponent or teacher whose model or code is no longer what it was; nothing
            has changed then.
        TrainingStoppedError, TrainingDivergedError, OSError: as `train`.
    """
    config = checkpoint.read_config(Path(folder), TrainConfig, progress=progress)
    return _training(config, callbacks, SelfPlayVecEnv).run(goes_on=True)


def _training(
    config: TrainConfig, callbacks: Sequence[BaseCallback], make_env: MakeEnv
) -> Training:
    settings = config.settings
    method = PPO(settings.run, settings.ppo)
    return Training(settings.run, settings.league, method, settings.to_json(), callbacks, make_env)
