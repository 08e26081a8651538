"""Strategic War as a PettingZoo AEC environment."""

from typing import Any

from war_envs.aec import TableAEC
from war_envs.kernels import RUNNING, Records
from war_envs.strategic_war import words
from war_envs.table import AGENTS


class StrategicWarAEC(TableAEC):
    """AEC view: whoever must flip a card or answer whether to surrender is next."""

    metadata: dict[str, Any] = {
        "name": "strategic_war_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def _first_agent(self) -> str:
        return self._due({}, self._games)

    def _due(self, books: dict[str, Any], games: Records) -> str:
        return AGENTS[self._engine.module.rules.mover_of(games, 0)]

    def _choose(self, seat: int, action: int) -> None:
        status, mover, *seen = self._play(action)
        self.agent_selection = AGENTS[mover]
        self._settle(status, words.event(seat, action, status != RUNNING, *seen))
