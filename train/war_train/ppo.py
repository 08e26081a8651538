"""The training loop: `train`, and `resume`."""

import contextlib
import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback, CallbackList
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.type_aliases import Schedule

from war_agents import Agent, names
from war_agents.arena.match import play_match
from war_agents.network import CardNetwork, NetworkShape
from war_agents.policy import TorchPolicy, torch_threads
from war_envs import seeding
from war_envs.variant import Variant
from war_train import checkpoint
from war_train.config import PAST, SELF, TrainConfig
from war_train.league import League
from war_train.learner import CardPolicy, Rollout, SelfPlayPPO
from war_train.log import RunLog
from war_train.resume import capture, restore
from war_train.state import STATE_FILE, RunState
from war_train.stopping import StopRequest, TrainingStoppedError
from war_train.vec_env import SelfPlayVecEnv

LAST_RATE = 0.05
LAST_ENTROPY = 0.1

# What SB3 calls its figures, and what the log does.
_FIGURES = {
    "train/policy_gradient_loss": "policy_loss",
    "train/value_loss": "value_loss",
    "train/entropy_loss": "entropy",
    "train/approx_kl": "approx_kl",
    "train/clip_fraction": "clip_fraction",
    "train/explained_variance": "explained_variance",
    "train/learning_rate": "learning_rate",
}


def train(config: TrainConfig, callbacks: Sequence[BaseCallback] = ()) -> Path:
    """Trains an agent.

    ``config.out`` then holds ``model.safetensors`` and its card ``model.json``, ``config.json``,
    ``log.jsonl`` (a line an update), ``tensorboard/``, ``state.safetensors``, with which `resume`
    goes on, and ``run.lock``. The same configuration with the same
    seed gives the same run on the same machine, times apart. Global generators neither matter nor
    change. SIGINT and SIGTERM end the run after the step or update that is going on; that needs the
    main thread.

    Args:
        config: all there is to say.
        callbacks: further callbacks of Stable-Baselines3, called at every step.

    Returns:
        The model file.

    Raises:
        ValueError: an opponent that is unknown, or a folder that is not empty; nothing is written.
        TrainingStoppedError: a signal came; the model has been saved.
        OSError: the disk is full or cannot be written; the last model that was saved is whole.
    """
    return _run(config, callbacks, goes_on=False)


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
        ValueError: no such run, one that has finished or that another process works on, or damaged
            files; nothing has changed then.
        TrainingStoppedError, OSError: as `train`.
    """
    config = checkpoint.read_config(Path(folder), progress=progress)
    return _run(config, callbacks, goes_on=True)


def _run(config: TrainConfig, callbacks: Sequence[BaseCallback], *, goes_on: bool) -> Path:
    variant = config.variant
    weights, minibatches = _generators(config)
    shape = NetworkShape(config.embedding, config.hidden)
    learner = TorchPolicy(CardNetwork(variant, shape), name=SELF, memory=config.memory)
    league = League(variant, config.shares, learner=learner, past_size=config.past_size)
    if not goes_on:
        checkpoint.start_folder(config.out)
    with (
        checkpoint.locked(config.out),
        torch_threads(config.threads),
        _fast_products(),
        StopRequest() as stop,
    ):
        env = SelfPlayVecEnv(
            config.game,
            config.num_envs,
            variant,
            opponents=league,
            encoding=TorchPolicy.encoding,
            memory=config.memory,
            seed=config.seed,
        )
        model = _model(config, env, shape, weights, minibatches)
        learner.network = model.policy.network
        if goes_on:  # read only now that nobody else can write it
            entries = _restored(RunState.read(config.out), config, model, env)
        else:
            checkpoint.write_json(config.out / checkpoint.CONFIG_FILE, config.to_json())
            entries = _Entries()
        steps = model.num_timesteps
        with RunLog(
            config.out, config.steps, progress=config.progress, kept=entries.log_size, steps=steps
        ) as log:
            run = _Run(config, variant, learner, env, log, stop, entries)
            model.learn(
                max(0, config.steps - steps),
                CallbackList([*callbacks, run]),
                log_interval=None,  # type: ignore[arg-type]
                reset_num_timesteps=not goes_on,
            )
            file = run.save()
        env.close()
        if stop.number is not None:
            raise TrainingStoppedError(file, stop.number, model.num_timesteps)
    return file


@dataclass
class _Entries:
    """What a run's state holds beside learner and games."""

    log_size: int = 0
    seconds: float = 0.0
    evaluations: list[dict[str, Any]] = field(default_factory=list)


