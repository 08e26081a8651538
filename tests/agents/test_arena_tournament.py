"""Tournaments: what is played, what is written, and that nothing is half written."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.agents.players import chance, fixed, memory_like, thinker
from war_agents import Agent
from war_agents.arena import TournamentResult, play_match, run_tournament
from war_envs.variant import make_variant

KEYS = ["a", "b", "game", "variant", "deals", "games", "wins", "draws", "losses"]
KEYS += ["score", "low", "high"]


def play(*agents: Agent | str, **options: Any) -> TournamentResult:
    given: dict[str, Any] = {"game": "attack-defence", "variant": "minimal", "deals": 20, "seed": 3}
    return run_tournament(agents, **{**given, **options})


def trio() -> tuple[Agent, ...]:
    return chance("a"), fixed("b", 1), thinker("c")


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_every_pair_plays_as_it_would_alone(game: str) -> None:
    result = play(*trio(), game=game)
    assert [(pair.a, pair.b) for pair in result.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
    by_name = {agent.name: agent for agent in trio()}
    for pair in result.pairs:
        alone = play_match(
            by_name[pair.a], by_name[pair.b], game=game, variant="minimal", deals=20, seed=3
        )
        assert (pair.wins, pair.draws, pair.losses) == (alone.wins, alone.draws, alone.losses)
        assert (pair.score, pair.low, pair.high) == (alone.score, alone.low, alone.high)
        assert pair.games == (40 if game == "attack-defence" else 80)
        assert pair.deals == 20


def test_order_of_agents_changes_nothing_but_the_order() -> None:
    forth = play(*trio())
    back = play(*reversed(trio()))
    assert np.allclose(forth.scores, back.scores[::-1, ::-1], equal_nan=True)
    assert {r.agent: r.elo for r in forth.ratings} == pytest.approx(
        {r.agent: r.elo for r in back.ratings}, abs=1e-6
    )
    assert [r.agent for r in forth.ratings] == [r.agent for r in back.ratings]


def test_the_stronger_is_rated_higher() -> None:
    open_cards = make_variant("attack-defence", "minimal+open-card")
    result = play(fixed("dull", 0), chance("any"), memory_like("sharp"), variant=open_cards)
    assert result.ratings[0].agent == "sharp"
    elos = [rating.elo for rating in result.ratings]
    assert elos == sorted(elos, reverse=True)
    assert sum(elos) == pytest.approx(0, abs=1e-6)
    for rating in result.ratings:
        row = result.agents.index(rating.agent)
        assert rating.score == pytest.approx(np.nanmean(result.scores[row]))


def test_equal_agents_stand_in_the_order_given() -> None:
    result = play(chance("z"), chance("m"), chance("a"))
    assert [rating.agent for rating in result.ratings] == ["z", "m", "a"]
    assert all(rating.elo == pytest.approx(0, abs=1e-6) for rating in result.ratings)


def test_results_file_says_all(tmp_path: Path) -> None:
    result = play(*trio(), out=tmp_path / "new" / "report")
    assert sorted(p.name for p in (tmp_path / "new" / "report").iterdir()) == [
        "report.md",
        "results.json",
    ]
    written = json.loads((tmp_path / "new" / "report" / "results.json").read_text())
    assert written == result.to_json()
    assert [list(row) for row in written["pairs"]] == [KEYS] * 3
    for row in written["pairs"]:
        assert row["game"] == "attack-defence"
        assert row["variant"] == "minimal"
        assert row["wins"] + row["draws"] + row["losses"] == row["games"] == 40
        assert row["score"] == pytest.approx((row["wins"] + row["draws"] / 2) / 40)
        assert 0 <= row["low"] <= row["score"] <= row["high"] <= 1
    assert [set(row) for row in written["ratings"]] == [{"agent", "elo", "score"}] * 3
    assert written["settings"] == {
        "agents": ["a", "b", "c"],
        "game": "attack-defence",
        "variant": "minimal",
        "options": make_variant("attack-defence", "minimal").options,
        "deals": 20,
        "games_per_deal": 2,
        "seed": 3,
    }
    assert {"python", "war-envs", "numpy"} <= set(written["versions"])


def test_the_same_again_is_written_again_and_equal(tmp_path: Path) -> None:
    play(*trio(), out=tmp_path)
    first = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    play(*trio(), out=str(tmp_path))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == first


@pytest.mark.parametrize("change", [{"deals": 21}, {"seed": 4}, {"variant": "fair"}])
def test_results_of_other_settings_are_not_replaced(tmp_path: Path, change: dict[str, Any]) -> None:
    play(*trio(), out=tmp_path)
    first = (tmp_path / "results.json").read_bytes()
    a = chance("a")
    with pytest.raises(ValueError, match=r"out=.* holds results.json of something else"):
        play(a, *trio()[1:], out=tmp_path, **change)
    assert (tmp_path / "results.json").read_bytes() == first
    assert not a.calls


def test_a_foreign_file_is_not_replaced(tmp_path: Path) -> None:
    for text in ("not JSON", "[]", '"results"', "\udcff"):
        (tmp_path / "results.json").write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(ValueError, match="something else"):
            play(*trio(), out=tmp_path)


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_failing_write_leaves_the_old_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    play(*trio(), out=tmp_path)
    (tmp_path / "report.md").write_text("old")
    first = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def fail(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    if broken == "fsync":
        monkeypatch.setattr(os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        play(*trio(), out=tmp_path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == first


def test_a_stopped_tournament_writes_nothing(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert total == 3 * 20 * 2
        if done > 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(*trio(), out=tmp_path, progress=stop)
    assert not list(tmp_path.iterdir())


def test_progress_ends_with_all_games() -> None:
    seen: list[tuple[int, int]] = []
    play(*trio(), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (120, 120)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize(
    ("agents", "options", "complaint"),
    [
        ((), {}, "at least two"),
        (("random",), {}, "at least two"),
        (("random", "nobody"), {}, "'nobody' is unknown"),
        (("random", "random"), {}, "'random' twice"),
        ((chance("a"), chance("a")), {}, "'a' twice"),
        ((chance("runs/x"), chance("./runs/x/")), {}, "twice"),
        ((chance("a"), chance("b")), {"deals": 0}, "deals=0"),
        ((chance("a"), chance("b")), {"deals": True}, "deals=True"),
        ((chance("a"), chance("b")), {"seed": -1}, "seed=-1"),
        ((chance("a"), chance("b")), {"seed": None}, "seed=None"),
        ((chance("a"), chance("b")), {"game": "poker"}, "game='poker'"),
        ((chance("a"), chance("b")), {"variant": "huge"}, "variant='huge'"),
    ],
)
def test_bad_arguments_are_refused_in_one_line_before_anything_is_played(
    tmp_path: Path, agents: Any, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint) as raised:
        play(*agents, out=tmp_path / "out", **options)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "out").exists()
    assert not any(agent.calls for agent in agents if not isinstance(agent, str))


def test_a_name_alone_is_not_a_list_of_agents() -> None:
    with pytest.raises(ValueError, match="agents='random' is not allowed"):
        run_tournament("random", game="attack-defence", deals=1, seed=1)


def test_a_file_where_the_folder_should_be_is_refused_before_anything_is_played(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").touch()
    a = chance("a")
    with pytest.raises(OSError, match="file"):
        play(a, chance("b"), out=tmp_path / "file")
    assert not a.calls
