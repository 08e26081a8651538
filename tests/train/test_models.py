"""Model files: written whole or not at all, and read as data whatever they hold."""

import errno
import json
import os
import pickle
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import war_agents
from tests.support.models import VARIANT, Marker, made
from war_agents.models.model_card import read_card
from war_agents.networks.policy import load_policy
from war_envs.batch import make_batch
from war_envs.variant import make_variant


def positions() -> tuple[Any, Any]:
    batch = make_batch("attack-defence", 2000, VARIANT)
    batch.reset(1)
    return batch.observe(np.arange(2000), np.zeros(2000, int))


def test_a_model_is_what_was_saved(tmp_path: Path) -> None:
    file = made(tmp_path, entries={"steps": 7})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "model.safetensors"]
    for given in (tmp_path, file):
        agent: Any = war_agents.make(given, game="attack-defence", variant=VARIANT)
        assert (agent.name, agent.encoding, agent.memory) == (tmp_path.name, "tokens", "perfect")
        assert agent.card["steps"] == 7
        assert not agent.deterministic
        for key, value in load_file(file).items():
            torch.testing.assert_close(agent.network.state_dict()[key], value)


def test_actions_are_drawn_from_the_probabilities_by_each_positions_seed(tmp_path: Path) -> None:
    agent = load_policy(made(tmp_path), VARIANT)
    observation, mask = positions()
    probabilities = agent.probabilities(observation, mask)
    seeds = np.arange(2000, dtype=np.uint64)
    actions, state = agent.act(observation, mask, seeds)
    assert state is None
    assert actions.dtype == np.int64
    assert abs(float((actions == 1).mean() - probabilities[:, 1].mean())) < 0.04
    order = np.random.default_rng(0).permutation(2000)
    shuffled, _ = agent.act(observation[order], mask[order], seeds[order])
    np.testing.assert_array_equal(shuffled, actions[order])
    assert not np.array_equal(agent.act(observation, mask, seeds + np.uint64(2000))[0], actions)
    only = np.zeros_like(mask)
    only[np.arange(2000), np.arange(2000) % 2] = 1
    np.testing.assert_array_equal(agent.act(observation, only, seeds)[0], np.arange(2000) % 2)
    best = load_policy(made(tmp_path, deterministic=True), VARIANT)
    np.testing.assert_array_equal(
        best.act(observation, mask, seeds)[0], probabilities.argmax(axis=1)
    )


def test_positions_that_cannot_be_played_are_refused(tmp_path: Path) -> None:
    agent = load_policy(made(tmp_path), VARIANT)
    observation, mask = positions()
    seeds = np.zeros(2000, np.uint64)
    mask[3] = 0
    with pytest.raises(ValueError, match="row 3"):
        agent.act(observation, mask, seeds)
    mask[3] = 1
    for wrong in (observation[:, :-1], observation.astype(np.float32), observation[0]):
        with pytest.raises(ValueError, match=r"^observation .*(must be|reads)"):
            agent.act(wrong, mask, seeds)
    with torch.no_grad():
        agent.network.slots.fill_(torch.inf)
    agent.network.eval()
    with pytest.raises(ValueError, match="not finite"):
        agent.act(observation, mask, seeds)


@pytest.mark.field_case("S10")
def test_loading_and_playing_leave_the_global_generators_alone(tmp_path: Path) -> None:
    file = made(tmp_path)
    observation, mask = positions()

    def state() -> tuple[object, ...]:
        numpy_state = np.random.get_state()  # noqa: NPY002
        return random.getstate(), str(numpy_state), torch.get_rng_state().tolist()

    before = state()
    agent = load_policy(file, VARIANT)
    first = agent.act(observation, mask, np.zeros(2000, np.uint64))[0]
    assert state() == before
    torch.manual_seed(77)
    np.testing.assert_array_equal(agent.act(observation, mask, np.zeros(2000, np.uint64))[0], first)


@pytest.mark.parametrize(
    ("game", "variant", "options"),
    [
        ("strategic-war", "minimal", {"num_ranks": 5}),
        ("attack-defence", "standard", {"num_ranks": 5}),
        ("attack-defence", "minimal", {"num_ranks": 7}),
    ],
)
def test_a_model_for_another_game_or_deck_is_refused(
    tmp_path: Path, game: str, variant: str, options: dict[str, Any]
) -> None:
    file = made(tmp_path)
    with pytest.raises(ValueError, match=r"model.safetensors plays attack-defence minimal"):
        load_policy(file, make_variant(game, variant, **options))
    load_policy(file, make_variant("attack-defence", "minimal+fair", num_ranks=5, max_turns=9))


CARD: dict[str, Any] = {
    "format": "war-envs policy",
    "version": 1,
    "game": "attack-defence",
    "variant": {"minimal": True, "num_ranks": 5},
    "encoding": "tokens",
    "memory": "perfect",
    "network": {"embedding": 8, "hidden": 4},
    "deterministic": False,
}


