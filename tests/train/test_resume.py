"""A run that ended early goes on as if it had not, wherever and however it ended."""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load, save
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.support.command import WAR, as_command, refused
from tests.support.runs import StopAt, left
from tests.support.runs import eventful_config as config
from war_agents.cli import main
from war_train.league.growth import Growth
from war_train.ppo.training import resume, train
from war_train.run.state import STATE_FILE, RunState
from war_train.run.stopping import TrainingStoppedError

GAMES = ("attack-defence", "strategic-war")
ROOT = Path(__file__).resolve().parents[2]


EVERYTHING: dict[str, Any] = {
    "minimal": False,
    "variants": ("minimal", "fair+open-card"),
    "opponents": {"self": 1.0, "past": 1.0, "exploiter": 1.0, "memory": 1.0},
    "exploiter_every": 1000,
    "exploiter_steps": 1024,
    "exploiter_size": 2,
    "average": 1000,
    "magnet": 0.1,
    "floor": 0.01,
    "imitate": "memory",
    "imitate_steps": 1024,
}


@pytest.mark.slow
@pytest.mark.field_case("T02", "T03")
@pytest.mark.parametrize("more", [{}, EVERYTHING], ids=["plain", "everything"])
@pytest.mark.parametrize("game", GAMES)
def test_a_run_in_pieces_is_the_run_in_one(tmp_path: Path, game: str, more: dict[str, Any]) -> None:
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    train(config(whole, game, **more))
    with pytest.raises(TrainingStoppedError, match=f"--resume {pieces} goes on"):
        train(
            config(pieces, game, **more), [StopAt(32)]
        )  # before anything has been saved by cadence
    with pytest.raises(RuntimeError, match="a fault"):  # unforeseen: back to the last save
        resume(pieces, [StopAt(2208, RuntimeError("a fault"))], progress=False)
    with pytest.raises(TrainingStoppedError):
        resume(pieces, [StopAt(2560)], progress=False)
    assert resume(pieces, progress=False) == pieces / "model.safetensors"
    assert left(pieces) == left(whole)
    before = {path.name: path.stat().st_mtime_ns for path in pieces.iterdir()}
    with pytest.raises(ValueError, match="has finished its 4096 steps"):
        resume(pieces, progress=False)
    before.pop("run.lock")
    assert before == {name: (pieces / name).stat().st_mtime_ns for name in before}


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.support.runs import eventful_config
from stable_baselines3.common.callbacks import BaseCallback
from war_train.ppo.training import train

class KillAt(BaseCallback):
    def _on_step(self):
        if self.num_timesteps == 2016:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

train(eventful_config(Path(sys.argv[1])), [KillAt()])
"""


@pytest.mark.process
@pytest.mark.slow
def test_a_run_killed_with_rows_past_its_save_can_be_stopped_at_once_and_goes_on(
    tmp_path: Path,
) -> None:
    """Its log is cut to what was saved, and from then on counted from there."""
    pieces, whole = tmp_path / "pieces", tmp_path / "whole"
    done = subprocess.run([sys.executable, "-c", KILLED, str(pieces)], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    saved = RunState.read(pieces)
    assert saved.count("steps") == 1024
    assert (pieces / "log.jsonl").stat().st_size > saved.count("log_size")
    for _ in range(2):
        with pytest.raises(TrainingStoppedError):
            resume(pieces, [StopAt(1056)], progress=False)
        assert RunState.read(pieces).entries["log_size"] == saved.entries["log_size"]
    resume(pieces, progress=False)
    train(config(whole))
    assert left(pieces) == left(whole)
    assert scalars(pieces) == scalars(whole)


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard shows of a run, without times."""
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)]
        for tag in events.Tags()["scalars"]
        if tag not in ("seconds", "steps_per_second")
    }


@pytest.mark.slow
def test_a_signal_while_an_exploiter_learns_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(config(tmp_path / "whole", **EVERYTHING))
    asked = 0
    go_on = Growth._may_go_on

    def stops(self: Growth) -> bool:
        nonlocal asked
        asked += 1
        if asked == 40:  # within the second one
            os.kill(os.getpid(), signal.SIGTERM)
        return go_on(self)

    monkeypatch.setattr(Growth, "_may_go_on", stops)
    with pytest.raises(TrainingStoppedError):
        train(config(tmp_path / "a", **EVERYTHING))
    assert asked == 40
    resume(tmp_path / "a", progress=False)
    assert left(tmp_path / "a") == left(tmp_path / "whole")