def _restored(
    state: RunState, config: TrainConfig, model: SelfPlayPPO, env: SelfPlayVecEnv
) -> _Entries:
    """Puts a new learner and its games where a run stood."""
    try:
        env.reset()  # for arrays of the right shapes, which are then replaced
        restore(state, config, model, env)
        seconds, evaluations = state.entries.get("seconds"), state.entries.get("evaluations")
        if not isinstance(seconds, float) or not 0.0 <= seconds < float("inf"):
            raise ValueError(f"seconds is {seconds!r}, not a time")
        if not isinstance(evaluations, list) or not all(map(_is_evaluation, evaluations)):
            raise ValueError("evaluations are not what they must be")
        entries = _Entries(state.count("log_size"), seconds, evaluations)
    except ValueError as error:
        file = config.out / STATE_FILE
        raise ValueError(f"{file} is not a state of this run: {error}") from error
    done = config.final_deals == 0 or (evaluations and evaluations[-1]["steps"] >= config.steps)
    if model.num_timesteps >= config.steps and done:
        raise ValueError(f"the run in {config.out} has finished its {config.steps} steps")
    return entries


def _is_evaluation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("steps"), int)
        and isinstance(value.get("scores"), dict)
    )


def _generators(config: TrainConfig) -> tuple[torch.Generator, np.random.Generator]:
    """The run's own: for weights and actions, and for minibatches."""
    words = seeding.generator_state(int(config.seed or 0), seeding.AGENTS, 2**32)
    weights = torch.Generator().manual_seed(int(words[0] >> np.uint64(1)))
    return weights, np.random.default_rng([int(word) for word in words])


def _model(
    config: TrainConfig,
    env: SelfPlayVecEnv,
    shape: NetworkShape,
    weights: torch.Generator,
    minibatches: np.random.Generator,
) -> SelfPlayPPO:
    model = SelfPlayPPO(
        CardPolicy,
        env,
        total_steps=config.steps,
        learning_rate=_falling(config.learning_rate, LAST_RATE),
        entropy=_falling(config.entropy, LAST_ENTROPY),
        n_steps=config.rollout // config.num_envs,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip_range,
        vf_coef=config.value_weight,
        max_grad_norm=config.max_grad_norm,
        rollout_buffer_class=Rollout,
        rollout_buffer_kwargs={"generator": minibatches},
        policy_kwargs={
            "variant": config.variant,
            "shape": shape,
            "generator": weights,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},
        },
        device="cpu",
    )
    model.set_logger(Logger(None, []))  # it only gathers; `_Run` writes
    return model


def _falling(start: float, last: float) -> Schedule:
    """From ``start`` to ``last`` times that, linearly in the progress remaining, 1 to 0."""
    return lambda remaining: start * (last + (1.0 - last) * remaining)


