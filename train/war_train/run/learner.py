"""What a way to learn is to the rest of a run: a learner that can be watched, saved and restored.

A method of training is a package beside this one. Loop, evaluations, checkpoints, log, stopping and
the league know no more of it than what stands here.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_train.run.state import RunState
from war_train.vec_env import SelfPlayVecEnv


class Watcher:
    """Is told how learning goes on, and may end it; by itself it does nothing."""

    def started(self) -> None:
        """Before the first step."""

    def rollout_started(self) -> None:
        """Between two updates, and before the first: all that was played has been learned from."""

    def stepped(self) -> bool:
        """After a step of all games; False ends learning at once."""
        return True

    def rollout_ended(self) -> None:
        """Before an update."""

    def ended(self) -> None:
        """After the last step, also if learning was ended."""


class Learner(Protocol):
    """One learner and its games."""

    @property
    def steps(self) -> int:
        """Decisions that it has taken so far, over all games."""

    @property
    def network(self) -> CardNetwork:
        """What it plays with, and goes on changing."""

    @property
    def best(self) -> CardNetwork:
        """What it is judged by, and what is saved of it."""

    def learn(self, steps: int, watcher: Watcher) -> None:
        """Takes ``steps`` more decisions, rounded up to whole updates, and learns from them.

        Raises:
            TrainingDivergedError: a loss or anything learned is not finite.
        """

    def take_figures(self) -> dict[str, float]:
        """What the last update says of itself, by the names of the log; empty the next time."""

    def require_finite(self) -> None:
        """Refuses losses or anything learned that is not finite.

        Raises:
            TrainingDivergedError: naming the step and what it is.
        """

    def get_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Between two updates: arrays and JSON with all that it goes on from, but for its games."""

    def set_state(self, state: RunState) -> None:
        """Goes on from what `get_state` gave; its games must stand where they did.

        Raises:
            ValueError: the state is not that of such a learner.
        """

    def best_of(self, state: RunState) -> CardNetwork:
        """What `best` was in a state.

        Raises:
            ValueError: the state is not that of such a learner.
        """


class Method(Protocol):
    """A way to learn, with its settings for one run."""

    @property
    def num_envs(self) -> int:
        """Games at once."""

    @property
    def shape(self) -> NetworkShape:
        """How large its networks are."""

    @property
    def teacher(self) -> str | None:
        """The agent that its learner imitates at first, if there is one."""

    def make_learner(
        self,
        env: SelfPlayVecEnv,
        seed: int,
        *,
        teachers: Sequence[Agent] = (),
        callbacks: Sequence[Any] = (),
        first: CardNetwork | None = None,
        steps: int | None = None,
    ) -> Learner:
        """A new learner.

        Args:
            env: the games that it learns from.
            seed: fixes its weights and all that it samples.
            teachers: agents, one for each variant, that it imitates at first.
            callbacks: what is called beside its watcher, of the kind that the method knows.
            first: what it begins as, a copy; by default a new network.
            steps: what its schedules run over; by default the run's steps.
        """
