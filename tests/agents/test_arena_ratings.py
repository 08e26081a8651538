"""Ratings that depend on results alone, with intervals that cover."""

from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq, linprog, minimize
from scipy.stats import binom

from war_agents.arena import PairGames, RatingFit, rate
from war_agents.arena.stats.davidson import Model
from war_agents.arena.stats.tallies import DRAWN, LOST, WON, cells, tally
from war_agents.arena.stats.unbounded import unbounded

ELO = 400 / np.log(10)
SWAPPED = np.array([1, -1], np.int8)


def play(
    elo: Sequence[float],
    *,
    deals: int,
    rng: np.random.Generator,
    games: int = 2,
    nu: float = 0.3,
    first: float = 50,
    luck: float = 0.0,
    lucky_seat: bool = False,
) -> list[PairGames]:
    """Games of all pairs after the model, with the same chances whatever the luck.

    A share ``luck`` of the deals favours one agent of a pair in all games, or one seat.
    """
    seats = np.resize(SWAPPED, games)
    played = []
    for i, j in combinations(range(len(elo)), 2):
        half = (elo[i] - elo[j] + seats.astype(float) * first) / ELO / 2
        total = np.exp(half) + np.exp(-half) + nu
        shared = rng.random((deals, 1))
        if lucky_seat:
            shared = np.where(seats > 0, shared, 1 - shared)
        draw = np.where(rng.random((deals, 1)) < luck, shared, rng.random((deals, games)))
        won, lost = draw < np.exp(half) / total, draw > 1 - np.exp(-half) / total
        played.append(PairGames(i, j, won.astype(np.int8) - lost, seats))
    return played


def pair(*results: Sequence[int], i: int = 0, j: int = 1, times: int = 1) -> PairGames:
    """Deals of two games, seats swapped."""
    return PairGames(i, j, np.array(results * times, np.int8).reshape(-1, 2), SWAPPED)


def same(one: RatingFit, other: RatingFit, order: Any = slice(None)) -> None:
    """They are equal, the agents of ``one`` taken in this order."""
    for name in ("elo", "low", "high"):
        np.testing.assert_allclose(getattr(one, name)[order], getattr(other, name), atol=1e-6)
    assert (one.unbounded[order] == other.unbounded).all()
    for name in ("first_elo", "first_low", "first_high", "draw"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-6)


def test_strengths_are_recovered() -> None:
    strengths = np.array([-310.0, -20, 0, 80, 250])
    fit = rate(5, play(strengths.tolist(), deals=4000, rng=np.random.default_rng(0)))
    assert fit.elo == pytest.approx(strengths - strengths.mean(), abs=10)
    assert ((fit.low < fit.elo) & (fit.elo < fit.high) & (fit.high - fit.low < 25)).all()
    assert fit.first_elo == pytest.approx(50, abs=6)
    assert fit.first_low < 50 < fit.first_high
    assert fit.draw == pytest.approx(0.3, abs=0.02)
    assert (fit.unbounded == 0).all()


@pytest.mark.parametrize("wins", [100, 64, 91])
def test_the_elo_scale(wins: int) -> None:
    """Without draws and with equal seats, i scores 1 / (1 + 10 ** (-gap / 400))."""
    fit = rate(2, [pair(*[(1, 1)] * wins, *[(-1, -1)] * (128 - wins))])
    assert 1 / (1 + 10 ** (-(fit.elo[0] - fit.elo[1]) / 400)) == pytest.approx(wins / 128)
    assert fit.elo.sum() == pytest.approx(0)
    assert fit.first_elo == pytest.approx(0, abs=1e-6)
    assert fit.draw == 0


