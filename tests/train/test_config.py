"""The settings of a training run."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from war_envs.variant import VARIANT_NAMES, make_variant
from war_train.config import TrainConfig


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"game": "chess"}, "chess"),
        ({"num_ranks": 4}, "num_ranks=4"),
        ({"steps": 0}, "steps=0"),
        ({"steps": 1.5}, "steps=1.5"),
        ({"seed": -1}, "seed=-1"),
        ({"num_envs": 0}, "num_envs=0"),
        ({"num_envs": 1000}, "rollout=.*multiple"),
        ({"batch_size": 10**6}, "batch_size=1000000.*at most"),
        ({"learning_rate": -0.1}, "learning_rate=-0.1"),
        ({"gamma": 1.1}, "gamma=1.1"),
        ({"gamma": float("nan")}, "gamma=nan"),
        ({"gamma": "high"}, "gamma='high'"),
        ({"opponents": {"memory": -1}}, "memory"),
        ({"opponents": {}}, "opponents"),
        ({"game": "strategic-war", "own_card": "first"}, "own_card='first'"),
        ({"own_card": "last"}, "own_card='last'"),
        ({"memory": "none"}, "memory='none'"),
        ({"minimal": 1}, "minimal=1"),
        ({"variants": "minimal"}, "variants='minimal'"),
        ({"variants": ("mini",)}, "variants=.*mini"),
        ({"variants": ("fair",), "minimal": True}, "minimal=True.*variants"),
        ({"magnet": 0.1}, "magnet=0.1.*average=0"),
        ({"average": -1}, "average=-1"),
        ({"exploiter_every": 0}, "exploiter_every=0"),
    ],
)
def test_wrong_values_are_refused_in_one_line(values: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        TrainConfig(**{"game": "attack-defence", "out": Path("x"), **values})
    assert "\n" not in str(error.value)


def test_a_run_without_a_seed_gets_one_that_is_kept() -> None:
    seeds = {
        TrainConfig(game="strategic-war", out=Path("x")).settings.to_json()["seed"]
        for _ in range(3)
    }
    assert len(seeds) == 3
    assert None not in seeds


def test_shares_may_be_numbers_of_numpy() -> None:
    shares: Any = {"self": np.float32(0.5), "memory": np.int64(1)}
    config = TrainConfig(game="strategic-war", out=Path("x"), opponents=shares)
    assert config.settings.league.opponents == {"self": 0.5, "memory": 1.0}


def test_a_changed_copy_of_a_config_takes_its_defaults_from_what_it_is_then() -> None:
    short = TrainConfig(game="strategic-war", out=Path("x"), steps=1000)
    assert replace(short, steps=2000).settings.ppo.imitate_steps == 100


def test_the_variant_is_what_was_asked_for() -> None:
    config = TrainConfig(
        game="attack-defence", out=Path("x"), minimal=True, num_ranks=5, own_card="first"
    )
    expected = make_variant("attack-defence", "minimal", num_ranks=5, own_card="first")
    assert config.settings.run.variant == expected


def test_several_variants_share_all_other_rules() -> None:
    config = TrainConfig(
        game="attack-defence", out=Path("x"), variants=("minimal+fair", "standard"), num_ranks=5
    )
    assert config.settings.run.played == (
        make_variant("attack-defence", "minimal+fair", num_ranks=5),
        make_variant("attack-defence", num_ranks=5),
    )
    assert config.settings.run.variant.deck_size == 20
    everything = TrainConfig(game="strategic-war", out=Path("x"), variants=("all",))
    assert [variant.name for variant in everything.settings.run.played] == list(VARIANT_NAMES)


def test_who_is_imitated_at_first_is_the_games_own_unless_it_is_said() -> None:
    def teacher(game: Any, **more: Any) -> tuple[str | None, int | None]:
        config = TrainConfig(game=game, out=Path("x"), steps=1000, **more)
        return config.settings.ppo.teacher, config.settings.ppo.imitate_steps

    assert teacher("strategic-war") == ("memory", 50)
    assert teacher("strategic-war", imitate_steps=0) == (None, 0)
    assert teacher("attack-defence")[0] is None
    assert teacher("attack-defence", imitate="memory", imitate_steps=7) == ("memory", 7)
