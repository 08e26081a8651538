"""Files from strangers: whatever they hold, nothing is run, and one line says which file it is."""

import base64
import io
import json
import os
import pickle
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import war_agents
from tests.support.command import refused as told
from tests.support.command import war
from tests.support.models import Marker
from tests.support.runs import config
from war_agents.arena import run_tournament
from war_agents.models.show import show_model
from war_envs.variant import make_variant
from war_train.config import TrainConfig
from war_train.export import export
from war_train.ppo.training import resume, train
from war_train.run import checkpoint

VARIANT = make_variant("attack-defence", "minimal", num_ranks=3)
GAME: dict[str, Any] = {"game": "attack-defence", "variant": VARIANT}
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u202e"
MODEL, CARD, CONFIG, STATE = "model.safetensors", "model.json", "config.json", "state.safetensors"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(config(folder, steps=512))
    return folder


@pytest.fixture
def folder(tmp_path: Path, finished: Path) -> Path:
    """A run of one's own, whose files a test may spoil."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


def tensors(entries: dict[str, Any], data: bytes = b"") -> bytes:
    """A safetensors file with any header."""
    text = json.dumps(entries).encode()
    return len(text).to_bytes(8, "little") + text + data


def sb3_zip(marker: Path) -> bytes:
    """A zip as SB3 writes them, with one more field that is run when it is unpickled."""
    field = base64.b64encode(pickle.dumps(Marker(marker))).decode()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", json.dumps({"more": {":type:": "x", ":serialized:": field}}))
        archive.writestr("policy.pth", torch_file(marker))
    return file.getvalue()


def torch_file(marker: Path) -> bytes:
    file = io.BytesIO()
    torch.save({"state": Marker(marker)}, file)
    return file.getvalue()


def bomb(marker: Path) -> bytes:
    """A small zip that unpacks to a hundred megabytes of JSON."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("model.json", "w") as entry,
    ):
        for _ in range(100):
            entry.write(b"[" * 2**20)
    return file.getvalue()


F32 = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
ANYWHERE: dict[str, Callable[[Path], bytes]] = {
    "pickle": lambda marker: pickle.dumps(Marker(marker)),
    "pickle with a header": lambda marker: (2).to_bytes(8, "little") + pickle.dumps(Marker(marker)),
    "torch": torch_file,
    "zip of sb3": sb3_zip,
    "zip bomb": bomb,
    "deep": lambda _: b"[" * 1_000_000,
    "deep and whole": lambda _: b'{"format":' + b"[" * 300 + b"]" * 300 + b"}",
    "long number": lambda _: b'{"version": ' + b"9" * 100_000 + b"}",
    "no number": lambda _: b'{"format": "war-envs policy", "version": NaN}',
    "infinite": lambda _: b'{"format": "war-envs policy", "version": 1e999}',
    "twice": lambda _: b'{"game": "chess", "game": "attack-defence"}',
    "no text": lambda _: b"\xff\xfe\xfd",
}
HEADERS: dict[str, Callable[[Path], bytes]] = {
    "huge header": lambda _: (2**63).to_bytes(8, "little") + b"{}",
    "larger header than the file": lambda _: (1000).to_bytes(8, "little") + b"{}",
    "nothing but a length": lambda _: (0).to_bytes(8, "little"),
    "deep header": lambda _: (200_000).to_bytes(8, "little") + b"[" * 200_000,
    "overlap": lambda _: tensors({"a": F32, "b": F32}, b"\0" * 4),
    "gap": lambda _: tensors({"a": {**F32, "data_offsets": [4, 8]}}, b"\0" * 8),
    "huge tensor": lambda _: tensors(
        {"a": {"dtype": "F32", "shape": [2**20, 2**20], "data_offsets": [0, 2**42]}}
    ),
    "overflow": lambda _: tensors(
        {"a": {"dtype": "F32", "shape": [2**32, 2**32], "data_offsets": [0, 0]}}
    ),
    "many sides": lambda _: tensors({"a": {**F32, "shape": [1] * 100_000}}, b"\0" * 4),
    "negative": lambda _: tensors({"a": {**F32, "shape": [-1], "data_offsets": [4, 0]}}, b"\0" * 4),
    "escapes": lambda _: tensors({ESCAPES: {**F32, "dtype": ESCAPES}}, b"\0" * 4),
    "long words": lambda _: tensors({"a": {**F32, "dtype": "x" * 100_000}}, b"\0" * 4),
    "no object": lambda _: tensors([1], b"\0" * 4),  # type: ignore[arg-type]
    "longer file": lambda _: tensors({"a": F32}, b"\0" * 400),
}