@pytest.mark.field_case("T13")
def test_a_signal_loses_nothing_of_the_last_update(tmp_path: Path) -> None:
    with pytest.raises(TrainingStoppedError):
        train(config(tmp_path / "a", save_every=10**9), [StopAt(2400)])
    assert RunState.read(tmp_path / "a").count("steps") == 2048


@pytest.mark.field_case("T04")
@pytest.mark.parametrize("num_envs", [16, 64, 256])
def test_the_cadence_is_in_steps_whatever_the_number_of_games(
    tmp_path: Path, num_envs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved: list[int] = []
    write = RunState.write

    def note(self: RunState, folder: Path) -> None:
        saved.append(self.count("steps"))
        write(self, folder)

    monkeypatch.setattr(RunState, "write", note)
    train(config(tmp_path / "a", num_envs=num_envs, evaluate_every=0))
    assert saved == [0, 1024, 2048, 3072, 4096]


OPTIONS = ["--game", "attack-defence", "--minimal", "--num-ranks", "3", "--out", "run", "--seed"]
OPTIONS += ["1", "--num-envs", "64", "--rollout", "1024", "--batch-size", "256"]
OPTIONS += [
    "--steps",
    "40960",
    "--save-every",
    "4096",
    "--evaluate-every",
    "0",
    "--final-deals",
    "5",
]


def start(folder: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([*WAR, "train", *arguments], cwd=folder, stderr=subprocess.PIPE)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("K01", "Z03")
def test_kill_at_any_moment_and_a_second_process_on_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "once").mkdir()
    monkeypatch.chdir(tmp_path / "once")
    with as_command("train", *OPTIONS):
        main()
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    state = tmp_path / "run" / STATE_FILE
    process, saved = start(tmp_path, *OPTIONS), 0
    for pause in (0.0, 0.05):  # somewhere between updates, saves and steps
        while not state.exists() or state.stat().st_mtime_ns == saved:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.001)
        if not saved:
            told = refused("train", "--resume", "run", capsys=capsys)
            assert told == "war: another process is training in run\n"
        time.sleep(pause)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it had ended before"
        saved = state.stat().st_mtime_ns
        RunState.read(tmp_path / "run")
        process = start(tmp_path, "--resume", "run")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert left(tmp_path / "run") == left(tmp_path / "once" / "run")


@pytest.mark.slow
@pytest.mark.field_case("K01")
def test_a_full_disk_ends_the_run_and_leaves_what_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = RunState.write

    def fill(self: RunState, folder: Path) -> None:
        if self.count("steps") == 2048:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(self, folder)

    with monkeypatch.context() as patch:
        patch.setattr(RunState, "write", fill)
        with pytest.raises(OSError, match="No space left"):
            train(config(tmp_path / "a"))
    assert RunState.read(tmp_path / "a").count("steps") == 1024
    resume(tmp_path / "a", progress=False)
    train(config(tmp_path / "b"))
    assert left(tmp_path / "a") == left(tmp_path / "b")


