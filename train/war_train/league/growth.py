"""How a league grows in a run: past selves of the learner, and exploiters, join it."""

import copy
from collections.abc import Callable

from war_agents.networks.card_network import CardNetwork
from war_agents.networks.policy import TorchPolicy
from war_envs.engine import seeding
from war_train.finite import TrainingDivergedError
from war_train.league.config import EXPLOITER, PAST, LeagueSettings
from war_train.league.exploiter import train_exploiter
from war_train.run.config import RunSettings
from war_train.run.learner import Learner, Method
from war_train.run.stopping import StopRequest
from war_train.vec_env import SelfPlayVecEnv


class Growth:
    """Adds networks to the league that plays in a run's games.

    Args:
        run, settings: the run's.
        method: how exploiters learn.
        learner: whose past selves join, and whom exploiters are to beat.
        games: the learner's.
        exploiter_due: is one to be trained now?
        stop: tells whether a signal has come, which ends the learning of an exploiter.

    Attributes:
        exploiter_due: is one to be trained as soon as a rollout has been learned from?
    """

    def __init__(
        self,
        run: RunSettings,
        settings: LeagueSettings,
        method: Method,
        learner: Learner,
        games: SelfPlayVecEnv,
        *,
        exploiter_due: bool,
        stop: StopRequest,
    ) -> None:
        self._run = run
        self._settings = settings
        self._method = method
        self._learner = learner
        self._games = games
        self._stop = stop
        self.exploiter_due = exploiter_due

    def stepped(self, crossed: Callable[[int], bool]) -> None:
        """After a step: adds a past self, and notes whether an exploiter is due.

        Args:
            crossed: has the step reached a multiple of so many steps?
        """
        pools = self._games.league.pools
        if PAST in pools and crossed(self._settings.past_every):
            self._add(PAST, copy.deepcopy(self._learner.network))
        if EXPLOITER in pools and crossed(self._settings.exploiter_every):
            self.exploiter_due = True

    def add_exploiter(self) -> float | None:
        """Trains a network to beat the learner, and makes it an opponent, unless it is stopped.

        Returns:
            Its score against the learner, 0 to 1, or None if it has been stopped.

        Raises:
            TrainingDivergedError: it has.
        """
        run, number = self._run, self._games.league.next_number
        seed = seeding.generator_state(run.seed, seeding.AGENTS, 2**32 + number)
        network = copy.deepcopy(self._learner.network)
        try:
            exploiter = train_exploiter(
                self._method,
                run.played,
                network,
                TorchPolicy(network.eval(), name=EXPLOITER, memory=run.memory),
                memory=run.memory,
                steps=self._settings.exploiter_steps,
                seed=int(seed[0] >> 1),
                go_on=self._may_go_on,
            )
        except TrainingDivergedError as error:
            steps = self._learner.steps
            raise TrainingDivergedError(f"the exploiter of step {steps}: {error}") from error
        if exploiter is None:
            return None
        self.exploiter_due = False
        self._add(EXPLOITER, exploiter.network)
        return exploiter.score

    def _may_go_on(self) -> bool:
        return self._stop.number is None

    def _add(self, pool: str, network: CardNetwork) -> None:
        self._games.league.add(pool, network, self._games.opponents)
