"""The exported checks over Gymnasium's registry: every id, and every opponent."""

from typing import Any

import gymnasium
import pytest

from war_agents import scripted
from war_envs.registration import GYMNASIUM_IDS
from war_envs.testing import check_gymnasium

SHORT = 60  # turns: the checks play dozens of games


@pytest.mark.slow
@pytest.mark.field_case("A17", "A19", "M08", "S04", "V02")
@pytest.mark.parametrize("id_", GYMNASIUM_IDS)
def test_gymnasium(id_: str) -> None:
    check_gymnasium(lambda: gymnasium.make(id_, render_mode="ansi", max_turns=SHORT))


OPPONENTS = [
    pytest.param(id_, opponent, id=f"{id_}-{opponent}")
    for id_, game in (
        ("war_envs/AttackDefence-v0", "attack-defence"),
        ("war_envs/StrategicWar-v0", "strategic-war"),
    )
    for opponent in scripted.names(game)
]


@pytest.mark.slow
@pytest.mark.parametrize(("id_", "opponent"), OPPONENTS)
def test_gymnasium_against_every_opponent(id_: str, opponent: str) -> None:
    few: dict[str, Any] = {
        "num_ranks": 5,
        "opponent": opponent,
        "encoding": "tokens",
        "memory": "table",
    }
    check_gymnasium(lambda: gymnasium.make(id_, **few))


def test_an_id_makes_its_own_game_only() -> None:
    with pytest.raises(ValueError, match="game='strategic-war' is not allowed"):
        gymnasium.make("war_envs/AttackDefence-v0", game="strategic-war")
