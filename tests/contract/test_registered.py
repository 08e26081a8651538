"""The exported checks over PettingZoo's registry: every id, every variant, every observation."""

from typing import Any

import pytest

from tests.support.envs import pettingzoo_env
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.testing import check_aec, check_parallel, check_turn_limit
from war_envs.variant import MODES, VARIANT_NAMES

FORMS = (("vector", "perfect"), ("tokens", "table"), ("vector", "table"), ("tokens", "perfect"))
SHORT = 60  # turns: the checks play dozens of games


def options(variant: str, encoding: str, memory: str) -> dict[str, Any]:
    modes = {field: mode in variant.split("+") for mode, field in MODES.items()}
    return {**modes, "encoding": encoding, "memory": memory, "max_turns": SHORT}


# Each variant in two forms, so that every form meets every mode.
CASES = [
    pytest.param(
        options(variant, *FORMS[(i + shift) % 4]), id=f"{variant}-{FORMS[(i + shift) % 4]}"
    )
    for i, variant in enumerate(VARIANT_NAMES)
    for shift in (0, 1)
]


@pytest.mark.slow
@pytest.mark.field_case("A03", "A09", "A17", "A19", "M08", "S04")
@pytest.mark.parametrize("name", ["attack_defence", "strategic_war"])
@pytest.mark.parametrize("chosen", CASES)
def test_aec(name: str, chosen: dict[str, Any]) -> None:
    check_aec(lambda: pettingzoo_env("aec", name, render_mode="ansi", **chosen))


@pytest.mark.slow
@pytest.mark.field_case("A19", "S01", "S04")
@pytest.mark.parametrize("chosen", CASES)
def test_parallel(chosen: dict[str, Any]) -> None:
    check_parallel(
        lambda: pettingzoo_env("parallel", "attack_defence", render_mode="ansi", **chosen)
    )


@pytest.mark.parametrize("module", [attack_defence_v0, strategic_war_v0])
def test_aec_without_wrappers(module: Any) -> None:
    check_aec(lambda: module.raw_env(minimal=True, encoding="tokens", max_turns=SHORT))


@pytest.mark.parametrize("module", [attack_defence_v0, strategic_war_v0])
@pytest.mark.parametrize("view", ["player_1", "all"])
def test_aec_with_few_cards_played_to_the_end(module: Any, view: str) -> None:
    few: dict[str, Any] = {
        "minimal": True,
        "num_ranks": 5,
        "render_mode": "ansi",
        "render_view": view,
    }
    check_aec(lambda: module.env(**few))


def test_parallel_with_few_cards_played_to_the_end() -> None:
    few: dict[str, Any] = {
        "num_ranks": 3,
        "own_card": "first",
        "render_mode": "ansi",
        "render_view": "all",
    }
    check_parallel(lambda: attack_defence_v0.parallel_env(**few))


@pytest.mark.field_case("A12", "A19")
def test_the_turn_limit_of_attack_and_defence() -> None:
    check_turn_limit(
        lambda limit: attack_defence_v0.env(max_turns=limit),
        lambda limit: attack_defence_v0.parallel_env(max_turns=limit),
    )
