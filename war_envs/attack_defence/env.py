"""War of Attack and Defence as PettingZoo environments: AEC and parallel."""

import copy
from typing import Any, ClassVar

from pettingzoo import ParallelEnv

from war_envs.envs.aec import TableAEC
from war_envs.envs.attributes import Copied
from war_envs.envs.table import AGENTS, Observation, Table
from war_envs.messages import shown
from war_envs.state import State
from war_envs.variant import integer

METADATA = Copied(
    {"name": "attack_defence_v0", "render_modes": ["ansi"], "is_parallelizable": True},
    copy.deepcopy,
)


class AttackDefenceAEC(TableAEC):
    """AEC view: player_0 commits a choice that nobody sees, player_1 chooses, a turn is played."""

    metadata = METADATA
    beside: ClassVar[tuple[str, ...]] = (*TableAEC.beside, "committed")

    # player_0's choice of this turn, or None: kept apart from all that player_1 can see
    _committed: int | None

    def _begin(self, position: State, beside: dict[str, Any]) -> None:
        self._committed = beside.get("committed")
        super()._begin(position, beside)

    def _due(self) -> str:
        return AGENTS[0] if self._committed is None else AGENTS[1]

    def _choose(self, seat: int, action: int) -> None:
        if self._committed is None:
            self._committed = action
            self._forget_shown()
            return
        first, self._committed = self._committed, None
        self._play(first, action)

    def _check_beside(self, beside: Any, position: State) -> None:
        super()._check_beside(beside, position)
        committed = beside["committed"]
        if committed is not None:
            integer("state: committed", committed, 0, 1)
            if position.over:
                raise ValueError(f"state: committed is {committed}, but the game is over")


class AttackDefenceParallel(Table, ParallelEnv[str, Observation, int]):
    """Parallel view: both choices at once."""

    metadata = METADATA
    api = "parallel"

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Deals a new game; arguments and errors as in the AEC environment's ``reset``.

        Returns:
            Observations and infos by agent.
        """
        self._deal(seed, options)
        return self._observations(), {agent: self._info(agent) for agent in AGENTS}

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
        if self._left:
            raise ValueError("the game is over; call reset()")
        given: object = actions  # whatever the caller passed
        if not isinstance(given, dict) or set(given) != set(AGENTS):
            raise ValueError(
                f"actions={shown(actions)} is not allowed; give an action for each of {AGENTS}"
            )
        first, second = (self._checked_action(k, actions[agent]) for k, agent in enumerate(AGENTS))
        self._play(first, second)
        result = (
            self._observations(),
            self._results(),
            self._by_agent(self._terminated),
            self._by_agent(self._truncated),
            {agent: self._info(agent) for agent in AGENTS},
        )
        if self._terminated or self._truncated:
            self._left = len(AGENTS)
            self._forget_shown()
        return result

    def _observations(self) -> dict[str, Observation]:
        return {agent: self.observe(agent) for agent in AGENTS}