def rewritten(folder: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """The state with some of its arrays and entries changed."""
    state = RunState.read(folder)
    arrays: dict[str, Any] = {name: array.copy() for name, array in state.arrays.items()}
    entries = dict(state.entries)
    change(arrays, entries)
    RunState(arrays, entries).write(folder)


def break_record(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    arrays["games/record_hands"][3] = 255


def break_seat(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    arrays["games/seats"][3] = 7


def break_opponent(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    arrays["games/opponents"][3] = 99


def break_weight(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    arrays["network/header.weight"][0, 0] = float("nan")


def break_shape(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    arrays["network/header.weight"] = arrays["network/header.weight"][:2]


def break_moment(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    del arrays["adam/0/exp_avg"]


def break_steps(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    entries["steps"] = "many"


def break_pool(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    entries["league"]["pools"]["past"]["numbers"] = [5000]


def break_generator(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    entries["minibatches"] = {"bit_generator": "MT19937"}


def break_list(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    entries["league"] = [[1], {}]


def break_draws(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    arrays["draws"][:] = 255


def break_evaluation(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    entries["evaluations"] = [5]


def break_clock(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    entries["seconds"] = float("nan")


def break_log(arrays: dict[str, Any], entries: dict[str, Any]) -> None:
    entries["log_size"] = 10**9


BREAKS = [
    break_record,
    break_seat,
    break_opponent,
    break_weight,
    break_shape,
    break_moment,
    break_steps,
    break_pool,
    break_generator,
    break_list,
    break_draws,
    break_evaluation,
    break_clock,
    break_log,
]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "a"
    with pytest.raises(TrainingStoppedError):
        train(config(folder), [StopAt(2560)])
    return folder


@pytest.mark.parametrize("change", BREAKS)
def test_a_damaged_state_is_refused_in_one_line_and_nothing_changes(
    tmp_path: Path, stopped: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("config.json", "log.jsonl", STATE_FILE):
        (folder / name).write_bytes((stopped / name).read_bytes())
    rewritten(folder, change)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(ValueError, match=r"state\.safetensors|log\.jsonl") as error:
        resume(folder, progress=False)
    assert "\n" not in str(error.value)
    assert {n: data for n, data in before.items() if (folder / n).read_bytes() != data} == {}


def remove_log(folder: Path) -> None:
    (folder / "log.jsonl").unlink()


def cut_log(folder: Path) -> None:
    os.truncate(folder / "log.jsonl", RunState.read(folder).count("log_size") - 1)


def zero_log(folder: Path) -> None:
    log, kept = folder / "log.jsonl", RunState.read(folder).count("log_size")
    log.write_bytes(log.read_bytes()[: kept - 100] + bytes(200))


def zero_config(folder: Path) -> None:
    (folder / "config.json").write_bytes(bytes(4096))


def zero_state(folder: Path) -> None:
    (folder / STATE_FILE).write_bytes(bytes((folder / STATE_FILE).stat().st_size))


@pytest.mark.parametrize("lock", [False, True], ids=["no lock", "a lock"])
@pytest.mark.parametrize("damage", [remove_log, cut_log, zero_log, zero_config, zero_state])
def test_a_refused_resume_changes_nothing_at_all(
    tmp_path: Path, stopped: Path, damage: Callable[[Path], None], lock: bool
) -> None:
    folder = Path(shutil.copytree(stopped, tmp_path / "run"))
    (folder / ".state.safetensors.0123456789abcdef.part").write_bytes(b"half")
    damage(folder)
    if not lock:
        (folder / "run.lock").unlink()

    def everything() -> dict[str, tuple[int, bytes]]:
        return {
            str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
            for path in folder.rglob("*")
        }

    before = everything()
    with pytest.raises(ValueError, match=r"log\.jsonl|config\.json|state\.safetensors") as error:
        resume(folder, progress=False)
    assert "\n" not in str(error.value)
    assert everything() == before


def test_zeros_behind_what_was_saved_of_the_log_are_cut(tmp_path: Path, stopped: Path) -> None:
    """A power cut may leave them; what was saved is whole."""
    folder = Path(shutil.copytree(stopped, tmp_path / "run"))
    kept = RunState.read(folder).count("log_size")
    with (folder / "log.jsonl").open("r+b") as log:
        log.truncate(kept)
        log.truncate(kept + 5000)
    (folder / ".state.safetensors.0123456789abcdef.part").write_bytes(b"half")
    resume(folder, progress=False)
    assert [row["steps"] for row in left(folder)[0]] == list(range(512, 4097, 512))
    assert not list(folder.glob(".*.part"))


@pytest.mark.parametrize("data", [b"", b"\x80\x04junk", b"\xff" * 200, save({})])
def test_a_file_that_is_no_state_is_refused(tmp_path: Path, stopped: Path, data: bytes) -> None:
    (tmp_path / "config.json").write_bytes((stopped / "config.json").read_bytes())
    (tmp_path / STATE_FILE).write_bytes(data)
    with pytest.raises(ValueError, match=r"state\.safetensors") as error:
        resume(tmp_path)
    assert "\n" not in str(error.value)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, stopped: Path) -> None:
    with pytest.raises(ValueError, match=r"config\.json.*No such file"):
        resume(tmp_path)
    for text in ("[]", "{", '{"game": "chess"}', '{"nonsense": 1}'):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ValueError, match=r"config\.json holds no settings"):
            resume(tmp_path)
    (tmp_path / "config.json").write_bytes((stopped / "config.json").read_bytes())
    with pytest.raises(ValueError, match=r"state\.safetensors cannot be read"):
        resume(tmp_path)


def test_the_state_is_plain_tensors_and_json(stopped: Path) -> None:
    data = (stopped / STATE_FILE).read_bytes()
    assert set(load(data)) >= {"draws", "starts", "games/record_hands", "network/header.weight"}
    assert str(stopped).encode() not in data
