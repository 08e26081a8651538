"""Agents that fail, hang or exit, and processes that are killed: what a tournament survives."""

import gc
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import war_agents
from tests.support import bad_agents
from tests.support.command import WAR
from tests.support.failures import BAD, SMALL, nothing_left, play  # noqa: F401
from tests.support.players import chance
from tests.support.processes import arena_workers, wait_for
from war_agents.arena import TournamentResult
from war_agents.arena.playing import blocks
from war_agents.arena.playing.games import play_games
from war_agents.registry import _FACTORIES
from war_envs.variant import make_variant

ANSWERS = {
    "Raises": "failed: RuntimeError: no more moves",
    "RaisesLoudly": "failed: RuntimeError: ",
    "Illegal": "chose the illegal action 99; legal were ",
    "Nothing": "returned None; it must be (actions, state)",
    "NotANumber": "returned actions of dtype float64 and shape (1,); ",
    "WrongShape": "returned actions of dtype int64 and shape (2,); ",
    "WrongState": "returned a wrong state: ",
    "EndlessState": "returned a wrong state: ",
    "Exits": "failed: SystemExit: 0",
}
LOSSES = {
    "Interrupts": "failed: KeyboardInterrupt: ",
    "ExitsHard": "ended its process, with exit code 7",
    "Kills": "ended its process, with exit code -9",
    "Hangs": "gave no answer for 0.5 s a choice",
    "Stops": "gave no answer for 0.5 s a choice",
}


def cursed_games(deals: int = 2, seed: int = 1) -> set[tuple[int, int]]:
    """In which games against "random" (deal, place) a bad agent sees a cursed position."""
    found = set()
    for game in itertools.product(range(deals), range(2)):
        noting = bad_agents.Noting()
        pair = [
            ("noting", noting),
            ("random", war_agents.make("random", game=SMALL.game, variant=SMALL)),
        ]
        number = 2 * game[0] + game[1]
        play_games(pair, SMALL, seed, range(number, number + 1))
        if noting.seen:
            found.add(game)
    return found


def forfeits(result: TournamentResult) -> dict[tuple[int, int], tuple[str, str]]:
    """The games (deal, place) of the first pair that were lost by failing: by whom, and why."""
    match = result.matches[0]
    return {(f.deal, f.place): ((match.a, match.b)[f.side], f.reason) for f in match.forfeits}