@pytest.mark.field_case("X01")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        "[]",
        '"war-envs policy"',
        b"\xff\xfe\x00",
        json.dumps({}),
        *(json.dumps({k: v for k, v in CARD.items() if k != key}) for key in CARD),
        *(
            json.dumps({**CARD, **change})
            for change in (
                {"version": 2},
                {"game": "chess"},
                {"game": ["attack-defence"]},
                {"variant": {"minimal": "yes"}},
                {"variant": {"__class__": 1}},
                {"variant": [1]},
                {"network": {"embedding": 10**12, "hidden": 4}},
                {"network": {"embedding": 16, "hidden": 4}},
                {"network": {"embedding": "8", "hidden": 4}},
                {"network": {"__init__": 8}},
                {"network": None},
                {"memory": "none"},
                {"encoding": "vector"},
                {"deterministic": "no"},
            )
        ),
    ],
)
def test_a_damaged_or_hostile_card_is_refused_in_one_line(
    tmp_path: Path, text: str | bytes
) -> None:
    file = made(tmp_path)
    card = tmp_path / "model.json"
    card.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=r"model\.(json|safetensors)") as error:
        load_policy(file, VARIANT)
    assert "\n" not in str(error.value)
    card.unlink()
    with pytest.raises(ValueError, match=r"model\.json"):
        load_policy(file, VARIANT)


def damaged(file: Path, how: str) -> None:
    """Replaces a good model by a bad one."""
    weights = load_file(file)
    whole = file.read_bytes()
    first = next(iter(weights))
    if how == "pickle":
        file.write_bytes(pickle.dumps(Marker(file.parent / "marker")))
    elif how == "torch":
        torch.save({"state": Marker(file.parent / "marker")}, file)
    elif how == "zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("data", pickle.dumps(Marker(file.parent / "marker")))
    elif how == "cut":
        file.write_bytes(whole[:-1])
    elif how == "half":
        file.write_bytes(whole[: len(whole) // 2])
    elif how == "empty":
        file.write_bytes(b"")
    elif how == "huge header":
        file.write_bytes((2**62).to_bytes(8, "little") + whole[8:])
    elif how == "folder":
        file.unlink()
        file.mkdir()
    elif how == "missing":
        file.unlink()
    elif how == "one missing":
        save_file({key: value for key, value in weights.items() if key != first}, file)
    elif how == "one more":
        save_file({**weights, "more": torch.zeros(1)}, file)
    elif how == "shape":
        save_file({**weights, first: torch.zeros(3)}, file)
    elif how == "dtype":
        save_file({**weights, first: weights[first].double()}, file)
    elif how == "nan":
        save_file({**weights, first: torch.full_like(weights[first], torch.nan)}, file)


@pytest.mark.field_case("X01")
@pytest.mark.parametrize(
    "how",
    [
        "pickle",
        "torch",
        "zip",
        "cut",
        "half",
        "empty",
        "huge header",
        "folder",
        "missing",
        "one missing",
        "one more",
        "shape",
        "dtype",
        "nan",
    ],
)
def test_a_damaged_or_hostile_model_is_refused_and_runs_nothing(tmp_path: Path, how: str) -> None:
    file = made(tmp_path)
    damaged(file, how)
    with pytest.raises(ValueError, match=r"model\.safetensors") as error:
        load_policy(file, VARIANT)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "marker").exists()


def test_a_card_is_read_without_its_model(tmp_path: Path) -> None:
    file = made(tmp_path, entries={"steps": 3})
    file.unlink()
    assert read_card(file).entries["steps"] == 3


@pytest.mark.field_case("K01")
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_model_and_nothing_else(
    tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path, seed=1)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        if call == "fsync":
            patch.setattr(os, "fsync", full)
        elif call == "replace":
            patch.setattr(Path, "replace", full)
        else:
            patch.setattr(Path, "open", full)
        with pytest.raises(OSError, match="No space"):
            made(tmp_path, seed=2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    load_policy(file, VARIANT)
    made(tmp_path, seed=2)
    assert file.read_bytes() != before["model.safetensors"]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.field_case("K01")
def test_a_kill_at_any_moment_leaves_a_whole_model(tmp_path: Path) -> None:
    """A process saves one model after another, until it is killed in the midst of it."""
    file = made(tmp_path)
    program = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\n"
        "from test_models import made\n"
        "for seed in range(1_000_000):\n"
        "    made(Path(sys.argv[1]), seed)\n"
        "    print(seed, flush=True)\n"
    )
    here = str(Path(__file__).parent)
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path), here], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        for _ in range(30):
            assert process.stdout.readline()
            load_policy(file, VARIANT)
        process.kill()
    load_policy(file, VARIANT)


@pytest.mark.process
def test_without_torch_the_error_says_what_to_install(tmp_path: Path) -> None:
    made(tmp_path)
    program = (
        "import sys; sys.modules['torch'] = None\n"
        "import war_agents\n"
        "try: war_agents.make(sys.argv[1], game='attack-defence', variant='minimal')\n"
        "except ImportError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert 'torch, which is missing: pip install "war-envs[train]"' in done.stdout
    assert done.stdout.count("\n") == 1
