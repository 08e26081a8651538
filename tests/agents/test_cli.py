"""The ``war`` command as its users run it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import pettingzoo
import pytest

from tests.support.command import WAR, as_command, refused, war
from tests.support.processes import wait_for
from war_agents import scripted
from war_agents.cli import main
from war_envs.registration import PETTINGZOO_IDS

TOURNAMENT = ["tournament", "--game", "attack-defence", "--minimal", "--agents"]


@pytest.mark.process
@pytest.mark.slow
def test_tournament_plays_prints_and_writes(tmp_path: Path) -> None:
    agents = ["random", "attack", "defend", "memory"]
    args = [*TOURNAMENT, *agents, "--deals", "5_0", "--seed", "1", "--out", "report/"]
    results = []
    for hash_seed in ("0", "1"):
        folder = tmp_path / hash_seed
        folder.mkdir()
        done = war(*args, cwd=folder, PYTHONHASHSEED=hash_seed)
        assert done.returncode == 0, done.stderr
        assert not done.stderr.replace(
            "war-envs: compiling kernels, which takes some seconds once\n", ""
        )
        assert "report/report.html" in done.stdout
        assert all(name in done.stdout for name in agents)
        assert "\x1b" not in done.stdout
        assert "…" not in done.stdout
        results.append((folder / "report" / "results.json").read_bytes())
    assert results[0] == results[1], "the hash seed changes results"
    pairs = json.loads(results[0])["pairs"]
    assert len(pairs) == 6
    assert {pair["games"] for pair in pairs} == {100}
    assert {pair["variant"] for pair in pairs} == {"minimal"}


@pytest.mark.slow
@pytest.mark.process
def test_tournament_of_strategic_war_with_all_modes(tmp_path: Path) -> None:
    modes = ["--minimal", "--fair", "--open-cards", "--num-ranks", "5", "--max-turns", "30"]
    args = ["--agents", "random", "top", "memory", "--deals", "4", "--out", str(tmp_path)]
    done = war("tournament", "--game", "strategic-war", *modes, *args)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "results.json").read_text())
    (variant,) = found["settings"]["variants"]
    assert variant["variant"] == "minimal+fair+open-card"
    assert variant["options"] == {
        "minimal": True,
        "fair": True,
        "open_cards": True,
        "num_ranks": 5,
        "max_turns": 30,
    }
    assert {pair["games"] for pair in found["pairs"]} == {16}


@pytest.mark.process
def test_help_explains_every_command_and_loads_no_torch() -> None:
    check = "import sys; from war_agents.cli import main\ntry: main()\nfinally: "
    check += "assert not {'torch', 'war_train', 'matplotlib'} & set(sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", check, "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for text in ("train", "tournament", "envs", "self-play", "war COMMAND --help", "--version"):
        assert text in done.stdout


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "flags"),
    [
        ("tournament", ["--agents", "--deals", "--seed", "--out", "--open-cards", "--own-card"]),
        ("train", ["--game", "--minimal", "--steps", "--out"]),
        ("solve", ["--game", "--minimal", "--num-ranks", "--json"]),
    ],
)
def test_commands_explain_themselves(command: str, flags: list[str]) -> None:
    done = war(command, "--help")
    assert done.returncode == 0, done.stderr
    assert f"war {command}" in done.stdout
    for flag in flags:
        assert f"{flag} " in done.stdout
    for flag in ("--no-minimal", "--minimal | --no"):
        assert flag not in done.stdout


def test_solve_prints_values_of_variants(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--game", "attack-defence", "--num-ranks", "3"]
    with as_command("solve", *options, "--variants", "minimal", "minimal+open-card"):
        main()
    out = capsys.readouterr().out
    assert "minimal, 3 ranks, at most 240 turns: solved in " in out
    assert "90: " in out
    assert "mean absolute value 0.6378" in out
    with as_command("solve", *options, "--minimal", "--json"):
        main()
    row = json.loads(capsys.readouterr().out)
    assert abs(row["value"]) < 1e-6
    assert row["open_states"] == 438
    assert row["deals"] is None


@pytest.mark.process
def test_envs_lists_every_id_whole() -> None:
    done = war("envs", COLUMNS="20")
    assert done.returncode == 0, done.stderr
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()]
    listed: dict[str, list[str]] = {}
    for id_, maker in rows:
        listed.setdefault(maker, []).append(id_)
    ours = [id_ for id_ in gymnasium.registry if id_.startswith("war_envs/")]
    assert listed["gymnasium"] == ours
    assert len(ours) == 16
    for kind, ids in PETTINGZOO_IDS.items():
        assert tuple(listed[f"pettingzoo {kind}"]) == ids
        for id_ in ids:
            pettingzoo.make(kind, id_)  # type: ignore[call-overload]
    assert len(rows) == 16 + sum(map(len, PETTINGZOO_IDS.values()))


@pytest.mark.process
def test_envs_ends_quietly_when_nobody_reads_on() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*WAR, "envs"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode == 1
    assert not done.stderr


@pytest.mark.process
def test_version() -> None:
    done = war("--version")
    assert done.stdout.split() == ["war-envs", "0.1.0"]


@pytest.mark.process
@pytest.mark.slow
def test_a_wrong_command_line_is_explained() -> None:
    for arguments in ([], ["dance"], [*TOURNAMENT, "random", "--deals", "many"]):
        done = war(*arguments)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert "--help" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["random"], "at least two"),
        (["random", "random"], "'random' twice"),
        (["random", "nobody"], "agent 'nobody' is unknown"),
        (["random", "attack", "--deals", "0"], "deals=0"),
        (["random", "attack", "--seed", "-1"], "seed=-1"),
        (["random", "attack", "--num-ranks", "4"], "num_ranks=4"),
        (["random", "attack", "--max-turns", "0"], "max_turns=0"),
        (["random", "attack", "--out", os.devnull], "null"),
    ],
)
def test_what_cannot_be_is_told_in_one_line(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert complaint in refused(*TOURNAMENT, *arguments, capsys=capsys)


def test_options_of_the_other_game_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--agents", "random", "top", "--own-card", "first"]
    told = refused("tournament", "--game", "strategic-war", *arguments, capsys=capsys)
    assert "own_card" in told


def test_wrong_training_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    arguments = ["--game", "attack-defence", "--out", str(out), "--steps", "0"]
    assert "steps=0" in refused("train", *arguments, capsys=capsys)
    assert not out.exists()


@pytest.mark.process
@pytest.mark.parametrize("package", ["torch", "sb3_contrib"])
def test_missing_packages_of_training_are_named(tmp_path: Path, package: str) -> None:
    without = (
        f"import sys; sys.modules[{package!r}] = None; from war_agents.cli import main; main()"
    )
    arguments = ["train", "--game", "attack-defence", "--out", str(tmp_path / "run")]
    done = subprocess.run(
        [sys.executable, "-c", without, *arguments], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr.startswith("war: ")
    assert done.stderr.count("\n") == 1
    assert 'pip install "war-envs[train]"' in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.process
@pytest.mark.slow
def test_training_ends_with_scores_and_where_the_model_is(tmp_path: Path) -> None:
    flags = ["--game", "attack-defence", "--minimal", "--num-ranks", "3", "--steps", "9000"]
    done = war("train", *flags, "--final-deals", "20", "--out", "a run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    *scores, last = done.stdout.splitlines()
    assert [line.split()[2].rstrip(",") for line in scores] == list(
        scripted.names("attack-defence")
    )
    assert all("(95 %, 20 deals)" in line for line in scores)
    assert last == f"The model is in {Path('a run') / 'model.safetensors'}"
    assert (tmp_path / "a run" / "model.safetensors").is_file()


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "again"),
    [(signal.SIGINT, 130, True), (signal.SIGTERM, 143, False)],
    ids=["SIGINT, on and on", "SIGTERM"],
)
def test_a_signal_ends_a_tournament_with_one_line_that_says_how_to_go_on(
    tmp_path: Path, number: int, code: int, again: bool
) -> None:
    folder = tmp_path / "report"
    arguments = [*TOURNAMENT, "random", "defend", "--deals", "200_000", "--out", str(folder)]
    process = subprocess.Popen(
        [*WAR, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    games = folder / "games.jsonl"
    wait_for(lambda: games.exists() and games.stat().st_size, seconds=60)
    process.send_signal(number)
    while again and process.poll() is None:
        process.send_signal(number)
        time.sleep(0.002)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert not out
    assert err.splitlines()[-1] == (
        f"war: interrupted; the same command with --resume goes on in {folder}"
    )
    assert "Traceback" not in err
    assert not (folder / "results.json").exists()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.field_case("F01")
def test_threads_are_only_a_default() -> None:
    report = "import os; from war_agents.cli import main; name = 'OMP_NUM_THREADS'"
    report += "; before = os.environ.get(name); main(); print(before, os.environ[name])"
    program = [sys.executable, "-c", report, "envs"]
    bare = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    for env, expected in ((bare, "None 1"), ({**bare, "OMP_NUM_THREADS": "7"}, "7 7")):
        done = subprocess.run(program, env=env, capture_output=True, text=True)
        assert done.stdout.splitlines()[-1] == expected
