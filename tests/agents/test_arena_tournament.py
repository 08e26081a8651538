"""Tournaments: what is played, what is written, and that nothing is half written."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from tests.support.players import Player, chance, fixed, memory_like, thinker, tops
from war_agents import Agent
from war_agents.arena import Rating, Tournament, TournamentResult, play_match, run_tournament
from war_envs.variant import make_variant

KEYS = ["a", "b", "game", "variant", "deals", "games", "wins", "draws", "losses"]
KEYS += ["score", "low", "high"]
KEYS += [
    "win_rate",
    "win_rate_low",
    "win_rate_high",
    "draw_rate",
    "draw_rate_low",
    "draw_rate_high",
]
KEYS += ["truncated", "forfeits_a", "forfeits_b", "distinct_deals", "mean_length"]


def play(*agents: Agent | str, **options: Any) -> TournamentResult:
    given: dict[str, Any] = {"game": "attack-defence", "variant": "minimal", "deals": 20, "seed": 3}
    given["workers"] = 0  # agents here note what they were asked
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
        assert pair.score == alone.score
        assert (pair.low, pair.high) == pytest.approx((alone.low, alone.high), abs=1e-12)
        assert pair.games == (40 if game == "attack-defence" else 80)
        assert pair.deals == 20


@pytest.mark.field_case("E01")
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
        "games.jsonl",
        "report.html",
        "report.md",
        "results.json",
        "settings.json",
        "tournament.lock",
    ]
    written = json.loads((tmp_path / "new" / "report" / "results.json").read_text())
    assert written == json.loads(json.dumps(result.to_json()))
    assert [list(row) for row in written["pairs"]] == [KEYS] * 3
    for row in written["pairs"]:
        assert row["game"] == "attack-defence"
        assert row["variant"] == "minimal"
        assert row["wins"] + row["draws"] + row["losses"] == row["games"] == 40
        assert row["score"] == pytest.approx((row["wins"] + row["draws"] / 2) / 40)
        assert 0 <= row["low"] <= row["score"] <= row["high"] <= 1
    assert [set(row) for row in written["ratings"]] == [
        {field.name for field in dataclasses.fields(Rating)}
    ] * 3
    assert written["settings"] == {
        "agents": ["a", "b", "c"],
        "game": "attack-defence",
        "variants": [
            {"variant": "minimal", "options": make_variant("attack-defence", "minimal").options}
        ],
        "deals": 20,
        "games_per_deal": 2,
        "seed": 3,
        "until_separated": None,
        "deterministic": False,
        "time_limit": 10.0,
    }
    assert [player["kind"] for player in written["players"]] == ["object"] * 3
    assert {"python", "war-envs", "numpy"} <= set(written["versions"])


def test_the_same_again_is_written_again_and_equal(tmp_path: Path) -> None:
    play(*trio(), out=tmp_path)
    first = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    play(*trio(), out=str(tmp_path))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == first


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"deals": 21}, "settings.deals is 20 there, 21 here"),
        ({"seed": 4}, "settings.seed is 3 there, 4 here"),
        ({"variant": "fair"}, "variant is 'minimal' there, 'fair' here"),
        ({"time_limit": 3}, "settings.time_limit is 10.0 there, 3.0 here"),
    ],
)
def test_results_of_other_settings_are_not_replaced(
    tmp_path: Path, change: dict[str, Any], difference: str
) -> None:
    play(*trio(), out=tmp_path)
    first = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    a = chance("a")
    with pytest.raises(ValueError, match=r"out=.* holds another tournament: ") as raised:
        play(a, *trio()[1:], out=tmp_path, **change)
    assert difference in str(raised.value)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == first
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


def test_a_stopped_tournament_says_nothing_and_is_not_played_over(tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        assert total == 3 * 20 * 2
        if done > 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(*trio(), out=tmp_path, progress=stop)
    assert not {"results.json", "report.md", "report.html"} & {p.name for p in tmp_path.iterdir()}
    games = (tmp_path / "games.jsonl").read_text().splitlines()
    assert len(games) in (40, 80)  # whole matches
    with pytest.raises(ValueError, match="unfinished tournament with these settings; resume it"):
        play(*trio(), out=tmp_path)
    assert (tmp_path / "games.jsonl").read_text().splitlines() == games


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


def several(game: str, *agents: Agent | str, **options: Any) -> TournamentResult:
    given: dict[str, Any] = {"variants": ["standard", "minimal+fair"], "deals": 12, "seed": 3}
    return Tournament(agents, game=game, workers=0, **{**given, **options}).run()


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_several_variants_are_reported_each_and_as_their_mean(game: str) -> None:
    names = ("random", "memory", "attack" if game == "attack-defence" else "top")
    together = several(game, *names)
    assert [standing.variant for standing in together.standings] == [
        "standard",
        "minimal+fair",
        "mean",
    ]
    assert [pair.variant for pair in together.pairs] == ["standard"] * 3 + ["minimal+fair"] * 3
    for i, variant in enumerate(("standard", "minimal+fair")):
        alone = several(game, *names, variants=variant)
        assert alone.pairs == together.pairs[3 * i : 3 * i + 3]
        assert alone.standings == (together.standings[i],)
    mean = np.mean([np.array(s.payoffs, float) for s in together.standings[:2]], axis=0)
    assert np.allclose(together.scores, mean, equal_nan=True)
    assert together.overall is together.standings[2]


def test_all_variants_are_all_modes() -> None:
    result = several("attack-defence", "random", "attack", variants="all", deals=1)
    assert len({variant.name for variant in result.variants}) == 8


@pytest.mark.field_case("E14")
@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_winner_reward_record_and_rating_agree(game: str, tmp_path: Path) -> None:
    """A strong agent against a weak one: counted anew from the record, for both seats."""
    tournament = Tournament(
        ["random", "memory"], game=game, variants="minimal", deals=60, seed=8, workers=0
    )
    result = tournament.run(tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "games.jsonl").read_text().splitlines()]
    assert len(rows) == result.pairs[0].games
    assert sum(row["result"] == 1 for row in rows) == result.pairs[0].wins
    assert sum(row["result"] == -1 for row in rows) == result.pairs[0].losses
    assert [row["result"] for row in rows] == result.matches[0].results.ravel().tolist()
    for seat in (0, 1):
        assert sum(row["result"] for row in rows if row["seat"] == seat) < 0
    assert result.ratings[0].agent == "memory"
    assert result.pairs[0].score < 0.5
    keys = {(row["deal"], row["seat"], row.get("first_attacker")) for row in rows}
    assert len(keys) == len(rows)


@pytest.mark.parametrize(
    ("game", "other"), [("attack-defence", "defend"), ("strategic-war", "memory")]
)
def test_notable_games_are_games_that_were_played(game: str, other: str) -> None:
    result = several(game, "random", other, variants="minimal", deals=60)
    longest, upset = result.notable
    match = result.matches[0]
    assert (longest.why, upset.why) == ("longest", "biggest upset")
    assert longest.length == match.lengths[~match.truncated].max()
    assert upset.winner == result.ratings[1].agent
    assert upset.elo_gap == pytest.approx(result.ratings[0].elo - result.ratings[1].elo)
    for told in result.notable:
        place = told.players.index("random") + 2 * (told.first_attacker or 0)
        assert told.length == len(told.moves) == match.lengths[told.deal, place]
        won = int(match.results[told.deal, place])
        assert told.winner == {1: "random", -1: other, 0: None}[won]
        assert {len(hand) for hand in told.hands} == {13}
        assert len({*told.hands[0], *told.hands[1]}) == 26


@pytest.mark.field_case("E12")
def test_decks_that_repeat_their_deals_give_no_false_certainty() -> None:
    tiny = make_variant("attack-defence", "minimal+fair", num_ranks=3)
    few, many = (
        several("attack-defence", thinker("a"), thinker("b", 5), variants=tiny, deals=deals)
        for deals in (100, 2000)
    )
    assert few.pairs[0].distinct_deals == many.pairs[0].distinct_deals < 100
    widths = [pair.high - pair.low for pair in (few.pairs[0], many.pairs[0])]
    assert widths[1] > 0.7 * widths[0]
    ordinary = several("attack-defence", thinker("a"), thinker("b", 5), variants="minimal")
    assert ordinary.pairs[0].distinct_deals == ordinary.deals


def test_it_stops_when_the_order_is_decided_and_says_so() -> None:
    result = several(
        "attack-defence", "random", "memory", variants="minimal", deals=5000, until_separated=0.95
    )
    assert result.separation is not None
    assert result.deals == result.pairs[0].deals == 250
    assert result.separation.decided == (("memory", "random"),)
    assert result.separation.separated
    assert not result.separation.undecided


def test_equals_are_never_separated_and_the_budget_ends_it() -> None:
    result = several(
        "attack-defence",
        chance("x"),
        chance("y"),
        deals=300,
        until_separated=0.9,
        variants="minimal",
    )
    assert result.deals == 300
    assert result.separation is not None
    assert result.separation.undecided == (("x", "y"),)
    assert not result.separation.separated


def test_tables_are_friendly_to_pandas() -> None:
    result = several("strategic-war", "random", "top", deals=3)
    pairs = pandas.DataFrame(result.table())
    assert list(pairs["variant"]) == ["standard", "minimal+fair"]
    assert pairs["games"].sum() == 24
    games = pandas.DataFrame(result.matches[0].table())
    assert len(games) == 12
    assert games.groupby(["seat", "first_attacker"]).size().tolist() == [3] * 4
    assert (1 + games["result"].mean()) / 2 == pytest.approx(pairs["score"][0])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"until_separated": 1}, "until_separated=1 is not allowed"),
        ({"until_separated": 0.2}, "until_separated=0.2 is not allowed"),
        ({"until_separated": "x"}, "until_separated='x' is not allowed"),
        ({"time_limit": 0}, "time_limit=0 is not allowed"),
        ({"time_limit": float("nan")}, "time_limit=nan is not allowed"),
        ({"workers": -1}, "workers=-1"),
        ({"variants": []}, r"variants=\[\] is not allowed"),
        ({"variants": ["fair", "fair"]}, "variants holds 'fair' twice"),
        ({"variants": ["huge"]}, "variant='huge'"),
        ({"workers": 1, "ray": "auto"}, "workers=1 is not allowed with ray"),
    ],
)
def test_wrong_settings_are_refused_in_one_line(options: dict[str, Any], complaint: str) -> None:
    given: dict[str, Any] = {"game": "attack-defence", "deals": 1, "seed": 1}
    with pytest.raises(ValueError, match=complaint) as raised:
        Tournament(["random", "attack"], **{**given, **options})
    assert "\n" not in str(raised.value)


def test_agents_that_do_not_follow_their_seeds_are_reported() -> None:
    generator = np.random.default_rng(5)
    loose = Player("loose", lambda _o, legal, _s: generator.integers(2, size=len(legal)))
    result = several("attack-defence", loose, "random", variants="minimal", deals=40)
    assert result.notable == ()
    assert len(result.warnings) == 2
    assert all("loose and random" in line for line in result.warnings)
    assert not several("attack-defence", "attack", "random", deals=4).warnings


class Half:
    """Lacks what an agent needs."""

    name = "half"
    encoding = "tokens"


def test_what_is_no_agent_is_told_by_what_it_lacks() -> None:
    wrongs: list[tuple[Any, str]] = [
        (type(chance()), r"is the class Player; give an agent, such as Player\(\)"),
        (Half(), "has no memory and no act"),
        (chance(" "), "has the name ' '; give it another"),
        ("tests.agents.test_arena_tournament:Half", "has no memory and no act"),
        ("tests.agents.test_arena_tournament:nowhere", "AttributeError"),
        ("no_such_module:agent", "ModuleNotFoundError"),
    ]
    for wrong, complaint in wrongs:
        with pytest.raises(ValueError, match=complaint) as raised:
            several("attack-defence", wrong, "random")
        assert "\n" not in str(raised.value)


class Threshold:
    """Attacks with cards from a certain one on; its attribute is what it is."""

    encoding = "tokens"
    memory = "perfect"

    def __init__(self, least: int) -> None:
        self.name = "threshold"
        self.least = least

    def act(self, observation: Any, action_mask: Any, *_: Any) -> Any:
        return np.where(tops(observation)[0] >= self.least, 0, 1), None


def test_an_object_with_other_attributes_is_another_player(tmp_path: Path) -> None:
    def tournament(least: int) -> Tournament:
        agents: list[Any] = [Threshold(least), "random"]
        return Tournament(agents, game="attack-defence", deals=4, seed=1, workers=0)

    first = tournament(10).run(tmp_path)
    assert tournament(10).run(tmp_path, resume=True).to_json() == first.to_json()
    with pytest.raises(ValueError, match=r"players\[0\].sha256 is '.*' there, '.*' here"):
        tournament(40).run(tmp_path, resume=True)


@pytest.mark.slow
def test_who_plays_in_a_folder_is_said_before_any_advice(tmp_path: Path) -> None:
    agents = ["random", "attack"]

    def elsewhere(done: int, total: int) -> None:
        with pytest.raises(ValueError, match="another process plays in"):
            run_tournament(agents, game="attack-defence", deals=3, seed=1, out=tmp_path)

    run_tournament(agents, game="attack-defence", deals=3, seed=1, out=tmp_path, progress=elsewhere)
