"""The champions that come with the package: one network for all variants of a game."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import war_agents
from war_agents.arena import play_match
from war_agents.models.model_card import card_file, read_card
from war_agents.models.shipped import GAMES_WITH_CHAMPION, champion_file
from war_envs.batch import make_batch
from war_envs.variant import GAMES, VARIANT_NAMES, make_variant

EACH_GAME = pytest.mark.parametrize("game", GAMES_WITH_CHAMPION)
# Where a hundred deals show that `memory` is beaten.
BEATEN = [("attack-defence", name) for name in ("standard", "minimal", "fair")]
BEATEN += [("strategic-war", name) for name in ("standard", "open-card", "fair")]


def test_each_game_that_has_a_model_has_a_champion() -> None:
    assert "attack-defence" in GAMES_WITH_CHAMPION
    for game in GAMES:
        assert ("champion" in war_agents.names(game)) == (game in GAMES_WITH_CHAMPION)
    kinds = (".safetensors", ".json")
    folder = champion_file("attack-defence").parent
    files = {path.name for path in folder.iterdir() if path.suffix in kinds}
    assert files == {f"{game}{kind}" for game in GAMES_WITH_CHAMPION for kind in kinds}


@EACH_GAME
def test_it_is_small_and_its_card_says_how_it_came_about(game: str) -> None:
    file = champion_file(game)
    assert file.stat().st_size + card_file(file).stat().st_size <= 3_000_000
    card = read_card(file)
    assert card.game == card.entries["config"]["game"] == game
    assert sorted(variant.name for variant in card.variants) == sorted(VARIANT_NAMES)
    assert card.entries["steps"] >= card.entries["config"]["steps"]
    last = card.entries["evaluations"][-1]
    assert last["steps"] == card.entries["steps"]
    assert {f"{name}/memory" for name in VARIANT_NAMES} <= last["scores"].keys()


@EACH_GAME
@pytest.mark.parametrize("variant", VARIANT_NAMES)
def test_it_plays_every_variant_far_better_than_random(game: str, variant: str) -> None:
    assert war_agents.make("champion", game=game, variant=variant).name == "champion"
    result = play_match("champion", "random", game=game, variant=variant, deals=40, seed=1)
    assert result.low > 0.6


@pytest.mark.slow
@pytest.mark.parametrize(("game", "variant"), BEATEN)
def test_it_beats_memory(game: str, variant: str) -> None:
    result = play_match("champion", "memory", game=game, variant=variant, deals=100, seed=1)
    assert result.low > 0.5


@EACH_GAME
def test_the_same_seed_gives_the_same_match(game: str) -> None:
    first, again = (
        play_match("champion", "memory", game=game, variant="minimal", deals=5, seed=1)
        for _ in range(2)
    )
    np.testing.assert_array_equal(again.results, first.results)


@EACH_GAME
def test_the_same_seeds_give_the_same_actions(game: str) -> None:
    batch = make_batch(game, 500, "minimal")
    batch.reset(1)
    observation, mask = batch.observe(np.arange(500), np.zeros(500, int))
    mask = np.ones_like(mask)  # as if it were its turn in every game
    seeds = np.arange(500, dtype=np.uint64)

    def actions(seeds: Any) -> Any:
        agent = war_agents.make("champion", game=game, variant="minimal")
        return agent.act(observation, mask, seeds)[0]

    first = actions(seeds)
    np.testing.assert_array_equal(actions(seeds), first)
    assert not np.array_equal(actions(seeds + np.uint64(500)), first)


@EACH_GAME
def test_a_deck_that_it_has_not_learned_is_refused_in_one_line(game: str) -> None:
    variant = make_variant(game, num_ranks=5)
    with pytest.raises(ValueError, match=r"num_ranks=5: the decks differ$") as error:
        war_agents.make("champion", game=game, variant=variant)
    assert "\n" not in str(error.value)


@pytest.mark.process
@EACH_GAME
def test_without_torch_the_extra_is_named_in_one_line(game: str) -> None:
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import war_agents\n"
        "try:\n"
        f"    war_agents.make('champion', game={game!r})\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        'trained networks need torch, which is missing: pip install "war-envs[train]"\n'
    )
