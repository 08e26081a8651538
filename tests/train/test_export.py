"""Exported policies: read by the tools they are for, in processes of their own."""

import base64
import json
import os
import random
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.support.command import refused, war
from tests.support.models import positions
from war_agents.models.shipped import GAMES_WITH_CHAMPION
from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.policy import load_policy
from war_agents.networks.save import save_model
from war_envs.variant import GAMES, VARIANT_NAMES, Variant, make_variant, widest
from war_train.export import FORMATS, export, onnx_graph, sb3, torchscript
from war_train.export.module import PolicyModule

VARIANT = make_variant("attack-defence", "minimal", num_ranks=5)
ALL = {game: [make_variant(game, name) for name in VARIANT_NAMES] for game in GAMES}
# What a network was trained for, and which of that it is exported for.
CASES = {
    "attack-defence": ([VARIANT], VARIANT),
    "strategic-war": ([SMALL_WAR := make_variant("strategic-war", num_ranks=3)], SMALL_WAR),
    **{
        f"{game} {name} of all": (ALL[game], make_variant(game, name))
        for game in GAMES
        for name in ("standard", "minimal+fair")
    },
}
EACH_CASE = pytest.mark.parametrize(("trained", "variant"), CASES.values(), ids=CASES)
EACH_FORMAT = pytest.mark.parametrize("to", FORMATS)


def made(folder: Path, variants: Sequence[Variant] = (VARIANT,), **more: Any) -> Path:
    """A model with large weights, so that probabilities are far from even, and differ."""
    network = CardNetwork(widest(variants), NetworkShape(embedding=16, hidden=8))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(0.0, 0.4, generator=generator)
        network.eval()
        tokens, _ = positions(variants[-1], 100)
        last: Any = network.policy[2]
        last.bias -= network.logits(torch.from_numpy(tokens)).mean(dim=0)
    folder.mkdir(exist_ok=True)
    return save_model(folder, network, variants, **more)


# What a user does with the files: `read` makes of one what gives probabilities.
PROGRAM = """
import sys, warnings
from pathlib import Path
import numpy as np
READ
for folder in map(Path, sys.argv[1:]):
    data = np.load(folder / "positions.npz")
    found = read(str(folder / "exported"), data["tokens"], data["mask"])
    np.save(folder / "found.npy", found)
assert not [name for name in sys.modules if name.startswith(FOREIGN)]
"""
READERS = {
    "torchscript": """
import torch
FOREIGN = "war_"
def read(file, tokens, mask):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = torch.jit.load(file)
    return module(torch.from_numpy(tokens), torch.from_numpy(mask)).numpy()
""",
    "onnx": """
import onnxruntime
FOREIGN = ("war_", "torch")
def read(file, tokens, mask):
    session = onnxruntime.InferenceSession(file)
    assert [(i.name, i.type) for i in session.get_inputs()] == [
        ("tokens", "tensor(uint8)"), ("action_mask", "tensor(int8)")]
    return session.run(["probabilities"], {"tokens": tokens, "action_mask": mask})[0]
""",
    "sb3": """
from sb3_contrib import MaskablePPO
assert not [name for name in sys.modules if name.startswith("war_")]
FOREIGN = "no module"  # it brings the network's own
def read(file, tokens, mask):
    model = MaskablePPO.load(file, device="cpu")
    assert model.observation_space.shape == tokens.shape[1:]
    observation, _ = model.policy.obs_to_tensor(tokens)
    found = model.policy.get_distribution(observation, action_masks=mask).distribution.probs
    found = found.detach().numpy()
    best, _ = model.predict(tokens, action_masks=mask, deterministic=True)
    assert (best == found.argmax(axis=1)).all()
    drawn = np.array([model.predict(tokens, action_masks=mask)[0] for _ in range(10)])
    for action in range(mask.shape[1]):
        assert abs((drawn == action).mean() - found[:, action].mean()) < 0.05
    assert mask[np.arange(len(mask)), drawn].all()
    return found
""",
}


@pytest.mark.process
@pytest.mark.slow
@EACH_FORMAT
def test_files_give_the_same_probabilities_in_the_users_tool(tmp_path: Path, to: str) -> None:
    expected = {}
    for case, (trained, variant) in CASES.items():
        folder = tmp_path / case
        file = made(folder, trained)
        out = folder / "exported"
        assert export(file, to=to, out=out, variant=variant.name) == out
        tokens, mask = positions(variant, 300)
        np.savez(folder / "positions.npz", tokens=tokens, mask=mask)
        expected[folder] = load_policy(file, variant).probabilities(tokens, mask), mask
    program = PROGRAM.replace("READ\n", READERS[to])
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, expected)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for folder, (wanted, mask) in expected.items():
        found = np.load(folder / "found.npy")  # noqa: TID251 - written above
        assert found.shape == wanted.shape
        assert wanted.std(axis=0).max() > 0.05, "the network says the same everywhere"
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)
        assert not found[mask == 0].any()


