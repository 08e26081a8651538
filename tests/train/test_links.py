"""Run folders from strangers: what is a link there is never written through, nor gone on with."""

import os
import shutil
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.command import refused
from tests.support.models import made
from tests.support.runs import StopAt, config, left
from war_agents.models.show import show_model
from war_train.export import export
from war_train.ppo.training import resume, train
from war_train.run.log import RunLog
from war_train.run.state import RunState
from war_train.run.stopping import TrainingStoppedError

SECRET = b'{"a password": 7}\n' * 10_000


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    with pytest.raises(TrainingStoppedError):
        train(config(folder, steps=1536, final_deals=1), [StopAt(1056)])
    return folder


@pytest.fixture
def folder(tmp_path: Path, stopped: Path) -> Path:
    """A run from a stranger."""
    return Path(shutil.copytree(stopped, tmp_path / "run"))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file of one's own, outside."""
    file = tmp_path / "mine"
    file.write_bytes(SECRET)
    os.utime(file, ns=(10**18, 10**18))
    return file


def unchanged(file: Path) -> bool:
    return file.read_bytes() == SECRET and file.stat().st_mtime_ns == 10**18


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["log.jsonl", "config.json", "state.safetensors", "run.lock"])
def test_a_link_in_the_place_of_a_file_is_refused(
    folder: Path, mine: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    (folder / name).unlink()
    link(mine, folder / name)
    before = sorted(folder.rglob("*"))
    with pytest.raises(ValueError, match=rf"{name}.* it is a (hard )?link") as raised:
        resume(folder, progress=False)
    assert "\n" not in str(raised.value)
    assert "password" not in str(raised.value)
    assert unchanged(mine)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["model.safetensors", "model.json"])
def test_a_link_in_the_place_of_a_model_is_replaced(
    folder: Path, mine: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    (folder / name).unlink()
    link(mine, folder / name)
    with pytest.raises(ValueError, match=name) as raised:
        show_model(folder)
    assert "password" not in str(raised.value)
    resume(folder, progress=False)
    assert unchanged(mine)
    show_model(folder)


def test_tensorboards_folder_is_in_the_run_or_nowhere(folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.copytree(folder / "tensorboard", outside)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    shutil.rmtree(folder / "tensorboard")
    log = (folder / "log.jsonl").read_bytes()
    for target in (outside, tmp_path / "nowhere", tmp_path / "log.txt"):
        (folder / "tensorboard").symlink_to(target)
        with pytest.raises(ValueError, match="tensorboard is not allowed: it is a link"):
            resume(folder, progress=False)
        (folder / "tensorboard").unlink()
    os.mkfifo(folder / "tensorboard")
    with pytest.raises(ValueError, match="tensorboard is not allowed"):
        resume(folder, progress=False)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before
    assert (folder / "log.jsonl").read_bytes() == log
    assert not (tmp_path / "nowhere").exists()


def test_no_name_in_tensorboards_folder_can_be_foreseen(tmp_path: Path, mine: Path) -> None:
    """Links by all names that PyTorch's own writer would take in the next minute."""
    board, names = tmp_path / "tensorboard", set()
    board.mkdir()
    for second in range(60):
        for number in range(3):
            names.add(
                f"events.out.tfevents.{int(time.time()) + second:010d}.{socket.gethostname()}."
                f"{os.getpid()}.{number}"
            )
    for name in names:
        (board / name).symlink_to(mine)
    with RunLog(tmp_path, 1024, progress=False) as log:
        log.write({"steps": 512, "score": 0.5})
    assert unchanged(mine)
    (own,) = {path.name for path in board.iterdir()} - names
    assert ".tfevents." in own


@pytest.mark.parametrize("name", ["log.jsonl", "run.lock", "run.lock.held"])
def test_a_pipe_in_the_place_of_a_file_does_not_hang(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    told = refused("train", "--resume", str(folder), capsys=capsys)
    assert f"{name} is not allowed: it is no plain file" in told


def test_a_model_that_is_a_pipe_is_not_waited_for(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "model.safetensors").unlink()
    os.mkfifo(folder / "model.safetensors")
    options = ["--to", "torchscript", "--out", str(tmp_path / "out")]
    told = refused("export", str(folder), *options, capsys=capsys)
    assert "model.safetensors is not a model that can be read: it is no plain file" in told


def test_links_that_the_user_names_are_followed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a run's folder, and of models, which stores of models keep as links."""
    (tmp_path / "link").symlink_to(folder)
    resume(tmp_path / "link", progress=False)
    assert RunState.read(folder).count("steps") == 1536
    store = tmp_path / "store"
    store.mkdir()
    for name in ("model.safetensors", "model.json"):
        (store / name).symlink_to(folder / name)
    show_model(store)
    assert "attack-defence" in capsys.readouterr().out


def test_an_export_writes_to_no_name_that_could_be_foreseen(tmp_path: Path, mine: Path) -> None:
    model = made(tmp_path)
    for process in range(os.getpid() - 2, os.getpid() + 3):
        (tmp_path / f".out.pt.{process}.part").symlink_to(mine)
    export(model, to="torchscript", out=tmp_path / "out.pt")
    assert unchanged(mine)
    assert (tmp_path / "out.pt").is_file()


def test_a_run_that_was_linked_by_nobody_goes_on(folder: Path, tmp_path: Path) -> None:
    train(config(tmp_path / "whole", steps=1536, final_deals=1))
    resume(folder, progress=False)
    assert left(folder) == left(tmp_path / "whole")