@pytest.fixture(scope="module")
def healthy() -> TournamentResult:
    """What the healthy twin of the bad agents does."""
    return play("tests.support.bad_agents:Healthy", "random", "attack", workers=0)


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("E09")
@pytest.mark.parametrize(("kind", "reason"), [*ANSWERS.items(), *LOSSES.items()])
def test_only_the_games_in_which_an_agent_fails_are_lost_to_it(
    tmp_path: Path, healthy: TournamentResult, kind: str, reason: str
) -> None:
    name = BAD + kind
    result = play(name, "random", "attack", out=tmp_path / "out", workers=int(kind in LOSSES))
    lost = forfeits(result)
    assert set(lost) == cursed_games()
    assert 0 < len(lost) < 4
    for agent, told in lost.values():
        assert agent == name
        assert told.startswith(reason)
        assert len(told) <= 500
        assert told.isprintable()
    for match, twin in zip(result.matches, healthy.matches, strict=True):
        fine = np.ones(match.results.shape, np.bool_)
        for forfeit in match.forfeits:
            fine[forfeit.deal, forfeit.place] = False
        assert (match.results[fine] == twin.results[fine]).all()
        assert (match.lengths[fine] == twin.lengths[fine]).all()
        assert (match.results[~fine] == -1).all()
        assert not match.lengths[~fine].any()
    assert result.pairs[2] == healthy.pairs[2]
    assert [pair.forfeits_a for pair in result.pairs] == [
        len(match.forfeits) for match in result.matches
    ]
    assert not any(pair.forfeits_b for pair in result.pairs)
    first = result.forfeits[0]
    assert (first.agent, first.opponent, first.games) == (name, "random", len(lost))
    assert first.reason == lost[min(lost)][1]
    lines = (tmp_path / "out" / "games.jsonl").read_text().splitlines()
    told_of = {
        (row["deal"], row["seat"]): (row["forfeit"], row["reason"])
        for row in map(json.loads, lines)
        if "forfeit" in row and row["b"] == "random"
    }
    assert told_of == lost
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results == json.loads(json.dumps(result.to_json()))


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("E01")
def test_the_number_of_processes_changes_nothing() -> None:
    agents = ["random", *(BAD + kind for kind in ("RaisesLoudly", "WrongState", "Exits"))]
    variants = [SMALL, make_variant("attack-defence", "fair", num_ranks=5)]
    results = [
        play(*agents, variants=variants, deals=6, workers=number).to_json() for number in (0, 1, 3)
    ]
    assert {row["agent"] for row in results[0]["forfeits"]} == set(agents) - {"random"}
    assert results.count(results[0]) == 3


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_an_agent_that_fails_at_its_third_choice_wins_and_loses_the_games_that_end_before(
    game: str,
) -> None:
    tiny = make_variant(game, "minimal", num_ranks=3)
    name = BAD + "RaisesAtThird"
    result = play(name, "random", game=game, variants=tiny, deals=20)
    twin = play(BAD + "Healthy", "random", game=game, variants=tiny, deals=20)
    assert (
        result.to_json()
        == play(name, "random", game=game, variants=tiny, deals=20, workers=0).to_json()
    )
    match, other = result.matches[0], twin.matches[0]
    failed = np.zeros(match.results.shape, np.bool_)
    for forfeit in match.forfeits:
        failed[forfeit.deal, forfeit.place] = True
    if game == "attack-defence":  # where both choose at every turn
        assert (failed == (other.lengths >= 3)).all()
    assert (match.results[~failed] == other.results[~failed]).all()
    assert 0 < failed.sum() < failed.size


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "kinds"),
    [
        ("attack-defence", ("AlwaysRaises", "AlwaysIllegal")),
        ("strategic-war", ("AlwaysRaises", "AlwaysIllegal")),
        ("attack-defence", ("AlwaysExitsHard", "AlwaysExitsHardToo")),
    ],
)
def test_two_that_always_fail_lose_half_of_their_games(game: str, kinds: tuple[str, str]) -> None:
    names = [BAD + kind for kind in kinds]
    variant = make_variant(game, "minimal", num_ranks=7)
    result = play(*names, game=game, variants=variant, deals=1)
    assert (result.matches[0].deal_scores == 0.5).all()
    assert result.pairs[0].forfeits_a == result.pairs[0].forfeits_b
    assert result.pairs[0].forfeits_a * 2 == result.pairs[0].games


