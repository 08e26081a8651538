"""What happens in a run beside learning: past selves, evaluations, saving, and the log."""

import contextlib
import copy
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from war_agents import scripted
from war_agents.models.save import save_model
from war_agents.models.stored import StoredModel
from war_agents.networks.policy import TorchPolicy
from war_envs.engine import seeding
from war_train.config import EXPLOITER, PAST, SELF, TrainConfig
from war_train.finite import TrainingDivergedError, require_finite
from war_train.league.named import Named, agents_of, record
from war_train.ppo.exploiter import train_exploiter
from war_train.ppo.learner import LOSSES, SelfPlayPPO
from war_train.ppo.resume import best_network, capture
from war_train.run.evaluation import evaluate
from war_train.run.log import RunLog
from war_train.run.state import RunState
from war_train.run.stopping import StopRequest
from war_train.vec_env import SelfPlayVecEnv

# What SB3 calls its figures, and what the log does.
_FIGURES = {
    **LOSSES,
    "train/entropy": "entropy",
    "train/approx_kl": "approx_kl",
    "train/clip_fraction": "clip_fraction",
    "train/explained_variance": "explained_variance",
    "train/learning_rate": "learning_rate",
}


@dataclass
class Entries:
    """What a run's state holds beside learner and games."""

    log_size: int = 0
    seconds: float = 0.0
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    exploiter_due: bool = False
    exploiter_score: float | None = None


class _EvaluationStoppedError(Exception):
    """A signal came during an evaluation."""