@pytest.mark.parametrize("num_agents", [2, 5, 8])
def test_without_draws_and_seats_it_is_the_fit_of_choix(num_agents: int) -> None:
    rng = np.random.default_rng(num_agents)
    games, data = [], []
    for i, j in combinations(range(num_agents), 2):
        once = np.where(rng.random((60, 1)) < rng.uniform(0.2, 0.8), 1, -1).astype(np.int8)
        games.append(PairGames(i, j, np.hstack([once, once]), SWAPPED))
        data += [(i, j) if won > 0 else (j, i) for won in once[:, 0]]
    logits = rate(num_agents, games, resamples=2).elo / ELO
    ilsr = choix.ilsr_pairwise(num_agents, data, alpha=0, max_iter=10_000, tol=1e-12)
    opt = choix.opt_pairwise(num_agents, data, alpha=1e-9, tol=1e-10)
    assert logits == pytest.approx(ilsr - ilsr.mean(), abs=1e-4)
    assert logits == pytest.approx(opt - opt.mean(), abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_where_the_likelihood_is_greatest(seed: int) -> None:
    """The likelihood written out game by game, and climbed by another method."""
    rng = np.random.default_rng(seed)
    games = play([0, 150, -80, 30], deals=50, rng=rng, nu=0.7, first=120)
    games.append(play([0, 100], deals=50, rng=rng, games=3)[0])  # a second variant, seats uneven
    if seed == 3:
        del games[0]
    rows = [(g.i, g.j, seat, g.results[:, k]) for g in games for k, seat in enumerate(g.first)]

    def cost(point: NDArray[np.float64]) -> float:
        strengths, seat_worth, nu = point[:4], point[4], np.exp(point[5])
        total = 0.0
        for i, j, seat, results in rows:
            half = (strengths[i] - strengths[j] + float(seat) * seat_worth) / 2
            chances = np.array([nu, np.exp(half), np.exp(-half)])  # by result: 0, 1, -1
            total -= np.log(chances / chances.sum())[results].sum()
        return float(total + strengths.sum() ** 2)

    best = minimize(cost, np.zeros(6), method="BFGS", options={"gtol": 1e-4}).x
    fit = rate(4, games, resamples=2)
    assert fit.elo / ELO == pytest.approx(best[:4], abs=1e-4)
    assert fit.first_elo / ELO == pytest.approx(best[4], abs=1e-4)
    assert fit.draw == pytest.approx(np.exp(best[5]), rel=1e-4)


@st.composite
def tournaments(draw: st.DrawFn) -> tuple[int, list[PairGames]]:
    """Few games of few agents, often with unbounded ones or several components."""
    num_agents = draw(st.integers(2, 4))
    deals = draw(st.integers(0, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    chances = draw(st.sampled_from([[0.4, 0.3, 0.3], [0.1, 0, 0.9], [0, 0.5, 0.5], [0.5, 0, 0.5]]))
    games = []
    for i, j in combinations(range(num_agents), 2):
        if draw(st.booleans()):
            results = rng.choice(np.array([-1, 0, 1], np.int8), (deals, 2), p=chances)
            games.append(PairGames(i, j, results, SWAPPED))
    return num_agents, games


@pytest.mark.slow
@pytest.mark.field_case("E01")
@settings(max_examples=40, deadline=None)
@given(tournaments(), st.randoms(use_true_random=False))
def test_it_depends_on_no_order_name_or_direction(
    tournament: tuple[int, list[PairGames]], random: Any
) -> None:
    num_agents, games = tournament
    fit = rate(num_agents, games, resamples=40)
    same(rate(num_agents, games, resamples=40), fit)
    place = list(range(num_agents))
    random.shuffle(place)
    renamed = [g._replace(i=place[g.i], j=place[g.j]) for g in games]
    random.shuffle(renamed)
    turned = [
        PairGames(g.j, g.i, -g.results, -g.first) if random.random() < 0.5 else g for g in renamed
    ]
    same(rate(num_agents, turned, resamples=40), fit, place)


def test_results_turned_round_turn_the_ratings_round() -> None:
    games = play([0, 300, 80], deals=25, rng=np.random.default_rng(3), luck=0.5)
    fit = rate(3, games)
    turned = rate(3, [g._replace(results=-g.results, first=-g.first) for g in games])
    assert turned.elo == pytest.approx(-fit.elo, abs=1e-6)
    assert turned.low == pytest.approx(-fit.high, abs=1e-6)
    assert turned.first_elo == pytest.approx(fit.first_elo, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(tournaments())
def test_intervals_hold_the_rating_and_have_a_width(
    tournament: tuple[int, list[PairGames]],
) -> None:
    fit = rate(*tournament, resamples=40)
    assert np.isfinite(fit.elo).all()
    assert fit.elo.sum() == pytest.approx(0, abs=1e-6)
    assert ((fit.low <= fit.elo) & (fit.elo <= fit.high) & (fit.low < fit.high)).all()
    assert fit.first_low <= fit.first_elo <= fit.first_high
    assert fit.first_low < fit.first_high
    above, below = np.isinf(fit.high), np.isinf(fit.low)
    assert (fit.unbounded == np.where(above & below, 2, above.astype(int) - below)).all()


def test_who_won_everything_has_no_upper_end() -> None:
    rest = [pair((1, 1), (-1, 0), (0, -1), (1, -1), i=i, j=j, times=5) for i, j in [(0, 1), (1, 2)]]
    won = [pair((1, 1), i=3, j=j, times=20) for j in range(3)]
    lost = [pair((-1, -1), i=4, j=j, times=20) for j in range(4)]
    fit = rate(5, [*rest, *won, *lost])
    assert fit.unbounded.tolist() == [0, 0, 0, 1, -1]
    assert np.isinf(fit.high).tolist() == [False, False, False, True, False]
    assert np.isinf(fit.low).tolist() == [False, False, False, False, True]
    assert fit.elo[3] > max(fit.elo[:3]) >= min(fit.elo[:3]) > fit.elo[4]
    assert fit.low[3] > min(fit.elo[:3])
    assert fit.high[4] < max(fit.elo[:3])
    assert (fit.high[:3] - fit.low[:3] < 400).all()


def test_who_never_met_has_no_end_at_all() -> None:
    large = [pair((1, 1), (-1, -1), (0, 1), i=i, j=j) for i, j in [(0, 1), (1, 2)]]
    fit = rate(5, [*large, pair((1, 1), (-1, -1), (0, 1), i=3, j=4)])
    assert fit.unbounded.tolist() == [0, 0, 0, 2, 2]
    assert np.isfinite(fit.low).tolist() == [True, True, True, False, False]
    assert np.isfinite(fit.high).tolist() == [True, True, True, False, False]
    # Of components that are alike none is the main one.
    alike = rate(4, [pair((1, 1), (-1, -1)), pair((1, 1), (-1, -1), i=2, j=3)])
    assert np.isinf(alike.low).all()
    assert np.isinf(alike.high).all()


def test_a_chain_of_winners() -> None:
    fit = rate(4, [pair((1, 1), i=i, j=j, times=9) for i, j in combinations(range(4), 2)])
    assert fit.unbounded.tolist() == [1, 2, 2, -1]
    assert (np.diff(fit.elo) < -100).all()
    assert fit.elo == pytest.approx(-fit.elo[::-1])
    two = rate(2, [pair((1, 1), times=9)])
    assert two.unbounded.tolist() == [1, -1]


def test_wins_and_draws_without_a_loss_set_no_bound() -> None:
    """The likelihood is greatest where nu and the difference are infinite."""
    fit = rate(2, [pair((1, 0), (0, 1), times=20)])
    assert fit.unbounded.tolist() == [1, -1]
    assert fit.elo[0] > 0
    bounded = rate(2, [pair((1, 0), (0, 1), (1, -1), (-1, 1), times=20)])
    assert bounded.unbounded.tolist() == [0, 0]


def rises(tallies: NDArray[np.float64], design: NDArray[np.float64], wanted: Any) -> bool:
    """By a linear program on all parameters: can they move so, and no result become less likely?"""
    rows = []
    logs = {WON: np.array([1.0, 0]), DRAWN: np.array([0, 1.0]), LOST: np.array([-1.0, 0])}
    seen = [kind for kind in logs if kind != DRAWN or tallies[:, DRAWN].any()]
    for cell, counts in zip(design, tallies, strict=True):
        for kind, other in permutations(seen, 2):
            if counts[kind]:
                h, t = logs[kind] - logs[other]
                rows.append([*(-h * cell), -t])
    best = linprog(
        [*-wanted, 0.0],
        A_ub=np.array(rows).reshape(-1, len(wanted) + 1),
        b_ub=np.zeros(len(rows)),
        bounds=(-1, 1),
    )
    return bool(np.append(wanted, 0.0) @ best.x > 1e-6)


@settings(max_examples=60, deadline=None)
@given(tournaments())
def test_what_is_unbounded_is_what_a_linear_program_for_each_question_says(
    tournament: tuple[int, list[PairGames]],
) -> None:
    num_agents, games = tournament
    deals = max((len(g.results) for g in games), default=0)
    tallies = tally(num_agents, games, np.zeros(deals, np.intp)).sum(axis=0)
    columns = cells(num_agents)
    if not tallies.any():
        return
    found = unbounded(columns, tallies, num_agents)
    units = np.eye(num_agents + 1)
    for i, j in permutations(range(num_agents), 2):
        assert found.over[i, j] == rises(tallies, columns, units[i] - units[j])
    assert found.first_rises == rises(tallies, columns, units[-1])
    assert found.first_falls == rises(tallies, columns, -units[-1])


@pytest.mark.parametrize("nu", [0.0, 0.4])
def test_games_more_lead_to_the_fit_of_all_games(nu: float) -> None:
    rng = np.random.default_rng(5)
    model, columns = Model(6, seated=True), cells(6)
    chances = rng.dirichlet([2, 1, 2] if nu else [2, 1e-9, 2], size=(50, len(columns)))
    tallies = np.ascontiguousarray(20 * chances)
    if not nu:
        tallies[:, :, DRAWN] = 0
    more = np.zeros((len(columns), 3))
    more[columns[:, 2] > 0, WON] = 3
    more[columns[:, 2] < 0, LOST] = 3
    sizes = np.geomspace(1e-3, 1e3, 50)
    start = np.array([0.0] * 7 + [0.1 if nu else -np.inf])
    near = model.fit(tallies, start)
    points = model.refit(tallies, near, more, sizes, tolerance=1e-10)
    expected = model.fit(tallies + sizes[:, None, None] * more, start).points
    assert points == pytest.approx(expected, abs=1e-7)
    assert np.abs(points[-1, :-1] - near.points[-1, :-1]).max() > 1


def test_progress_counts_the_intervals_and_can_end_the_work() -> None:
    games = play([0, 50, 100], deals=30, rng=np.random.default_rng(1))
    told: list[tuple[int, int]] = []
    rate(3, games, resamples=40, progress=lambda *news: told.append(news))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]

    def stop(done: int, of: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rate(3, games, progress=stop)


def test_many_agents_of_which_one_won_and_one_lost_everything() -> None:
    strengths = np.linspace(-200, 200, 24)
    games = play(strengths.tolist(), deals=60, rng=np.random.default_rng(6))
    for k, sign in ((0, -1), (23, 1)):
        games = [
            g._replace(results=np.full_like(g.results, sign if g.i == k else -sign))
            if k in (g.i, g.j)
            else g
            for g in games
        ]
    fit = rate(24, games, resamples=100)
    assert fit.unbounded.tolist() == [-1] + [0] * 22 + [1]
    assert np.abs(fit.elo[1:-1] - fit.elo[1:-1].mean() - strengths[1:-1]).max() < 60
    assert (np.diff(fit.elo)[[0, -1]] > 300).all()
    assert (fit.high[1:-1] - fit.low[1:-1] < 200).all()


def test_a_seat_that_always_wins_has_no_upper_end() -> None:
    fit = rate(2, [pair((1, -1), times=20)])
    assert fit.elo == pytest.approx([0, 0], abs=1e-6)
    assert fit.first_elo > 400
    assert fit.first_low > 200
    assert fit.first_high == np.inf


def test_one_loss_from_either_seat_among_a_million_games() -> None:
    results = np.ones((500_000, 2), np.int8)
    results[[7, 9], [0, 1]] = -1
    fit = rate(2, [PairGames(0, 1, results, SWAPPED)])
    assert fit.elo[0] - fit.elo[1] == pytest.approx(ELO * np.log(499_999))
    assert fit.unbounded.tolist() == [0, 0]
    assert fit.elo[0] - 300 < fit.low[0] < fit.elo[0] - 50
    assert fit.elo[0] + 50 < fit.high[0] < fit.elo[0] + 500
    results[9, 1] = 0  # the likelihood is finite still, and hard to climb
    assert np.isfinite(rate(2, [PairGames(0, 1, results, SWAPPED)]).high).all()


def test_where_seats_are_not_swapped_they_are_worth_nothing() -> None:
    results = np.array([[1]] * 30 + [[-1]] * 10, np.int8)
    fit = rate(2, [PairGames(0, 1, results, np.array([1], np.int8))])
    assert fit.elo[0] - fit.elo[1] == pytest.approx(ELO * np.log(3))
    assert (fit.first_elo, fit.first_low, fit.first_high) == (0, -np.inf, np.inf)
    # And the interval is that of mid-p, but for the chance in resampling.

    def tail(p: float) -> float:
        return float(binom.cdf(29, 40, p) + binom.pmf(30, 40, p) / 2)

    ends = [brentq(lambda p: tail(p) - 0.975, 0, 1), brentq(lambda p: tail(p) - 0.025, 0, 1)]
    gaps = [2 * fit.low[0] / ELO, 2 * fit.high[0] / ELO]
    assert 1 / (1 + np.exp(-np.array(gaps))) == pytest.approx(ends, abs=0.03)


def test_only_draws_and_nothing_at_all_are_equality() -> None:
    draws = rate(3, [pair((0, 0), i=i, j=j, times=9) for i, j in combinations(range(3), 2)])
    for fit in (draws, rate(3, []), rate(2, [pair()])):
        assert fit.elo == pytest.approx(np.zeros(len(fit.elo)), abs=1e-6)
        assert np.isinf(fit.low).all()
        assert np.isinf(fit.high).all()
        assert (fit.unbounded == 2).all()


def test_equal_deals_leave_a_doubt() -> None:
    fit = rate(2, [pair((1, -1), (-1, 1), times=100)])
    assert fit.elo == pytest.approx([0, 0], abs=1e-6)
    assert (fit.high - fit.low > 0.1).all()
    assert (fit.high - fit.low < 30).all()


def test_copies_of_deals_are_resampled_as_one() -> None:
    games = play([0, 50, 120], deals=40, rng=np.random.default_rng(2), luck=0.5)
    copied = [g._replace(results=np.tile(g.results, (3, 1))) for g in games]
    fit = rate(3, games)
    same(rate(3, copied, groups=np.tile(np.arange(40), 3)), fit)
    narrow = rate(3, copied)
    assert narrow.elo == pytest.approx(fit.elo, abs=1e-6)
    assert ((narrow.high - narrow.low) < 0.75 * (fit.high - fit.low)).all()


def test_more_deals_than_blocks() -> None:
    """The interval is as wide as four times the deals make it, and does not end at the blocks."""
    widths = []
    for deals in (900, 3600):
        fit = rate(2, play([0, 60], deals=deals, rng=np.random.default_rng(4), luck=1))
        widths.append(fit.high[0] - fit.low[0])
    assert widths[0] / widths[1] == pytest.approx(2, rel=0.15)


SPREAD = [0.0, 100, -60]
CASES: dict[str, dict[str, Any]] = {
    "few deals": {"elo": SPREAD, "deals": 5, "luck": 0.5},
    "few deals, all luck": {"elo": [0, 0], "deals": 5, "luck": 1.0},
    "ten deals, one far ahead": {"elo": [0, 380], "deals": 10, "luck": 1.0, "nu": 0},
    "nearly unbounded": {"elo": [0, 50, 500], "deals": 30, "luck": 1.0},
    "hundred deals": {"elo": SPREAD, "deals": 100, "luck": 0.5},
    "hundred deals, four games": {"elo": SPREAD, "deals": 100, "games": 4},
    "lucky seats": {"elo": [0, 40], "deals": 100, "luck": 0.7, "lucky_seat": True},
    "mostly draws": {"elo": [0, 60], "deals": 100, "nu": 3, "luck": 0.5},
    "thousand deals": {"elo": [0, 100], "deals": 1000, "luck": 0.5},
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_coverage_by_simulation(case: str) -> None:
    """At least 93 %; from 100 deals on, where all are bounded, at most 98 %."""
    rng = np.random.default_rng(list(CASES).index(case))
    true = np.array(CASES[case]["elo"]) - np.mean(CASES[case]["elo"])
    trials = 100
    inside = np.zeros((trials, len(true) + 1))
    for trial in range(trials):
        fit = rate(len(true), play(rng=rng, **CASES[case]), resamples=200)
        inside[trial, :-1] = (fit.low <= true) & (true <= fit.high)
        inside[trial, -1] = fit.first_low <= 50 <= fit.first_high
    tolerance = 3 / np.sqrt(trials)  # standard deviations
    assert (inside.mean(axis=0) >= 0.93 - tolerance * np.sqrt(0.93 * 0.07)).all()
    if CASES[case]["deals"] >= 100:
        # Together: one rating in 100 trials is too few to see more than 98 %.
        assert inside[:, :-1].mean() <= 0.98 + tolerance * np.sqrt(0.98 * 0.02)


@pytest.mark.parametrize(
    ("games", "message"),
    [
        ([pair((1, 1), i=1, j=1)], r"games holds the pair \(1, 1\)"),
        ([pair((1, 1), j=3)], r"two numbers from 0 to 2"),
        ([pair((1, 1)), pair((1, 1), j=2, times=2)], r"pairs have \[1, 2\] deals"),
        ([pair((1, 2))], "results must be -1, 0 or 1"),
        ([pair((1, 1))._replace(first=np.array([0, 1], np.int8))], "first -1 or 1"),
        ([pair((1, 1))._replace(first=np.array([1], np.int8))], "must be .deals, G. and .G,."),
    ],
)
def test_what_are_no_games_is_refused(games: list[PairGames], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rate(3, games)


def test_other_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="num_agents=1"):
        rate(1, [])
    with pytest.raises(ValueError, match="resamples=1"):
        rate(2, [], resamples=1)
    with pytest.raises(ValueError, match=r"groups has shape \(2,\); it must be \(1,\)"):
        rate(2, [pair((1, 1))], groups=np.array([1, 2]))
