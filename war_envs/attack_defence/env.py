"""War of Attack and Defence as PettingZoo environments: AEC and parallel."""

from typing import Any, ClassVar

from pettingzoo import ParallelEnv

from war_envs.aec import TableAEC
from war_envs.attack_defence import words
from war_envs.kernels import RUNNING, Records
from war_envs.messages import shown
from war_envs.table import AGENTS, Observation, Table
from war_envs.variant import integer

METADATA = {"name": "attack_defence_v0", "render_modes": ["ansi"], "is_parallelizable": True}


class AttackDefenceAEC(TableAEC):
    """AEC view: player_0 commits a choice that nobody sees, player_1 chooses, a turn is played."""

    metadata: dict[str, Any] = METADATA
    books: ClassVar[tuple[str, ...]] = (*TableAEC.books, "_committed")

    # player_0's choice of this turn, or None: kept apart from all that player_1 can see
    _committed: int | None

    def _open_books(self) -> None:
        super()._open_books()
        self._committed = None

    def _first_agent(self) -> str:
        return AGENTS[0]

    def _choose(self, seat: int, action: int) -> None:
        if self._committed is None:
            self._committed = action
            self.agent_selection = AGENTS[1]
            return
        actions = (self._committed, action)
        status, *seen = self._play(*actions)
        self._committed = None
        self.agent_selection = AGENTS[0]
        self._settle(status, words.event(actions, *seen))

    def _due(self, books: dict[str, Any], games: Records) -> str:
        return AGENTS[0] if books["_committed"] is None else AGENTS[1]

    def _check_books(self, books: Any, games: Records) -> None:
        super()._check_books(books, games)
        committed = books["_committed"]
        if committed is not None:
            integer("state: _committed", committed, 0, 1)
            if games[0]["status"] != RUNNING:
                raise ValueError(f"state: _committed is {committed}, but the game is over")


class AttackDefenceParallel(Table, ParallelEnv[str, Observation, int]):
    """Parallel view: both choices at once."""

    metadata: dict[str, Any] = METADATA
    api = "parallel"

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Deals a new game; arguments and errors as in the AEC environment's ``reset``.

        Returns:
            Observations and infos by agent.
        """
        self._deal(seed, options)
        return {agent: self.observe(agent) for agent in AGENTS}, self.infos

    def step(
        self, actions: dict[str, int]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Plays one turn with both agents' choices.

        Returns:
            Observations, rewards, terminations, truncations and infos by agent.

        Raises:
            ValueError: a missing, unknown or illegal choice, or a game that is over; nothing has
                changed then.
        """
        self._require_reset()
        if not self.agents:
            raise ValueError("the game is over; call reset()")
        given: object = actions  # whatever the caller passed
        if not isinstance(given, dict) or set(given) != set(AGENTS):
            raise ValueError(
                f"actions={shown(actions)} is not allowed; give an action for each of {AGENTS}"
            )
        first, second = (self._checked_action(k, actions[agent]) for k, agent in enumerate(AGENTS))
        status, *seen = self._play(first, second)
        self._write_books(status, words.event((first, second), *seen))
        observations = {agent: self.observe(agent) for agent in AGENTS}
        flags = self.terminations.copy(), self.truncations.copy()
        result = observations, self.rewards.copy(), *flags, self.infos
        if status != RUNNING:
            self.agents = []
            self.rewards, self.terminations, self.truncations, self.infos = {}, {}, {}, {}
        return result
