"""What happens in a run beside learning: opponents, evaluations, checkpoints, and the log."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from war_agents import scripted
from war_agents.models.stored import StoredModel
from war_agents.networks.policy import TorchPolicy
from war_agents.networks.save import save_model
from war_train.finite import TrainingDivergedError, require_finite
from war_train.league.config import EXPLOITER, PAST, SELF
from war_train.league.growth import Growth
from war_train.league.named import Named, agents_of, record
from war_train.run.config import RunSettings
from war_train.run.evaluation import evaluate
from war_train.run.history import History
from war_train.run.learner import Learner, Watcher
from war_train.run.log import RunLog
from war_train.run.networks import weights
from war_train.run.rows import Rows
from war_train.run.state import RunState
from war_train.run.stopping import StopRequest
from war_train.vec_env import SelfPlayVecEnv


class _EvaluationStoppedError(Exception):
    """A signal came during an evaluation."""


class Loop(Watcher):
    """Watches a learner from the first step of a run to the last, or until a signal comes.

    Args:
        settings: the run's.
        all_settings: those of all parts of the run, as JSON has them.
        learner, games: what is watched.
        growth: adds opponents.
        named: the opponents by name.
        log: the run's.
        stop: tells whether a signal has come.
        history: where the run stands.

    Attributes:
        finished: all steps have been learned from, and the last evaluation is over.
    """

    def __init__(
        self,
        settings: RunSettings,
        all_settings: Mapping[str, Any],
        learner: Learner,
        games: SelfPlayVecEnv,
        growth: Growth,
        named: Named,
        log: RunLog,
        stop: StopRequest,
        history: History,
    ) -> None:
        self.finished = False
        self._settings = settings
        self._all_settings = all_settings
        self._learner = learner
        self._games = games
        self._growth = growth
        self._named = named
        # Code is made anew for every evaluation, so that none touches the agents of training.
        self._models = {
            name: agents_of(found)
            for name, found in named.items()
            if isinstance(found.source, StoredModel)
        }
        self._log = log
        self._stop = stop
        self._rows = Rows(log, history.seconds)
        if history.exploiter_score is not None:
            self._rows.pending["exploiter"] = history.exploiter_score
        self._evaluations = history.evaluations
        self._state: RunState | None = None
        self._save_due = False
        self._in_rollout = False

    def started(self) -> None:
        """Saves the run, so that it can go on from its first moment."""
        self._rows.begin(self._learner.steps)
        if not self._learner.steps:
            self._capture().write(self._settings.out)

    def stepped(self) -> bool:
        """Whatever is due by the number of steps; False if a signal has come."""
        settings, steps = self._settings, self._learner.steps
        self._growth.stepped(self._crossed)
        if self._crossed(settings.evaluate_every) and steps < settings.steps:
            self._evaluate(settings.evaluate_deals)
        if self._crossed(settings.save_every):
            self._save_due = True
        self._log.show(steps)
        return self._stop.number is None

    def rollout_started(self) -> None:
        """Logs the last update, notes where the run stands, and does what takes long."""
        self._in_rollout = True
        self._write_row()
        self._capture()
        if self._save_due:
            self.save()
        if self._growth.exploiter_due and self._add_exploiter():
            self._capture()
            self.save()  # it has taken long

    def rollout_ended(self) -> None:
        """All that has been played will be learned from."""
        self._in_rollout = False

    def ended(self) -> None:
        """Judges and notes the last update, if learning was not ended before it."""
        if self._in_rollout:  # nothing has been learned from its steps
            return
        if self._settings.final_deals and not self._evaluate(self._settings.final_deals):
            return
        self._write_row()
        self._capture()
        self.finished = True

    @property
    def steps(self) -> int:
        """Steps that the run has learned from, as far as it is noted."""
        return self._noted.count("steps")

    def save(self) -> Path:
        """Writes where the run stood after the last update: its state, its model, and the card.

        Raises:
            TrainingDivergedError: something of it is not finite; nothing is written.
            OSError: it cannot be written; what was there still is.
        """
        self._save_due = False
        state, settings = self._noted, self._settings
        require_finite(state.arrays, self.steps)
        state.write(settings.out)
        return save_model(
            settings.out,
            self._learner.best_of(state),
            settings.played,
            memory=settings.memory,
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
                self._learner.require_finite()
            raise

    def _crossed(self, every: int) -> bool:
        """Has the step just made reached a multiple of ``every``?"""
        steps = self._learner.steps
        return every > 0 and steps // every > (steps - self._games.num_envs) // every

    def _add_exploiter(self) -> bool:
        """Lets one learn and join; False if a signal has ended that."""
        with self._rows.uncounted():
            score = self._growth.add_exploiter()
        if score is None:
            return False
        self._rows.pending["exploiter"] = round(score, 4)
        return True

    @property
    def _noted(self) -> RunState:
        if self._state is None:
            raise RuntimeError("the run has not begun")
        return self._state

    def _capture(self) -> RunState:
        """Notes where the run stands, between two updates; the league's networks are not copied.

        Raises:
            TrainingDivergedError: it is not worth that; what was noted before is kept.
        """
        self._learner.require_finite()
        arrays, entries = self._learner.get_state()
        league = self._games.league
        for number, network in league.networks.items():
            arrays |= weights(f"league/{number}", network)
        arrays |= {f"games/{name}": array for name, array in self._games.get_state().items()}
        self._state = RunState(
            arrays,
            {
                **entries,
                "steps": self._learner.steps,
                "league": league.get_state(),
                "config": self._all_settings,
                "seconds": self._rows.seconds,
                "log_size": self._log.size,
                "evaluations": list(self._evaluations),
                "exploiter_due": self._growth.exploiter_due,
                "exploiter_score": self._rows.pending.get("exploiter"),
                "opponents": record(self._named),
            },
        )
        return self._state

    def _evaluate(self, deals: int) -> bool:
        """Judges the learner, for the next row of the log; False if a signal has ended that."""
        settings = self._settings
        with self._rows.uncounted():
            network = self._learner.best.eval()
            agent = TorchPolicy(network, name="learner", memory=settings.memory)
            try:
                scores = evaluate(
                    agent,
                    settings.played,
                    self._opponents(),
                    deals=deals,
                    seed=settings.seed,
                    agents=self._models,
                    progress=self._require_no_signal,
                )
            except _EvaluationStoppedError:
                return False
        self._rows.pending["evaluation"] = scores
        self._evaluations.append({"steps": self._learner.steps, "scores": scores})
        return True

    def _opponents(self) -> list[str]:
        """Whom the learner is judged against: all scripted agents, and those it learns from."""
        own = (name for name in self._games.league.names if name not in (SELF, PAST, EXPLOITER))
        return list(dict.fromkeys([*scripted.names(self._settings.game), *own]))

    def _require_no_signal(self, _: int) -> None:
        if self._stop.number is not None:
            raise _EvaluationStoppedError

    def _write_row(self) -> None:
        """Logs the update that has just ended, if there was one since the last row."""
        steps = self._learner.steps
        if self._rows.is_due(steps):
            self._rows.write(steps, self._learner.take_figures(), self._games.take_results())
