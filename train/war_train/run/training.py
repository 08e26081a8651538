"""A whole run, whatever learns in it: from its settings to its model, or on from its state."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from war_agents.files import write_json
from war_agents.networks.card_network import CardNetwork
from war_agents.networks.policy import TorchPolicy, torch_threads
from war_train.league.config import SELF, LeagueSettings
from war_train.league.growth import Growth
from war_train.league.league import League
from war_train.league.named import Named, agents_of, named_agents, require_same
from war_train.run import checkpoint
from war_train.run.config import RunSettings
from war_train.run.games import MakeEnv, make_games
from war_train.run.history import History
from war_train.run.learner import Learner, Method
from war_train.run.log import RunLog
from war_train.run.loop import Loop
from war_train.run.networks import set_weights
from war_train.run.state import STATE_FILE, RunState
from war_train.run.stopping import StopRequest, TrainingStoppedError
from war_train.run.surroundings import unchanged_process
from war_train.vec_env import SelfPlayVecEnv


class Training:
    """A run to be made, or to be gone on with.

    Args:
        run, league: its settings.
        method: how it learns.
        all_settings: those of all its parts, as JSON has them.
        callbacks: what is called beside, of the kind that the method knows.
        make_env: makes the games from the arguments of `SelfPlayVecEnv`.
    """

    def __init__(
        self,
        run: RunSettings,
        league: LeagueSettings,
        method: Method,
        all_settings: Mapping[str, Any],
        callbacks: Sequence[Any],
        make_env: MakeEnv = SelfPlayVecEnv,
    ) -> None:
        self._run = run
        self._league = league
        self._method = method
        self._all_settings = all_settings
        self._callbacks = callbacks
        self._make_env = make_env

    def run(self, *, goes_on: bool) -> Path:
        """Trains until the run's steps are done, a callback ends it, or a signal comes.

        Args:
            goes_on: from the state in the run's folder; else the folder is made.

        Returns:
            The model file.

        Raises:
            ValueError, TrainingStoppedError, TrainingDivergedError, OSError: see
                `war_train.ppo.train` and `war_train.ppo.resume`.
        """
        with unchanged_process(), torch_threads(self._run.threads), StopRequest() as stop:
            return self._trained(stop, goes_on=goes_on)

    def _trained(self, stop: StopRequest, *, goes_on: bool) -> Path:
        run, method = self._run, self._method
        named = named_agents(self._league.opponents, method.teacher, run.played)
        teachers = () if method.teacher is None else agents_of(named[method.teacher])
        agent = TorchPolicy(CardNetwork(run.variant, method.shape), name=SELF, memory=run.memory)
        league = self._opponents(named, agent)
        if not goes_on:
            checkpoint.start_folder(run.out)
        games = make_games(
            run.played,
            method.num_envs,
            league,
            memory=run.memory,
            seed=run.seed,
            make_env=self._make_env,
        )
        with checkpoint.locked(run.out), contextlib.closing(games):
            learner = method.make_learner(
                games, run.seed, teachers=teachers, callbacks=self._callbacks
            )
            agent.network = learner.network
            if goes_on:  # read only now that nobody else can write it
                state = RunState.read(run.out)
                history = self._restored(state, learner, games)
                require_same(state.entries.get("opponents"), named)
            else:
                write_json(run.out / checkpoint.CONFIG_FILE, self._all_settings)
                history = History()
            loop, file = self._looped(stop, named, learner, games, history)
            if stop.number is not None:
                raise TrainingStoppedError(file, stop.number, loop.steps, finished=loop.finished)
        return file

    def _opponents(self, named: Named, learner: TorchPolicy) -> League:
        return League(
            self._run.played,
            self._league.opponents,
            learner=learner,
            memory=self._run.memory,
            past_size=self._league.past_size,
            exploiters_size=self._league.exploiter_size,
            agents={name: agents_of(found) for name, found in named.items()},
        )

    def _looped(
        self,
        stop: StopRequest,
        named: Named,
        learner: Learner,
        games: SelfPlayVecEnv,
        history: History,
    ) -> tuple[Loop, Path]:
        """Learns what is left to learn, and saves it."""
        run, steps = self._run, learner.steps
        growth = Growth(
            run,
            self._league,
            self._method,
            learner,
            games,
            exploiter_due=history.exploiter_due,
            stop=stop,
        )
        with RunLog(
            run.out, run.steps, progress=run.progress, kept=history.log_size, steps=steps
        ) as log:
            checkpoint.remove_parts(run.out)
            loop = Loop(run, self._all_settings, learner, games, growth, named, log, stop, history)
            with loop.saved_on_failure():
                learner.learn(max(0, run.steps - steps), loop)
            return loop, loop.save()

    def _restored(self, state: RunState, learner: Learner, games: SelfPlayVecEnv) -> History:
        """Puts a new learner and its games where a run stood."""
        run = self._run
        try:
            _require_same_settings(state.entries.get("config"), self._all_settings)
            games.reset()  # for arrays of the right shapes, which are then replaced
            _restore_league(state, games.league, run, learner)
            games.set_state(
                {name: state.array(f"games/{name}", now) for name, now in games.get_state().items()}
            )
            learner.set_state(state)
            history = History.of(state)
        except ValueError as error:
            file = run.out / STATE_FILE
            raise ValueError(f"{file} is not a state of this run: {error}") from error
        last = history.evaluations[-1]["steps"] if history.evaluations else 0
        if learner.steps >= run.steps and (run.final_deals == 0 or last >= run.steps):
            raise ValueError(f"the run in {run.out} has finished its {run.steps} steps")
        return history


def _restore_league(state: RunState, league: League, run: RunSettings, learner: Learner) -> None:
    networks = {}
    for number in sorted({_number(name) for name in state.arrays if name.startswith("league/")}):
        networks[number] = CardNetwork(run.variant, learner.network.shape)
        set_weights(state, f"league/{number}", networks[number])
    league.set_state(state.entries.get("league"), networks)


def _number(name: str) -> int:
    """The number of the opponent whose array this is."""
    number = name.split("/")[1]
    if not number.isascii() or not number.isdigit():
        raise ValueError(f"{name} is of no opponent")
    return int(number)


def _require_same_settings(saved: object, now: Mapping[str, Any]) -> None:
    """Refuses settings that are not those that a run was made with.

    Raises:
        ValueError: naming the first that differs.
    """
    if not isinstance(saved, dict):
        raise ValueError("it says nothing of the run's settings")
    for name, value in now.items():
        if name not in ("progress", "threads") and saved.get(name) != value:
            raise ValueError(f"{name} is {value!r} in config.json, but was {saved.get(name)!r}")