class Run(BaseCallback):
    """What happens beside learning: past selves, evaluations, saving, the log, and stopping.

    Attributes:
        finished: all steps have been learned from, and the last evaluation is over.
    """

    model: SelfPlayPPO

    def __init__(
        self,
        config: TrainConfig,
        named: Named,
        learner: TorchPolicy,
        env: SelfPlayVecEnv,
        log: RunLog,
        stop: StopRequest,
        entries: Entries,
    ) -> None:
        super().__init__()
        self.finished = False
        self._config = config
        self._named = named
        # Code is made anew for every evaluation, so that none touches the agents of training.
        self._models = {
            name: agents_of(found)
            for name, found in named.items()
            if isinstance(found.origin.given, StoredModel)
        }
        self._learner = learner
        self._env = env
        self._log = log
        self._stop = stop
        self._evaluations = entries.evaluations
        self._pending: dict[str, Any] = {}
        if entries.exploiter_score is not None:
            self._pending["exploiter"] = entries.exploiter_score
        self._logged_at = time.monotonic()
        self._start = self._logged_at - entries.seconds
        self._state: RunState | None = None
        self._due = False
        self._in_rollout = False
        self._exploiter_due = entries.exploiter_due

    def _on_training_start(self) -> None:
        self._logged_steps = self.num_timesteps
        if not self.num_timesteps:  # so that it can go on from its first moment
            self._capture().write(self._config.out)

    def _crossed(self, every: int) -> bool:
        """Has the step just made reached a multiple of ``every``?"""
        if every == 0:
            return False
        return self.num_timesteps // every > (self.num_timesteps - self._env.num_envs) // every

    def _on_step(self) -> bool:
        config = self._config
        league = self._env.league
        if self._crossed(config.past_every) and PAST in league.pools:
            league.add(PAST, copy.deepcopy(self._learner.network), self._env.opponents)
        if self._crossed(config.exploiter_every) and EXPLOITER in league.pools:
            self._exploiter_due = True
        if self._crossed(config.evaluate_every) and self.num_timesteps < config.steps:
            self._evaluate(config.evaluate_deals)
        if self._crossed(config.save_every):
            self._due = True
        self._log.show(self.num_timesteps)
        return self._stop.number is None

    def _on_rollout_start(self) -> None:
        self._in_rollout = True
        self._write_row()
        self._capture()
        if self._due:
            self.save()
        if self._exploiter_due and self._add_exploiter():
            self._capture()
            self.save()  # it has taken long

    def _on_rollout_end(self) -> None:
        self._in_rollout = False

    def _add_exploiter(self) -> bool:
        """Trains a network to beat the learner, and makes it an opponent, unless it is stopped."""
        begun = time.monotonic()
        league, number = self._env.league, self._env.league.next_number
        seed = seeding.generator_state(self._config.resolved_seed, seeding.AGENTS, 2**32 + number)
        network = copy.deepcopy(self.model.policy.network)
        try:
            exploiter = train_exploiter(
                self._config,
                network,
                TorchPolicy(network.eval(), name=EXPLOITER, memory=self._config.memory),
                seed=int(seed[0] >> 1),
                go_on=self._go_on_training,
            )
        except TrainingDivergedError as error:
            steps = self.num_timesteps
            raise TrainingDivergedError(f"the exploiter of step {steps}: {error}") from error
        self._logged_at += time.monotonic() - begun  # it is no part of the speed
        if exploiter is None:
            return False
        self._exploiter_due = False
        self._pending["exploiter"] = round(exploiter.score, 4)
        league.add(EXPLOITER, exploiter.network, self._env.opponents)
        return True

    def _go_on_training(self) -> bool:
        return self._stop.number is None

    def _capture(self) -> RunState:
        """Notes where the run stands, between two updates.

        Raises:
            TrainingDivergedError: it is not worth that; what was noted before is kept.
        """
        self.model.require_finite()
        entries = {
            "config": self._config.to_json(),
            "seconds": time.monotonic() - self._start,
            "log_size": self._log.size,
            "evaluations": list(self._evaluations),
            "exploiter_due": self._exploiter_due,
            "exploiter_score": self._pending.get("exploiter"),
            "opponents": record(self._named),
        }
        self._state = capture(self.model, self._env, entries)
        return self._state

    def _on_training_end(self) -> None:
        if self._in_rollout:  # ended early: nothing has been learned from its steps
            return
        if self._config.final_deals and not self._evaluate(self._config.final_deals):
            return
        self._write_row()
        self._capture()
        self.finished = True

    def _evaluate(self, deals: int) -> bool:
        """Measures the learner, for the next row of the log; False if a signal has ended that."""
        begun = time.monotonic()
        self.model.policy.set_training_mode(False)
        seed = self._config.resolved_seed
        try:
            agent = TorchPolicy(self.model.best, name="learner", memory=self._config.memory)
            results = evaluate(
                agent,
                self._config.played,
                self._opponents(),
                deals=deals,
                seed=seed,
                agents=self._models,
                progress=self._go_on,
            )
        except _EvaluationStoppedError:
            return False
        self._pending["evaluation"] = results
        self._evaluations.append({"steps": self.num_timesteps, "scores": results})
        self._logged_at += time.monotonic() - begun  # it is no part of the speed
        return True

    def _opponents(self) -> list[str]:
        """Whom the learner is measured against: all scripted agents, and those it learns from."""
        own = (name for name in self._config.shares if name not in (SELF, PAST, EXPLOITER))
        return list(dict.fromkeys([*scripted.names(self._config.game), *own]))

    def _go_on(self, _: int) -> None:
        if self._stop.number is not None:
            raise _EvaluationStoppedError

    @property
    def steps(self) -> int:
        """Steps that the run has learned from, as far as it is noted."""
        return self._noted.count("steps")

    @property
    def _noted(self) -> RunState:
        if self._state is None:
            raise RuntimeError("the run has not begun")
        return self._state

    def save(self) -> Path:
        """Writes where the run stood after the last update: its state, its model, and the card.

        Raises:
            TrainingDivergedError: something of it is not finite; nothing is written.
            OSError: it cannot be written; what was there still is.
        """
        self._due = False
        state, config = self._noted, self._config
        require_finite(state.arrays, self.steps)
        state.write(config.out)
        return save_model(
            config.out,
            best_network(state, config),
            config.played,
            memory=config.memory,
            entries={name: state.entries[name] for name in ("steps", "config", "evaluations")},
        )

    @contextlib.contextmanager
    def saved_on_failure(self) -> Iterator[None]:
        """Whatever fails within, the run can go on from its last update, and tells what is broken.

        Raises:
            TrainingDivergedError: the network is; it fails in many ways, and this one says how.
        """
        try:
            yield
        except BaseException as error:
            if self._state is not None:
                with contextlib.suppress(OSError, TrainingDivergedError):
                    self.save()
            if isinstance(error, Exception):
                self.model.require_finite()
            raise

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
