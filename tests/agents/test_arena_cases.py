"""What has gone wrong in tournaments elsewhere: draws, repeated games, threads, and memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.players import fixed, thinker
from war_agents.arena import MatchResult, PairGames, Tournament, play_match, rate
from war_agents.arena.analysis import pair_result
from war_agents.arena.report import markdown
from war_envs.variant import make_variant

LOSSES, DRAWS, WINS = -1, 0, 1


def played(*results: int) -> MatchResult:
    """A match with these results, two a deal."""
    shape = (len(results) // 2, 2)
    return MatchResult(
        "a",
        "b",
        make_variant("attack-defence"),
        1,
        results=np.array(results, np.int8).reshape(shape),
        lengths=np.ones(shape, np.int64),
        truncated=np.zeros(shape, np.bool_),
    )


@pytest.mark.field_case("E04")
@pytest.mark.parametrize(
    ("wins", "draws", "losses"), [(3, 2, 1), (0, 100, 0), (1, 99, 0), (0, 0, 6), (50, 25, 25)]
)
def test_a_draw_is_half_a_win_in_score_and_rating_and_no_win_in_the_win_rate(
    wins: int, draws: int, losses: int
) -> None:
    match = played(*[WINS] * wins, *[DRAWS] * draws, *[LOSSES] * losses)
    games = wins + draws + losses
    pair = pair_result(match, np.arange(match.deals))
    assert (pair.wins, pair.draws, pair.losses, pair.games) == (wins, draws, losses, games)
    assert pair.score == match.score == pytest.approx((wins + draws / 2) / games)
    assert pair.win_rate == pytest.approx(wins / games)
    assert pair.draw_rate == pytest.approx(draws / games)
    for low, value, high in (
        (pair.low, pair.score, pair.high),
        (pair.win_rate_low, pair.win_rate, pair.win_rate_high),
        (pair.draw_rate_low, pair.draw_rate, pair.draw_rate_high),
    ):
        assert 0 <= low <= value <= high <= 1
        assert low < high
    fit = rate(2, [PairGames(0, 1, match.results, np.array([1, -1], np.int8))])
    assert np.sign(round(fit.elo[0] - fit.elo[1], 6)) == np.sign(wins - losses)


@pytest.mark.field_case("E04")
def test_games_that_are_all_cut_off_are_draws_everywhere() -> None:
    short = make_variant("attack-defence", "minimal", max_turns=1)
    result = Tournament(
        ["random", "memory"], game="attack-defence", variants=short, deals=30, seed=1
    ).run()
    (pair,) = result.pairs
    assert (pair.wins, pair.draws, pair.losses, pair.truncated) == (0, 60, 0, 60)
    assert (pair.score, pair.win_rate, pair.draw_rate) == (0.5, 0, 1)
    assert [rating.elo for rating in result.ratings] == pytest.approx([0, 0], abs=1e-6)
    assert "60" in markdown(result)


@pytest.mark.field_case("E12")
def test_deterministic_agents_play_as_many_games_as_there_are_deals() -> None:
    """No two of them alike: intervals do not rest on copies of a game."""
    match = play_match(
        thinker("a"), thinker("b", 3), game="strategic-war", variant="minimal", deals=200, seed=5
    )
    games = set(zip(match.lengths.ravel(), match.results.ravel(), strict=True))
    assert len(games) > 40
    again = pair_result(match, np.zeros(match.deals, np.int64))  # were all deals one and the same
    assert again.distinct_deals == 1
    assert again.high - again.low > 0.5


@pytest.mark.field_case("E05")
def test_an_agent_for_the_first_seat_only_scores_one_half() -> None:
    """Whatever a seat is worth, both agents have it equally often."""
    for game in ("attack-defence", "strategic-war"):
        result = Tournament(
            [fixed("a", 0), fixed("b", 0)], game=game, variants="fair", deals=25, seed=2, workers=0
        ).run()
        assert result.pairs[0].score == 0.5


SCRIPT = """
import json, os, sys
from war_agents.arena import Tournament
from tests.support.players import Reporter
result = Tournament(
    [Reporter("x"), "random"], game="attack-defence", variants="minimal", deals=2, seed=1, workers=1
).run()
print(json.dumps(result.pairs[0].forfeits_a))
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.field_case("F01")
@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("3", "3")])
def test_workers_have_one_thread_unless_the_user_says_otherwise(
    given: str | None, expected: str
) -> None:
    env = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    if given is not None:
        env["OMP_NUM_THREADS"] = given
    env["PYTHONPATH"] = os.pathsep.join([".", *env.get("PYTHONPATH", "").split(os.pathsep)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=env,
        capture_output=True,
        text=True,
        timeout=100,
        cwd=Path(__file__).parents[2],
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == 0
    told = [line.split() for line in done.stderr.splitlines() if line.startswith("threads")]
    assert told
    assert {line[2] for line in told} == {expected}
    # The one that plays, and the one that waits for the end of the tournament.
    assert all(int(line[1]) <= 1 + int(expected) for line in told)
    assert os.getpid() not in {int(line[3]) for line in told}