@pytest.mark.slow
@EACH_FORMAT
@EACH_CASE
def test_a_file_takes_any_number_of_positions(
    tmp_path: Path, to: str, trained: list[Variant], variant: Variant
) -> None:
    file = made(tmp_path / "model", trained)
    out = export(file, to=to, out=tmp_path / "exported", variant=variant.name)
    read: Any = __import__(FORMATS[to], fromlist=["read"]).read(out)
    tokens, mask = (np.resize(a, (10_000, a.shape[1])) for a in positions(variant, 400))
    expected = load_policy(file, variant).probabilities(tokens, mask)
    for rows in (0, 1, 10_000):
        found = read(tokens[:rows], mask[:rows])
        assert found.shape == (rows, mask.shape[1])
        np.testing.assert_allclose(found, expected[:rows], rtol=0, atol=1e-5)


def test_sb3_predicts_for_any_number_of_positions(tmp_path: Path) -> None:
    from sb3_contrib import MaskablePPO

    out = export(made(tmp_path / "model"), to="sb3", out=tmp_path / "policy.zip")
    model = MaskablePPO.load(out, device="cpu")  # noqa: TID251 - written above
    tokens, mask = positions(VARIANT, 3)
    for rows in (0, 1, 3):
        for deterministic in (False, True):
            actions, _ = model.predict(
                tokens[:rows], action_masks=mask[:rows], deterministic=deterministic
            )
            assert actions.shape == (rows,)


def test_every_entry_of_an_onnx_file_has_a_free_number_of_positions(tmp_path: Path) -> None:
    import onnx

    for game, (trained, _) in list(CASES.items())[:2]:
        out = export(made(tmp_path / game, trained), to="onnx", out=tmp_path / f"{game}.onnx")
        graph = onnx.load(out).graph
        for entry in (*graph.input, *graph.output):
            assert entry.type.tensor_type.shape.dim[0].dim_param == "batch"


