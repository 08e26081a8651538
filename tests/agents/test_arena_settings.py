"""Settings of tournaments: `play` and `Tournament` do the same with them, models are read once."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.folders import AGENTS, TINY, files, tournament
from war_agents.arena import Settings, Tournament, play
from war_agents.models.stored import read_model
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.policy import policies_of
from war_agents.networks.save import save_model
from war_envs.variant import VARIANT_NAMES, make_variant, widest

OPTIONS: dict[str, Any] = {"game": "attack-defence", "variants": TINY, "deals": 4, "seed": 5}
EVERY = [make_variant("attack-defence", name, num_ranks=5) for name in VARIANT_NAMES]


def without_times(folder: Path) -> dict[str, bytes]:
    return {name: data for name, data in files(folder).items() if "report" not in name}


def test_play_and_a_tournament_leave_the_same(tmp_path: Path) -> None:
    settings = Settings(AGENTS, **OPTIONS, workers=0)
    result = play(settings, tmp_path / "a")
    again = tournament(workers=0).run(tmp_path / "b")
    assert result.to_json() == again.to_json()
    assert without_times(tmp_path / "a") == without_times(tmp_path / "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.deals = 5  # type: ignore[misc]


def test_changed_copies_are_checked_again() -> None:
    settings = Settings(AGENTS, **OPTIONS)
    assert dataclasses.replace(settings, deals=7).deals == 7
    with pytest.raises(ValueError, match=r"^deals=0 is not allowed"):
        dataclasses.replace(settings, deals=0)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "every"
    folder.mkdir()
    network = CardNetwork(widest(EVERY), NetworkShape(embedding=8, hidden=4))
    network.initialise(torch.Generator().manual_seed(1))
    return save_model(folder, network, EVERY)


def test_a_model_is_read_once_whatever_it_plays(model: Path) -> None:
    opened: list[str] = []
    listening = True

    def note(event: str, args: tuple[Any, ...]) -> None:
        if listening and event == "open" and isinstance(args[0], str | bytes | Path):
            opened.append(str(args[0]))

    sys.addaudithook(note)  # for good, so that it is switched off below
    try:
        made = Tournament(
            [model, "random"], game="attack-defence", variants=EVERY, deals=2, seed=1, workers=0
        )
        result = made.run()
    finally:
        listening = False
    assert len(result.matches) == len(EVERY)
    assert opened.count(str(model)) == 1


def test_its_network_is_shared_by_all_variants(model: Path) -> None:
    policies = policies_of(read_model(model), EVERY)
    assert len(policies) == len(EVERY)
    assert len({id(policy.network) for policy in policies}) == 1
    assert len({id(policy) for policy in policies}) == len(EVERY)
