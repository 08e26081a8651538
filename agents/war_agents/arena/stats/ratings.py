"""How strong agents are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.linalg import matrix_rank
from numpy.typing import NDArray

from war_agents.arena.stats.davidson import Fits, Model
from war_agents.arena.stats.intervals import CONFIDENCE
from war_agents.arena.stats.tallies import (
    DRAWN,
    LOST,
    WON,
    Floats,
    PairGames,
    cells,
    checked_deals,
    tally,
)
from war_agents.arena.stats.unbounded import unbounded

ELO_PER_LOGIT: Final = 400 / float(np.log(10))
MAX_BLOCKS: Final = 1000
PRIOR_GAMES: Final = 1.0
SEED: Final = 20_260_101
ROUGH: Final = 1e-7  # of the step that would be the next in a resample's fit, in logits


@dataclass(frozen=True)
class RatingFit:
    """Ratings of n agents on the Elo scale, with their 95 % intervals.

    Attributes:
        elo: float64 (n,), mean 0.
        low, high: float64 (n,), low <= elo <= high and low < high; minus or plus infinity where the
            games set no bound.
        unbounded: int8 (n,): +1 where only ``high`` is infinite, -1 where only ``low`` is, 2 where
            both are, else 0.
        first_elo: what the first seat is worth: as much as this difference of ratings; 0 where the
            games cannot tell, as when the first seat is always the same agent's.
        first_low, first_high: its interval.
        draw: the draw parameter nu; 0 without draws.
    """

    elo: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    unbounded: NDArray[np.int8]
    first_elo: float
    first_low: float
    first_high: float
    draw: float


def rate(
    num_agents: int,
    games: Sequence[PairGames],
    *,
    groups: NDArray[np.int64] | None = None,
    resamples: int = 1000,
    progress: Callable[[int, int], object] | None = None,
) -> RatingFit:
    """Elo ratings of all agents from all their games at once.

    They are those of the greatest likelihood in the model of `war_agents.arena.stats.davidson`.
    Without draws and with the first seat as often either's, i is expected to score about
    1 / (1 + 10 ** ((r_j - r_i) / 400)) against j, and exactly that where the seat is worth nothing.
    They depend neither on the order of games nor on the order, names or direction of agents.

    **Unbounded agents.** Where an agent won all its games, the likelihood grows with its strength
    without end. Agents whose difference has a bound on both sides form a component. If not all are
    in one, the largest component (of equally large ones, that with the most points) is the main
    one. An agent outside it whose strength can grow without end over those in it, but not fall, is
    unbounded above; the other way round, below. One that can do both, such as one that never met
    them, has a bound on neither side: both ends are infinite. So that all have a number, one game
    more between every two agents, half won and half lost, is then added to the fit; intervals
    inside the main component are those of the difference from its mean, the place of which is taken
    as known. If no component has two agents, or the largest are alike in points too, each agent is
    compared with all others instead.

    That an agent scored at least half a point from another does not suffice for a bound: with
    draws and wins but no loss, the likelihood is greatest where draws and wins are alike and losses
    impossible.

    **Intervals.** Deals are resampled, all games of all pairs on a deal together: the Bayesian
    bootstrap, which weighs each deal by an independent exponential number. For each agent, every
    resample is fitted twice: with one deal more, weighed likewise, all games of which it won, and
    with one that it lost. The ends are the 2.5 % and 97.5 % quantiles of both together. Of one
    binomial proportion these are the ends of its mid-p interval: the weights make Beta
    distributions of it, and the two fits those of the two tails of Clopper and Pearson. So equal
    deals leave a doubt, and few deals a large one. Where deals scatter in small steps the deal
    added is made smaller, by the rule of `war_agents.arena.stats.intervals.deal_interval` for its
    allowance, with a deal's influence on the rating as its distance. The seat has an interval of
    the same kind. More than 1,000 deals are resampled in blocks of successive ones.

    Coverage, as simulated for two to five agents: 95 to 100 % for ten deals or fewer, and from
    93 % on for more, within the error of the simulation (the least was 91 %, of 200 tournaments of
    30 deals, for one agent); from 100 deals on at most 98 %. It is more, up to 100 %, where deals
    hardly move a rating: where nearly all give the same result, or their luck is made up for by
    that of the same deal with seats swapped or against others. `deal_interval` says why that must
    be.

    Sources: D. B. Rubin, "The Bayesian bootstrap", The Annals of Statistics 9 (1981); H. O.
    Lancaster, "Significance tests in discrete distributions", JASA 56 (1961), for the mid-p.

    Args:
        num_agents: n, at least 2.
        games: of any pairs, in any order; all on the same deals. A pair may come more than once,
            such as for several variants.
        groups: int (deals,); deals of the same number are copies of one deal and resampled as one.
            None: all deals are different.
        resamples: how many, at least 2.
        progress: called with the intervals that are done, and how many there are; what it raises
            ends the work.

    Raises:
        ValueError: an argument that is not allowed.
    """
    if num_agents < 2:
        raise ValueError(f"num_agents={num_agents} is not allowed; it must be at least 2")
    if resamples < 2:
        raise ValueError(f"resamples={resamples} is not allowed; it must be at least 2")
    deals = checked_deals(num_agents, games)
    places, typical = _blocks(np.arange(deals) if groups is None else np.asarray(groups), deals)
    blocks = tally(num_agents, games, places)
    tallies = blocks.sum(axis=0)
    columns = cells(num_agents)
    played = columns[tallies.any(axis=1)]
    seated = matrix_rank(played) > matrix_rank(played[:, :-1])
    if not seated:
        columns = columns[:, :-1]
    over, first_rises, first_falls = unbounded(columns, tallies, num_agents)
    main, above, below = _bounds(over, _points(columns[:, :num_agents], tallies))
    prior = np.zeros(tallies.shape)
    if over.any() or (seated and (first_rises or first_falls)):
        prior[:, [WON, LOST]] = PRIOR_GAMES / 4  # half of it with each in the first seat
    model = Model(num_agents, bool(seated))
    best = model.fit((tallies + prior)[None], _start(num_agents, tallies + prior))

    def strengths(points: Floats) -> Floats:
        """Points as strengths with mean 0 over ``main``, and what the seat is worth, if told."""
        full = points[:, : columns.shape[1]].copy()
        full[:, :num_agents] -= full[:, :num_agents][:, main].mean(axis=1, keepdims=True)
        return full

    deal = tallies.sum(axis=1) * typical / max(1, deals)
    won = np.stack([_whole_deal(column, deal) for column in columns.T])
    fitted = strengths(best.points)[0]
    ends = _ends(model, blocks, prior, best, won, strengths, resamples, progress)
    low = ELO_PER_LOGIT * np.minimum(ends[0], fitted)
    high = ELO_PER_LOGIT * np.maximum(ends[1], fitted)
    middle = ELO_PER_LOGIT * fitted[:num_agents].mean()
    return RatingFit(
        elo=ELO_PER_LOGIT * fitted[:num_agents] - middle,
        low=np.where(below, -np.inf, low[:num_agents] - middle),
        high=np.where(above, np.inf, high[:num_agents] - middle),
        unbounded=np.where(above & below, 2, above.astype(np.int8) - below).astype(np.int8),
        first_elo=float(ELO_PER_LOGIT * fitted[-1]) if seated else 0.0,
        first_low=-np.inf if first_falls else float(low[-1]),
        first_high=np.inf if first_rises else float(high[-1]),
        draw=float(np.exp(best.points[0, -1])),
    )


def _blocks(groups: NDArray[np.int64], deals: int) -> tuple[NDArray[np.intp], float]:
    """The block of each deal, from 0; and the number of deals in a group, as such a deal sees it.

    That is the sum of squared sizes over the sum of sizes: deals over their effective number.
    """
    if groups.shape != (deals,):
        raise ValueError(f"groups has shape {groups.shape}; it must be ({deals},), as deals")
    _, seen, places, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(np.argsort(seen))  # groups by their first deals
    blocks = order[places] * min(len(sizes), MAX_BLOCKS) // max(1, len(sizes))
    return blocks, float(sizes @ sizes) / max(1, deals)


def _ends(
    model: Model,
    blocks: Floats,
    prior: Floats,
    best: Fits,
    won: Floats,
    strengths: Callable[[Floats], Floats],
    resamples: int,
    progress: Callable[[int, int], object] | None,
) -> Floats:
    """The ends of the intervals of all strengths, by resampling: float64 (2, strengths).

    Args:
        model, best: the fit of all games.
        blocks: (blocks, cells, 3), what is resampled.
        prior: (cells, 3), added to each resample as it is.
        won: (strengths, cells, 3), the deal more of each.
        strengths: makes them of points of the fit.
        resamples: how many.
        progress: as for `rate`.
    """
    moved = [model.influences(best, parts) for parts in (blocks, won, won[:, :, ::-1])]
    seen, up, down = (strengths(each) ** 2 for each in moved)
    rng = np.random.default_rng(np.random.SeedSequence(SEED))
    weights = rng.standard_exponential((resamples, len(blocks)))
    resampled = np.tensordot(weights, blocks, axes=1)
    resampled += prior
    more = rng.standard_exponential(resamples)
    near = model.fit(resampled, best.points[0], tolerance=ROUGH)
    ends = np.empty((2, len(won)))
    for k, deal in enumerate(won):
        values = [
            strengths(model.refit(resampled, near, games, more * size, tolerance=ROUGH))[:, k]
            for games, size in (
                (deal, _allowance(seen[:, k], up[k, k])),
                (deal[:, ::-1], _allowance(seen[:, k], down[k, k])),
            )
        ]
        ends[:, k] = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        if progress is not None:
            progress(k + 1, len(won))
    return ends


def _whole_deal(column: Floats, games: Floats) -> Floats:
    """One deal, all games of which an agent won, or the first seat: float64 (cells, 3).

    Args:
        column: (cells,), +1 where that is the first of a cell, -1 where it is the second, else 0.
        games: (cells,), of a deal.
    """
    won = np.zeros((len(games), 3))
    won[:, WON] = np.where(column > 0, games, 0)
    won[:, LOST] = np.where(column < 0, games, 0)
    return won


def _allowance(squares: Floats, far: float) -> float:
    """The size of the deal added, at most 1.

    As for `war_agents.arena.stats.intervals.deal_interval`: its square is the mean square influence
    of the deals and of that one, each weighed by its own, over that of that one.
    """
    if far == 0:
        return 1.0
    mean = (far**2 + float(squares @ squares)) / (far + float(squares.sum()))
    return min(1.0, float(np.sqrt(mean / far)))


def _start(num_agents: int, tallies: Floats) -> Floats:
    """Equal strengths, and the draws there were: where to begin."""
    start = np.zeros(num_agents + 2)
    won, drawn, lost = tallies.sum(axis=0)
    with np.errstate(divide="ignore"):
        start[-1] = np.log(2 * drawn / (won + lost))
    return start


def _points(agents: Floats, tallies: Floats) -> Floats:
    """What each agent scored in all, float64 (n,)."""
    scored = tallies[:, WON] + tallies[:, DRAWN] / 2, tallies[:, LOST] + tallies[:, DRAWN] / 2
    points: Floats = scored[0] @ (agents > 0) + scored[1] @ (agents < 0)
    return points


def _bounds(
    over: NDArray[np.bool_], points: Floats
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """The agents of the main component, or all if there is none; and who has no upper or lower end.

    Args:
        over: (n, n), whether the strength of a row can rise over that of a column without end.
        points: (n,), what was scored in all.
    """
    together = ~(over | over.T)  # the row of an agent is its component
    ranks = [(int(row.sum()), float(points[row].sum())) for row in together]
    best = max(ranks)
    main: NDArray[np.bool_] = np.array([rank == best for rank in ranks])
    if best[0] < 2 or main.sum() > best[0]:
        return np.ones(len(over), np.bool_), over.sum(axis=1) > 0, over.sum(axis=0) > 0
    return main, (over[:, main].sum(axis=1) > 0) & ~main, (over[main].sum(axis=0) > 0) & ~main
