"""Strategic War as a PettingZoo AEC environment."""

import copy

from war_envs.envs.aec import TableAEC
from war_envs.envs.attributes import Copied
from war_envs.envs.table import AGENTS


class StrategicWarAEC(TableAEC):
    """AEC view: whoever must flip a card or answer whether to surrender is next."""

    metadata = Copied(
        {"name": "strategic_war_v0", "render_modes": ["ansi"], "is_parallelizable": False},
        copy.deepcopy,
    )

    def _due(self) -> str:
        return AGENTS[self._facts[-2]]

    def _choose(self, seat: int, action: int) -> None:
        self._play(action)