def evaluate(
    agent: Agent,
    variant: Variant,
    *,
    deals: int,
    seed: int,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """An agent's score against every registered agent of the game.

    Args:
        agent: who is measured.
        variant: what is played.
        deals: deals an opponent, each from both seats (Strategic War: and both first attackers);
            they are never those of training.
        seed: fixes them.
        progress: called often; what it raises ends the evaluation.

    Returns:
        By opponent: ``deals``, ``score`` from 0 to 1, a draw being half a point, and its 95 %
        interval ``low`` to ``high``.
    """
    results = {}
    for name in names(variant.game):
        match = play_match(
            agent,
            name,
            game=variant.game,
            variant=variant,
            deals=deals,
            seed=seed,
            progress=progress,
        )
        results[name] = {
            "deals": deals,
            "score": match.score,
            "low": match.low,
            "high": match.high,
        }
    return results


class _EvaluationStoppedError(Exception):
    """A signal came during an evaluation."""


class _Run(BaseCallback):
    """What happens beside learning: past selves, evaluations, saving, the log, and stopping."""

    model: SelfPlayPPO

    def __init__(
        self,
        config: TrainConfig,
        variant: Variant,
        learner: TorchPolicy,
        env: SelfPlayVecEnv,
        log: RunLog,
        stop: StopRequest,
        entries: _Entries,
    ) -> None:
        super().__init__()
        self._config = config
        self._variant = variant
        self._learner = learner
        self._env = env
        self._log = log
        self._stop = stop
        self._evaluations = entries.evaluations
        self._pending: dict[str, Any] = {}
        self._logged_at = time.monotonic()
        self._start = self._logged_at - entries.seconds
        self._state: RunState | None = None
        self._due = False

    def _on_training_start(self) -> None:
        self._logged_steps = self.num_timesteps

    def _crossed(self, every: int) -> bool:
        """Has the step just made reached a multiple of ``every``?"""
        if every == 0:
            return False
        return self.num_timesteps // every > (self.num_timesteps - self._env.num_envs) // every

    def _on_step(self) -> bool:
        config = self._config
        if self._crossed(config.past_every) and PAST in self._env.league.names:
            past = TorchPolicy(
                copy.deepcopy(self._learner.network), name=PAST, memory=config.memory
            )
            self._env.league.add_past(past, self._env.opponents)
        if self._crossed(config.evaluate_every) and self.num_timesteps < config.steps:
            self._evaluate(config.evaluate_deals)
        if self._crossed(config.save_every):
            self._due = True
        self._log.show(self.num_timesteps)
        return self._stop.number is None

    def _on_rollout_start(self) -> None:
        self._write_row()
        self._capture()
        if self._due:
            self.save()

    def _capture(self) -> None:
        """Notes where the run stands, between two updates."""
        entries = {
            "seconds": time.monotonic() - self._start,
            "log_size": self._log.size,
            "evaluations": list(self._evaluations),
        }
        self._state = capture(self.model, self._env, entries)

    def _on_training_end(self) -> None:
        if self._stop.number is None and self._config.final_deals:
            self._evaluate(self._config.final_deals)
        self._write_row()
        if self._stop.number is None:
            self._capture()

    def _evaluate(self, deals: int) -> None:
        begun = time.monotonic()
        self.model.policy.set_training_mode(False)
        seed = int(self._config.seed or 0)
        with contextlib.suppress(_EvaluationStoppedError):
            results = evaluate(
                self._learner, self._variant, deals=deals, seed=seed, progress=self._go_on
            )
            self._pending["evaluation"] = results
            self._evaluations.append({"steps": self.num_timesteps, "scores": results})
        self._logged_at += time.monotonic() - begun  # it is no part of the speed

    def _go_on(self, _: int) -> None:
        if self._stop.number is not None:
            raise _EvaluationStoppedError

    def save(self) -> Path:
        """Writes the model as it is now, its card, and where the run stood at the last update."""
        self._due = False
        self.model.policy.set_training_mode(False)
        if self._state is not None:
            self._state.write(self._config.out)
        return checkpoint.save_model(
            self._config.out,
            self._learner.network,
            self._variant,
            memory=self._config.memory,
            entries={
                "steps": self.num_timesteps,
                "config": self._config.to_json(),
                "evaluations": self._evaluations,
            },
        )

    def _write_row(self) -> None:
        """Logs the update that has just ended, if there was one since the last row."""
        steps = self.num_timesteps
        if steps == self._logged_steps:
            return
        now = time.monotonic()
        row: dict[str, Any] = {
            "steps": steps,
            "seconds": round(now - self._start, 3),
            "steps_per_second": round((steps - self._logged_steps) / (now - self._logged_at)),
        }
        figures: Mapping[str, Any] = self.model.logger.name_to_value
        row |= {name: float(figures[key]) for key, name in _FIGURES.items() if key in figures}
        if "entropy" in row:
            row["entropy"] *= -1.0
        self.model.logger.dump(steps)  # forgets them
        results = self._env.take_results()
        played = {name: sum(counts) for name, counts in results.items() if sum(counts)}
        row["games"] = played
        row["score"] = {
            name: round((results[name][0] + results[name][1] / 2) / number, 4)
            for name, number in played.items()
        }
        row |= self._pending
        self._pending = {}
        self._log.write(row)
        scores = " ".join(f"{name} {score:.2f}" for name, score in row["score"].items())
        self._log.show(steps, f"{row['steps_per_second']}/s {scores}")
        self._logged_steps, self._logged_at = steps, time.monotonic()


@contextlib.contextmanager
def _fast_products() -> Iterator[None]:
    """Matrix products in bfloat16 within; where a processor has them they take half as long."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