def play(folder: Path) -> object:
    return run_tournament(["random", str(folder)], deals=1, seed=1, **GAME)


def meet(folder: Path) -> object:
    return train(config(folder.parent / "other", opponents={str(folder): 1.0}))


def go_on(folder: Path) -> object:
    return resume(folder, progress=False)


def give(folder: Path) -> object:
    return export(folder, to="torchscript", out=folder.parent / "exported")


USES: dict[str, Callable[[Path], object]] = {
    "show": show_model,
    "show as JSON": lambda folder: show_model(folder, as_json=True),
    "load": lambda folder: war_agents.make(folder, **GAME),
    "play": play,
    "meet": meet,
    "export": give,
}


def refused(use: Callable[[Path], object], folder: Path, name: str) -> str:
    """What is said of the file ``name``; nothing may have been run or written."""
    before = {path.name for path in folder.parent.iterdir()}
    with pytest.raises(ValueError, match=r".") as error:
        use(folder)
    text = str(error.value)
    assert name in text
    assert "\n" not in text
    assert len(text) < 1000
    assert text.isprintable(), text
    assert "__init__" not in text
    assert {path.name for path in folder.parent.iterdir()} == before, "something was run or written"
    return text


@pytest.mark.field_case("X01")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("what", ANYWHERE)
def test_a_hostile_card(folder: Path, use: str, what: str) -> None:
    (folder / CARD).write_bytes(ANYWHERE[what](folder.parent / "marker"))
    refused(USES[use], folder, CARD)


@pytest.mark.slow
@pytest.mark.field_case("X01")
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("what", [*ANYWHERE, *HEADERS])
def test_a_hostile_model(folder: Path, use: str, what: str) -> None:
    (folder / MODEL).write_bytes((ANYWHERE | HEADERS)[what](folder.parent / "marker"))
    refused(USES[use], folder, MODEL)


@pytest.mark.field_case("X01")
@pytest.mark.parametrize("what", [*ANYWHERE, *HEADERS])
def test_a_hostile_state(folder: Path, what: str) -> None:
    (folder / STATE).write_bytes((ANYWHERE | HEADERS)[what](folder.parent / "marker"))
    refused(go_on, folder, STATE)


@pytest.mark.field_case("X01")
@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 300 + "]" * 300, '{"version": NaN}', "[]"])
def test_a_hostile_text_in_a_state(folder: Path, text: str) -> None:
    (folder / STATE).write_bytes(tensors({"__metadata__": {"state": text}, "a": F32}, b"\0" * 4))
    refused(go_on, folder, STATE)


@pytest.mark.field_case("X01")
@pytest.mark.parametrize("what", ANYWHERE)
def test_hostile_settings(folder: Path, what: str) -> None:
    (folder / CONFIG).write_bytes(ANYWHERE[what](folder.parent / "marker"))
    refused(go_on, folder, CONFIG)


@pytest.mark.field_case("X01")
@pytest.mark.parametrize(
    "change",
    [
        {ESCAPES: 1},
        {"__class__": 1},
        {"game": ESCAPES},
        {"game": ["attack-defence"]},
        {"memory": {}},
        {"opponents": {"x": ESCAPES}},
        {"opponents": [ESCAPES]},
        {"steps": "9" * 10_000},
        {"seed": None, "num_envs": [[]]},
    ],
)
def test_settings_with_hostile_values(folder: Path, change: dict[str, Any]) -> None:
    settings = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(settings | change))
    refused(go_on, folder, CONFIG)


