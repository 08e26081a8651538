"""The training loop: `train`, and `resume`."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback, CallbackList

from war_agents.files import write_json
from war_agents.networks.card_network import CardNetwork
from war_agents.networks.policy import TorchPolicy, torch_threads
from war_train.config import SELF, TrainConfig
from war_train.league.league import League
from war_train.league.named import agents_of, named_agents, require_same
from war_train.ppo.callback import Entries, Run
from war_train.ppo.learner import SelfPlayPPO
from war_train.ppo.make import make_games, make_learner
from war_train.ppo.resume import restore
from war_train.run import checkpoint
from war_train.run.log import RunLog
from war_train.run.state import STATE_FILE, RunState
from war_train.run.stopping import StopRequest, TrainingStoppedError
from war_train.run.surroundings import unchanged_process
from war_train.vec_env import SelfPlayVecEnv

MakeEnv = Callable[..., SelfPlayVecEnv]


def train(
    config: TrainConfig,
    callbacks: Sequence[BaseCallback] = (),
    *,
    make_env: MakeEnv = SelfPlayVecEnv,
) -> Path:
    """Trains an agent.

    ``config.out`` then holds ``model.safetensors`` and its card ``model.json``, ``config.json``,
    ``log.jsonl`` (a line an update), ``tensorboard/``, ``state.safetensors``, with which `resume`
    goes on, and ``run.lock``. The same configuration with the same
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
    return _run(config, callbacks, make_env, goes_on=False)


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
    config = checkpoint.read_config(Path(folder), progress=progress)
    return _run(config, callbacks, SelfPlayVecEnv, goes_on=True)


def _run(
    config: TrainConfig, callbacks: Sequence[BaseCallback], make_env: MakeEnv, *, goes_on: bool
) -> Path:
    with unchanged_process(), torch_threads(config.threads), StopRequest() as stop:
        return _trained(config, callbacks, make_env, stop, goes_on=goes_on)


def _trained(
    config: TrainConfig,
    callbacks: Sequence[BaseCallback],
    make_env: MakeEnv,
    stop: StopRequest,
    *,
    goes_on: bool,
) -> Path:
    named = named_agents(config)
    learner = TorchPolicy(
        CardNetwork(config.variant, config.shape), name=SELF, memory=config.memory
    )
    league = League(
        config.played,
        config.shares,
        learner=learner,
        memory=config.memory,
        past_size=config.past_size,
        exploiters_size=config.exploiter_size,
        agents={name: agents_of(found) for name, found in named.items()},
    )
    teachers = () if config.teacher is None else agents_of(named[config.teacher])
    if not goes_on:
        checkpoint.start_folder(config.out)
    with (
        checkpoint.locked(config.out),
        contextlib.closing(make_games(config, league, config.resolved_seed, make_env)) as env,
    ):
        model = make_learner(config, env, config.resolved_seed, teachers=teachers)
        learner.network = model.policy.network
        if goes_on:  # read only now that nobody else can write it
            state = RunState.read(config.out)
            entries = _restored(state, config, model, env)
            require_same(state.entries.get("opponents"), named)
        else:
            write_json(config.out / checkpoint.CONFIG_FILE, config.to_json())
            entries = Entries()
        steps = model.num_timesteps
        with RunLog(
            config.out, config.steps, progress=config.progress, kept=entries.log_size, steps=steps
        ) as log:
            checkpoint.remove_parts(config.out)
            run = Run(config, named, learner, env, log, stop, entries)
            with run.saved_on_failure():
                model.learn(
                    max(0, config.steps - steps),
                    CallbackList([*callbacks, run]),
                    log_interval=None,  # type: ignore[arg-type]
                    reset_num_timesteps=not goes_on,
                )
            file = run.save()
        if stop.number is not None:
            raise TrainingStoppedError(file, stop.number, run.steps, finished=run.finished)
    return file


def _restored(
    state: RunState, config: TrainConfig, model: SelfPlayPPO, env: SelfPlayVecEnv
) -> Entries:
    """Puts a new learner and its games where a run stood."""
    try:
        _compare(state.entries.get("config"), config.to_json())
        env.reset()  # for arrays of the right shapes, which are then replaced
        restore(state, config, model, env)
        seconds, evaluations = state.entries.get("seconds"), state.entries.get("evaluations")
        if not isinstance(seconds, float) or not 0.0 <= seconds < float("inf"):
            raise ValueError(f"seconds is {seconds!r}, not a time")
        if not isinstance(evaluations, list) or not all(map(_is_evaluation, evaluations)):
            raise ValueError("evaluations are not what they must be")
        due, score = (state.entries.get(f"exploiter_{name}") for name in ("due", "score"))
        if not isinstance(due, bool) or not (score is None or isinstance(score, float)):
            raise ValueError(f"exploiter_due is {due!r}, exploiter_score {score!r}")
        entries = Entries(state.count("log_size"), seconds, evaluations, due, score)
    except ValueError as error:
        file = config.out / STATE_FILE
        raise ValueError(f"{file} is not a state of this run: {error}") from error
    done = config.final_deals == 0 or (evaluations and evaluations[-1]["steps"] >= config.steps)
    if model.num_timesteps >= config.steps and done:
        raise ValueError(f"the run in {config.out} has finished its {config.steps} steps")
    return entries


def _compare(saved: object, now: Mapping[str, Any]) -> None:
    """Refuses settings that are not those that a run was made with.

    Raises:
        ValueError: naming the first that differs.
    """
    if not isinstance(saved, dict):
        raise ValueError("it says nothing of the run's settings")
    for name, value in now.items():
        if name not in ("progress", "threads") and saved.get(name) != value:
            raise ValueError(f"{name} is {value!r} in config.json, but was {saved.get(name)!r}")


def _is_evaluation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("steps"), int)
        and isinstance(value.get("scores"), dict)
    )