@pytest.mark.process
@pytest.mark.slow
@EACH_FORMAT
def test_the_command_exports_a_run(
    tmp_path: Path, to: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path / "run", memory="table")
    done = war("export", "run", "--to", to, "--out", "policy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    told, _, program = done.stdout.partition("\n\n")
    assert told == "Checked against the model; the file is policy. This program uses it:"
    used = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert used.returncode == 0, used.stderr
    assert -1.0 <= float(used.stdout) <= 1.0
    before = (tmp_path / "policy").read_bytes()
    monkeypatch.chdir(tmp_path)
    again = refused("export", "run", "--to", to, "--out", "policy", capsys=capsys)
    assert again == "war: out='policy' is there already, and is not overwritten\n"
    assert (tmp_path / "policy").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy", "run"]


@EACH_FORMAT
@pytest.mark.parametrize("game", GAMES_WITH_CHAMPION)
def test_a_champion_is_exported_by_its_name(tmp_path: Path, to: str, game: str) -> None:
    out = tmp_path / "policy"
    assert export("champion", to=to, out=out, game=game, variant="minimal+fair") == out


@EACH_CASE
def test_an_exported_policy_can_be_trained_on(
    tmp_path: Path, trained: list[Variant], variant: Variant
) -> None:
    """As SB3's users do, with their own environment and settings."""
    import gymnasium
    from sb3_contrib import MaskablePPO

    file, name = made(tmp_path / "model", trained), variant.name
    out = export(file, to="sb3", out=tmp_path / "policy.zip", variant=name)
    id_ = {"attack-defence": "AttackDefence", "strategic-war": "StrategicWar"}[variant.game]
    env = gymnasium.make(
        f"war_envs/{id_}-v0", opponent="memory", encoding="tokens", **variant.options
    )
    model = MaskablePPO.load(out, env, device="cpu", n_steps=64, batch_size=32)  # noqa: TID251 - written above
    before = model.policy.state_dict()["network.slots"].clone()
    model.learn(64)
    assert not torch.equal(before, model.policy.state_dict()["network.slots"])


def shifted(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Gives probabilities that are a little off."""

    def wrong(file: Path) -> Any:
        right = read(file)
        return lambda tokens, mask: right(tokens, mask) + 2e-5

    return wrong


def broken(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Gives no numbers in one row."""

    def wrong(file: Path) -> Any:
        def probabilities(tokens: Any, mask: Any) -> Any:
            found = np.array(read(file)(tokens, mask))
            found[-1:] = np.nan
            return found

        return probabilities

    return wrong


@EACH_FORMAT
@pytest.mark.parametrize("how", [shifted, broken])
def test_a_file_that_does_not_agree_gets_no_name(
    tmp_path: Path, to: str, how: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = made(tmp_path / "model")
    module = __import__(FORMATS[to], fromlist=["read"])
    monkeypatch.setattr(module, "read", how(module.read))
    with pytest.raises(ValueError, match=r"probabilities differ from the model's by") as error:
        export(file, to=to, out=tmp_path / "policy")
    assert "\n" not in str(error.value)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("module", [torchscript, onnx_graph])
@pytest.mark.parametrize("name", ["sizes_at", "numbers", "meetings.features"])
def test_a_graph_that_is_wrong_is_found(
    tmp_path: Path, module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(*args: Any) -> PolicyModule:
        spoiled = PolicyModule(*args)
        constant = spoiled.network.get_buffer(name)
        constant.copy_(constant.flip(0))
        return spoiled

    monkeypatch.setattr(module, "PolicyModule", wrong)
    (to,) = (to for to, place in FORMATS.items() if place == module.__name__)
    with pytest.raises(ValueError, match="probabilities differ"):
        export(made(tmp_path / "model", [SMALL_WAR]), to=to, out=tmp_path / "policy")


def test_a_file_that_appears_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = made(tmp_path / "model"), tmp_path / "policy"
    read = sb3.read

    def slow(part: Path) -> Any:
        out.write_text("somebody else's")
        return read(part)

    monkeypatch.setattr(sb3, "read", slow)
    with pytest.raises(ValueError, match="is there already"):
        export(file, to="sb3", out=out)
    assert out.read_text() == "somebody else's"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "policy"]


@pytest.mark.field_case("K04", "K06")
@EACH_FORMAT
def test_no_file_names_a_place_of_this_machine(tmp_path: Path, to: str) -> None:
    out = export(made(tmp_path / "model"), to=to, out=tmp_path / "policy")
    data = out.read_bytes()
    if zipfile.is_zipfile(out):
        with zipfile.ZipFile(out) as archive:
            data = b"\n".join(archive.read(name) for name in archive.namelist())
    data += b"\n".join(
        base64.b64decode(text) for text in re.findall(rb'":serialized:": "([^"]+)"', data)
    )
    torch_files = Path(torch.__file__).parent
    for place in (tmp_path, Path.home(), Path(sys.prefix), torch_files, os.getcwd()):
        assert str(place).encode() not in data
    assert b"cuda" not in data


@EACH_FORMAT
def test_global_generators_are_left_alone(tmp_path: Path, to: str) -> None:
    def state() -> tuple[object, ...]:
        numpy_state = np.random.get_state()  # noqa: NPY002
        return random.getstate(), str(numpy_state), torch.get_rng_state().tolist()

    file = made(tmp_path / "model")
    before = state()
    export(file, to=to, out=tmp_path / "policy")
    assert state() == before


def test_what_cannot_be_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(tmp_path / "run")
    run, out = str(tmp_path / "run"), str(tmp_path / "policy")

    def told(model: str, *options: str, to: str = "torchscript", where: str = out) -> str:
        return refused("export", model, "--to", to, "--out", where, *options, capsys=capsys)

    assert "choose from the model's: minimal" in told(run, "--variant", "standard")
    assert "could not be written" in told(run, where=str(tmp_path / "none" / "policy"))
    assert "is no model" in told(str(tmp_path))
    assert "'memory' is a scripted agent" in told("memory")
    assert "plays attack-defence" in told(run, "--game", "strategic-war")
    assert "game=None is not allowed with 'champion'" in told("champion")
    known = ", ".join(VARIANT_NAMES)
    assert f"choose from the model's: {known}" in told("champion", "--game", "attack-defence")
    (tmp_path / "run" / "model.safetensors").write_bytes(b"\x80\x04.")
    for to in FORMATS:
        assert "model.safetensors" in told(run, to=to)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    with pytest.raises(ValueError, match="to='pickle' is not allowed"):
        export(run, to="pickle", out=out)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "to", "extra"),
    [
        ("onnx", "onnx", "onnx"),
        ("onnxruntime", "onnx", "onnx"),
        ("onnxscript", "onnx", "onnx"),
        ("safetensors", "torchscript", "train"),
        ("sb3_contrib", "sb3", "train"),
    ],
)
def test_a_missing_extra_is_named(tmp_path: Path, package: str, to: str, extra: str) -> None:
    made(tmp_path / "run")
    without = (
        f"import sys; sys.modules[{package!r}] = None; from war_agents.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", without, "export", "run", "--to", to, "--out", "policy"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("war: ")
    assert done.stderr.count("\n") == 1
    assert f'{package}, which is missing: pip install "war-envs[{extra}]"' in done.stderr
    assert not (tmp_path / "policy").exists()


def test_an_onnx_file_says_its_opset_and_passes_the_checker(tmp_path: Path) -> None:
    import onnx

    out = export(made(tmp_path / "model"), to="onnx", out=tmp_path / "policy.onnx")
    model = onnx.load(out)
    onnx.checker.check_model(model, full_check=True)
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 18)]
    assert model.producer_name == "war-envs"
    assert json.dumps(model.doc_string) == '""'
