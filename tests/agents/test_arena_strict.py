"""What is told of agents that fail: where, for good, and by the exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import bad_agents
from tests.support.command import WAR
from tests.support.players import Player
from war_agents.arena import Tournament, TournamentResult, play_match
from war_agents.arena.report import html, markdown
from war_envs.variant import make_variant

BAD = "tests.support.bad_agents:"
SOURCE = Path(bad_agents.__file__)
SMALL = make_variant("attack-defence", "minimal", num_ranks=7)
LINE = 1 + SOURCE.read_text().splitlines().index('        raise RuntimeError("no more moves")')
PLACE = f"(bad_agents.py:{LINE})"


def play(*agents: Any, out: Path | None = None, **options: Any) -> TournamentResult:
    given: dict[str, Any] = {"game": "attack-defence", "variants": SMALL, "deals": 2, "seed": 1}
    resume = options.pop("resume", False)
    given |= {"workers": 0}
    return Tournament(agents, **{**given, **options}).run(out, resume=resume)


def command(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            *WAR,
            "tournament",
            "--game",
            "attack-defence",
            "--deals",
            "2",
            "--workers",
            "1",
            *options,
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.process
@pytest.mark.parametrize("workers", [0, 1])
def test_reports_and_a_file_say_where_an_agent_failed(tmp_path: Path, workers: int) -> None:
    result = play(BAD + "Raises", "random", "attack", out=tmp_path, workers=workers)
    reason = f"failed: RuntimeError: no more moves {PLACE}"
    assert {forfeit.reason for forfeit in result.forfeits} == {reason}
    for text in (markdown(result).replace("\\", ""), html(result)):
        assert reason in text
    (file,) = (tmp_path / "failures").iterdir()
    first, _, *lines = file.read_text().splitlines()
    assert first.startswith(f"agent '{BAD}Raises' {reason}, against 'random' in ")
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].startswith(f'  File "{SOURCE}", line ')  # the agent's own, and not ours
    assert f'  File "{SOURCE}", line {LINE}, in fail' in lines
    assert lines[-1] == "RuntimeError: no more moves"
    deal = int(first.rpartition(" ")[2])
    assert deal in {forfeit.deal for forfeit in result.matches[0].forfeits}


def test_where_is_the_last_line_of_the_agents_own_file() -> None:
    """Not one of the library that it called."""
    agent = Player("own", lambda *_: json.loads("{"))
    line = sys._getframe().f_lineno - 1
    with pytest.raises(ValueError, match=rf"JSONDecodeError: .* \(test_arena_strict\.py:{line}\)$"):
        play_match(Mine(agent), "random", game="attack-defence", deals=1, seed=1)


class Mine:
    """Leaves all to another."""

    name, encoding, memory = "mine", "tokens", "perfect"

    def __init__(self, other: Any) -> None:
        self.other = other

    def act(self, *arguments: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        return self.other.act(*arguments)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("Illegal", f'Its act() is in "{SOURCE}", line '),
        ("WrongState", "Traceback (most recent call last):"),
        ("RaisesLoudly", "Traceback (most recent call last):"),
        ("ExitsHard", "There is no traceback."),
    ],
)
def test_failures_of_any_kind_are_kept_and_none_is_obeyed_by_a_terminal(
    tmp_path: Path, kind: str, told: str
) -> None:
    play(BAD + kind, "random", out=tmp_path, workers=int(kind == "ExitsHard"), time_limit=5)
    (file,) = (tmp_path / "failures").iterdir()
    text = file.read_text()
    assert text.splitlines()[2].startswith(told)
    assert text.replace("\n", "").isprintable()
    assert len(text) < 25_000


def test_names_of_agents_are_no_paths(tmp_path: Path) -> None:
    out = tmp_path / "out"
    agents = [bad_agents.Raises(always=True) for _ in range(3)]
    for agent, name in zip(agents, ("../../x", "..", "a/b\n" * 100), strict=True):
        agent.name = name
    play(*agents, out=out)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    files = sorted(path.name for path in (out / "failures").iterdir())
    assert [name[:4] for name in files] == ["1_x.", "2_.t", "3_a_"]
    assert max(map(len, files)) < 80


def test_the_first_failure_of_each_agent_outlives_a_break(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done > 4:
            raise KeyboardInterrupt

    agents: list[Any] = [bad_agents.Raises(always=True), "random", "attack"]
    options: dict[str, Any] = {"game": "attack-defence", "variants": SMALL, "deals": 2, "seed": 1}
    with pytest.raises(KeyboardInterrupt):
        Tournament(agents, **options, workers=0).run(tmp_path, progress=stop)
    (file,) = (tmp_path / "failures").iterdir()
    before = file.read_text()
    play(*agents, out=tmp_path, resume=True)
    assert [path.read_text() for path in (tmp_path / "failures").iterdir()] == [before]


def test_a_new_run_forgets_failures_of_before(tmp_path: Path) -> None:
    play(BAD + "Raises", "random", out=tmp_path)
    (file,) = (tmp_path / "failures").iterdir()
    file.write_text("old")
    play(BAD + "Raises", "random", out=tmp_path)
    assert file.read_text() != "old"


@pytest.mark.process
@pytest.mark.parametrize("workers", [0, 1])
def test_the_first_failure_ends_a_strict_tournament(tmp_path: Path, workers: int) -> None:
    agents = ["random", "attack", BAD + "Raises"]
    with pytest.raises(ValueError, match=r"agent '.*:Raises' failed: RuntimeError") as raised:
        play(*agents, out=tmp_path, strict=True, workers=workers)
    assert PLACE in str(raised.value)
    assert str(tmp_path / "failures") in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "results.json").exists()
    kept = (tmp_path / "games.jsonl").read_text().splitlines()
    assert len(kept) == 4
    assert not any("forfeit" in json.loads(line) for line in kept)
    result = play(*agents, out=tmp_path, resume=True)
    assert result.to_json() == play(*agents).to_json()
    with pytest.raises(ValueError, match=r"agent '.*:Raises' failed: RuntimeError"):
        play(*agents, out=tmp_path, resume=True, strict=True)


def test_nobody_fails_in_a_strict_tournament_of_sound_agents(tmp_path: Path) -> None:
    options: dict[str, Any] = {"out": tmp_path, "strict": True}
    assert not play("random", BAD + "Healthy", **options).forfeits
    assert not (tmp_path / "failures").exists()


@pytest.mark.parametrize(
    ("agents", "failed"),
    [
        (["AlwaysRaises"], ["AlwaysRaises"]),
        (["Raises"], []),
        (["AlwaysRaises", "AlwaysIllegal"], ["AlwaysRaises", "AlwaysIllegal"]),
        (["Healthy", "AlwaysRaises"], ["AlwaysRaises"]),
    ],
)
def test_who_failed_in_every_game_is_named(agents: list[str], failed: list[str]) -> None:
    others = [] if len(agents) > 1 else ["random"]
    result = play(*(BAD + agent for agent in agents), *others, deals=4)
    assert list(result.failed) == [BAD + agent for agent in failed]
    assert result.to_json()["failed"] == list(result.failed)
    text = html(result)
    assert text.count("its rating says nothing") == len(failed)


@pytest.mark.process
@pytest.mark.slow
def test_the_exit_code_tells_of_an_agent_that_failed_in_every_game(tmp_path: Path) -> None:
    out = tmp_path / "out"
    agents = ["--agents", "random", BAD + "AlwaysRaises"]
    done = command(*agents, "--out", str(out))
    assert done.returncode == 3
    assert f"failed: RuntimeError: no more moves {PLACE}" in done.stdout
    assert "its rating says nothing" in done.stdout
    assert done.stderr == (
        f"war: failed in every game: '{BAD}AlwaysRaises'; see the forfeits above\n"
    )
    assert json.loads((out / "results.json").read_text())["failed"] == [BAD + "AlwaysRaises"]
    strict = command(*agents, "--out", str(out), "--resume", "--strict")
    assert strict.returncode == 1
    assert strict.stderr.startswith(f"war: agent '{BAD}AlwaysRaises' failed: RuntimeError")
    assert strict.stderr.count("\n") == 1


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_strict_is_true_or_false(value: Any) -> None:
    with pytest.raises(ValueError, match="strict="):
        play("random", "attack", strict=value)