@pytest.mark.field_case("X01")
@pytest.mark.parametrize(
    "change",
    [
        {"version": ESCAPES},
        {"version": "9" * 10_000},
        {"game": ESCAPES},
        {"memory": ESCAPES},
        {"encoding": ESCAPES},
        {"deterministic": ESCAPES},
        {"variants": [{ESCAPES: 1}]},
        {"variants": [{"game": "attack-defence"}]},
        {"variants": [{"name": "minimal"}]},
        {"variants": [{"own_card": ESCAPES}]},
        {"network": {ESCAPES: 8}},
        {"network": {"embedding": 8, "hidden": 8, "__class__": 8}},
        {"more": json.loads("[" * 300 + "]" * 300)},
    ],
)
def test_cards_with_hostile_values(folder: Path, change: dict[str, Any]) -> None:
    card = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps(card | change))
    refused(USES["load"], folder, CARD)
    if "network" not in change:  # it is shown as it is; see below
        refused(USES["show"], folder, CARD)


@pytest.mark.process
@pytest.mark.field_case("X01")
def test_what_strangers_wrote_reaches_no_terminal_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In names of opponents and agents of a card that is otherwise right."""
    card = json.loads((folder / CARD).read_text())
    scores = card["evaluations"][-1]["scores"]
    scores[ESCAPES] = scores["random"]
    card["config"]["opponents"] = {ESCAPES + "\n": 1.0}
    card["network"][ESCAPES] = 1
    (folder / CARD).write_text(json.dumps(card))
    for as_json in (False, True):
        show_model(folder, as_json=as_json)
        printed = capsys.readouterr().out
        assert "owned" in printed
        assert printed.replace("\n", "").isprintable()
    named = folder.rename(folder.parent / "a\x1b[2Jb")
    (named / CARD).write_text("{")
    done = war("models", "show", str(named))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.rstrip("\n").isprintable()
    assert "a\\x1b[2Jb" in done.stderr


@pytest.mark.field_case("X01")
def test_a_card_of_thousands_of_names_stays_short(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = json.loads((folder / CARD).read_text())
    scores = card["evaluations"][-1]["scores"]
    card["evaluations"][-1]["scores"] = {str(k): scores["random"] for k in range(10_000)}
    card["config"]["opponents"] = {str(k): 1 for k in range(10_000)}
    (folder / CARD).write_text(json.dumps(card))
    show_model(folder)
    assert capsys.readouterr().out.count("\n") < 100


@pytest.mark.field_case("X01")
@pytest.mark.parametrize("name", [CARD, MODEL, CONFIG, STATE])
def test_a_pipe_in_place_of_a_file_does_not_hang(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    command = ["train", "--resume"] if name in (CONFIG, STATE) else ["models", "show"]
    assert name in told(*command, str(folder), capsys=capsys)


@pytest.mark.field_case("X01")
def test_names_cannot_leave_the_folder(folder: Path) -> None:
    """Neither settings nor a card say where anything is written, or what is read."""
    outside = folder.parent / "outside"
    settings = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(settings | {"out": str(outside)}))
    assert checkpoint.read_config(folder, TrainConfig).out == folder
    card = json.loads((folder / CARD).read_text())
    paths = {"name": "../../outside", "file": str(outside), "weights": "/etc/passwd"}
    (folder / CARD).write_text(json.dumps(card | paths))
    agent: Any = war_agents.make(folder, **GAME)
    assert agent.name == "run"
    opponents = {"../../../etc/passwd": 1.0}
    (folder / CONFIG).write_text(json.dumps(settings | {"opponents": opponents}))
    refused(go_on, folder, "passwd")
    assert not outside.exists()
    secret = folder.parent / "secret.txt"
    secret.write_text("a password")
    (folder / CONFIG).write_text(json.dumps(settings | {"opponents": {str(secret): 1.0}}))
    assert "a password" not in refused(go_on, folder, "secret")


@pytest.mark.field_case("X01")
@pytest.mark.parametrize(
    "command",
    [
        ["models", "show", "run"],
        ["models", "show", "run", "--json"],
        ["tournament", "--game", "attack-defence", "--minimal", "--num-ranks", "3"],
        ["export", "run", "--to", "sb3", "--out", "policy.zip"],
        ["train", "--resume", "run"],
    ],
)
def test_commands_end_with_one_line(
    folder: Path,
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in (MODEL, STATE):
        (folder / name).write_bytes(sb3_zip(folder.parent / "marker"))
    if command[0] == "tournament":
        command = [*command, "--agents", "random", "run"]
    monkeypatch.chdir(folder.parent)
    assert ".safetensors" in told(*command, capsys=capsys)
    assert [path.name for path in folder.parent.iterdir()] == ["run"]