@pytest.mark.slow
@pytest.mark.process
def test_the_order_in_which_agents_are_named_does_not_matter() -> None:
    names = BAD + "Raises", "random", BAD + "WrongShape"
    forth, back = play(*names, deals=6), play(*reversed(names), deals=6)
    assert np.array_equal(forth.scores, back.scores[::-1, ::-1], equal_nan=True)
    lost = [{(f.agent, f.opponent): f.games for f in each.forfeits} for each in (forth, back)]
    assert lost[0] == lost[1]
    assert len(lost[0]) > 2


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("E09")
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("AlwaysHangs", "gave no answer for 0.2 s a choice"),
        ("AlwaysInterrupts", "failed: KeyboardInterrupt: KeyboardInterrupt"),
    ],
)
def test_an_agent_that_always_fails_is_asked_no_more_which_is_said_once(
    kind: str, reason: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """All of its games are lost, of which only `PATIENCE` of its first block were played alone."""
    name = BAD + kind
    agents = ("random", name, "attack", "memory")
    options: dict[str, Any] = {"deals": 10, "time_limit": 0.2, "out": tmp_path / "out"}
    result = play(*agents, workers=2, **options)
    matches = [match for match in result.matches if name in (match.a, match.b)]
    lost = [[forfeit.reason for forfeit in match.forfeits] for match in matches]
    refused = f"was not asked: in games before it {reason}"
    assert lost[0] == [reason] * blocks.PATIENCE + [refused] * (20 - blocks.PATIENCE)
    assert lost[1:] == [[refused] * 20] * 2
    err = capfd.readouterr().err
    assert err.count(f"agent {name!r} {reason}") == 1
    # After a break the same holds, whatever was found before it.
    games = tmp_path / "out" / "games.jsonl"
    lines = games.read_text().splitlines(keepends=True)
    first = [line for line in lines if json.loads(line)["b"] == name]
    games.write_text("".join(first))
    (tmp_path / "out" / "results.json").unlink()
    again = play(*agents, workers=0, resume=True, **options)
    assert again.to_json() == result.to_json()


@pytest.mark.process
@pytest.mark.slow
def test_two_that_are_asked_no_more_lose_half_of_their_games() -> None:
    kinds = ("AlwaysInterrupts", "AlwaysInterruptsToo")
    for game in ("attack-defence", "strategic-war"):
        variant = make_variant(game, "minimal", num_ranks=7)
        agents = (BAD + kinds[0], "random", BAD + kinds[1])
        result = play(*agents, game=game, variants=variant, deals=5, workers=2)
        assert (result.matches[0].deal_scores == 0).all()
        assert (result.matches[1].deal_scores == 0.5).all()
        assert (result.matches[2].deal_scores == 1).all()


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("E09")
@pytest.mark.parametrize("workers", [0, 2])
def test_what_an_agent_writes_over_its_arrays_reaches_nobody(
    healthy: TournamentResult, workers: int
) -> None:
    result = play(BAD + "Overwrites", "random", "attack", workers=workers)
    for match, twin in zip(result.matches, healthy.matches, strict=True):
        assert (match.results == twin.results).all()
        assert (match.lengths == twin.lengths).all()


@pytest.mark.process
def test_what_an_agent_prints_is_not_taken_for_answers(
    healthy: TournamentResult, capfd: pytest.CaptureFixture[str]
) -> None:
    result = play(BAD + "Talks", "random", "attack")
    for match, twin in zip(result.matches, healthy.matches, strict=True):
        assert (match.results == twin.results).all()
    out, err = capfd.readouterr()
    assert not out
    assert "thinking" in err


@pytest.mark.process
@pytest.mark.slow
def test_what_an_agent_says_when_it_fails_does_not_reach_the_terminal() -> None:
    arguments = ["--game", "attack-defence", "--agents", "random", BAD + "RaisesLoudly"]
    done = subprocess.run(
        [*WAR, "tournament", *arguments, "--deals", "5", "--workers", "1"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert b"failed: RuntimeError" in done.stdout
    for text in (done.stdout, done.stderr):
        assert not {*b"\x1b\x07\r"} & set(text)
        assert "\u202e".encode() not in text


@pytest.mark.process
def test_an_agent_that_reads_from_the_keyboard_finds_nothing_there() -> None:
    lost = forfeits(play(BAD + "Reads", "random"))
    assert set(lost) == cursed_games()
    for _, reason in lost.values():
        assert reason.startswith("failed: EOFError: EOF when reading a line (bad_agents.py:")


@pytest.mark.process
@pytest.mark.slow
def test_processes_of_an_agent_end_with_it() -> None:
    lost = forfeits(play(BAD + "Forks", "random"))
    assert set(lost) == cursed_games()
    assert {reason for _, reason in lost.values()} == {"gave no answer for 0.5 s a choice"}


@pytest.mark.process
@pytest.mark.slow
def test_agents_of_this_package_are_not_held_to_a_time_limit() -> None:
    """Not even where their process stands still for a while, in all likelihood in a choice."""
    stops = 0

    def stop(done: int, total: int) -> None:
        nonlocal stops
        if done and stops < 4:
            for number in (signal.SIGSTOP, signal.SIGCONT):
                os.kill(arena_workers(os.getpid())[0], number)
                time.sleep(0.2)
            stops += 1

    options: dict[str, Any] = {"variants": "minimal", "deals": 4000, "time_limit": 1e-3}
    result = play("random", "champion", progress=stop, **options)
    assert stops > 1
    assert not result.forfeits


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("E09")
def test_a_killed_worker_changes_nothing() -> None:
    expected = play(BAD + "Raises", "random", "memory", deals=200, workers=0)
    killed: list[float] = []

    def kill(done: int, total: int) -> None:
        # Now and then only: who loses its processes while they start has other troubles.
        if len(killed) < 3 and done and time.monotonic() > (killed or [0])[-1] + 1:
            os.kill(arena_workers(os.getpid())[len(killed) % 2], signal.SIGKILL)
            killed.append(time.monotonic())

    result = play(BAD + "Raises", "random", "memory", deals=200, workers=2, progress=kill)
    assert killed  # as often as there was time for
    assert result.to_json() == expected.to_json()


@pytest.mark.process
@pytest.mark.slow
def test_a_worker_that_is_lost_while_it_has_nothing_to_do_is_replaced() -> None:
    """Between two rounds; the fixture and the warnings of unclosed files see what is left of it."""
    options: dict[str, Any] = {"deals": 400, "until_separated": 0.99}
    expected = play("random", BAD + "Healthy", **options)
    assert expected.deals == 400, "two rounds"
    killed: set[int] = set()

    def kill(done: int, total: int) -> None:
        if done == 500 and not killed:
            (worker,) = arena_workers(os.getpid())
            os.kill(worker, signal.SIGKILL)
            wait_for(lambda: not arena_workers(os.getpid()))
            killed.add(worker)

    result = play("random", BAD + "Healthy", progress=kill, **options)
    gc.collect()
    assert killed
    assert result.to_json() == expected.to_json()


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("agent", ["Healthy", "AlwaysHangs"])
def test_nothing_is_left_behind_when_progress_raises(
    error: type[BaseException], agent: str
) -> None:
    """See the fixture."""
    started = time.monotonic()

    def stop(done: int, total: int) -> None:
        if arena_workers(os.getpid()) and (done or time.monotonic() > started + 1):
            raise error

    with pytest.raises(error):
        play(BAD + agent, "random", time_limit=600, deals=2000, progress=stop)


class Here:
    """An agent that only this module knows."""

    name, encoding, memory = "here", "tokens", "perfect"

    def __init__(self, name: str = "here") -> None:
        self.name = name

    act = bad_agents.Healthy.act


@pytest.fixture
def registered() -> Iterator[None]:
    """Two names that only this process knows."""
    war_agents.register("tests-own", lambda variant: Here())
    war_agents.register(
        "tests-alias", lambda variant: war_agents.make("random", game=variant.game, variant=variant)
    )
    yield
    for factories in _FACTORIES.values():
        for name in ("tests-own", "tests-alias"):
            del factories[name]


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.usefixtures("registered")
def test_agents_of_every_kind_play_in_other_processes() -> None:
    class Local(Here):
        """Not to be found by its name."""

    def agents() -> list[Any]:
        made = [chance("function"), Here("object"), Local("local")]
        return ["tests-own", "tests-alias", BAD + "Healthy", "random", *made]

    alone, apart = play(*agents(), deals=2, workers=0), play(*agents(), deals=2, workers=2)
    assert not alone.forfeits
    assert alone.to_json() == apart.to_json()
    assert [player.kind for player in apart.players] == [
        *("registered", "registered", "code", "registered"),
        *("object", "object", "object"),
    ]


@pytest.mark.process
def test_an_agent_that_cannot_be_sent_is_named() -> None:
    agent = bad_agents.OnlyHere()
    with pytest.raises(ValueError, match=r"agent 'only-here' cannot be sent") as raised:
        play(agent, "random")
    assert "\n" not in str(raised.value)
    assert "module:factory" in str(raised.value)
    assert "workers=0" in str(raised.value)
    assert not play(agent, "random", workers=0).forfeits


SCRIPT = """
from war_agents.arena import run_tournament
from tests.support.bad_agents import Healthy

class Mine(Healthy):
    name = "mine"

result = run_tournament(
    [Mine(), "random"], game="attack-defence", variant="minimal", deals=5, seed=1, workers=1
)
print(result.pairs[0].games, len(result.forfeits))
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("how", ["file", "standard input", "argument"])
def test_scripts_need_no_main_guard(tmp_path: Path, how: str) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    arguments = {"file": [str(tmp_path / "script.py")], "standard input": ["-"]}
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments.get(how, ["-c", SCRIPT])],
        input=SCRIPT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "10 0\n"
    assert not done.stderr
