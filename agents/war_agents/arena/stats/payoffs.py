"""What a payoff matrix says: a fair mixture of agents, who lasts, and who beats whom in circles.

A payoff matrix is float (n, n): what the agent of the row scores against that of the column, from
0 to 1. ``payoffs[i, j] + payoffs[j, i]`` is 1; the diagonal is ignored and may be NaN. Differences
below 1e-9 do not count, so that rounding decides nothing.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
import scipy  # its modules are loaded when they are first used, which workers never do
from numpy.typing import ArrayLike, NDArray

from war_agents.arena.stats.equilibrium import max_entropy_equilibrium

UNIT: Final = 10**9
MUTANT_CHANCE: Final = 1e-6


class NashAverage(NamedTuple):
    """A mixture of agents that no agent beats, and how each fares against it.

    Attributes:
        shares: float64 (n,), the mixture; it sums to 1.
        scores: float64 (n,), what each agent scores against it: one half where its share is
            positive, and at most one half (up to 1e-6) elsewhere.
    """

    shares: NDArray[np.float64]
    scores: NDArray[np.float64]


def nash_average(payoffs: ArrayLike) -> NashAverage:
    """The Nash equilibrium of the greatest entropy, and the scores against it.

    It is unique. Copies of an agent have equal shares; where there is just one equilibrium without
    them, they divide what the agent had. Who scores less than one half against it, and who is
    strictly dominated, by an agent or by a mixture, has the share 0.

    Source: D. Balduzzi, K. Tuyls, J. Perolat and T. Graepel, "Re-evaluating evaluation", NeurIPS
    2018.

    Raises:
        ValueError: payoffs are not such a matrix.
    """
    margins = _margins(payoffs)
    shares = max_entropy_equilibrium(margins)
    return NashAverage(shares, (1 + margins @ shares / UNIT) / 2)


def alpha_rank(payoffs: ArrayLike) -> NDArray[np.float64]:
    """How often evolution is found at each agent: the stationary distribution of alpha-rank.

    A population all of one agent meets a mutant, each other agent being as likely. The mutant takes
    over with chance 1 - 1e-6 if it wins on average, 1/2 if it draws, and 1e-6 if it loses: alpha-
    rank with one population, at infinite alpha, with the perturbation epsilon = 1e-6. Only the sign
    of the payoffs 2 * score - 1 counts, not their size. Agents outside the smallest group that
    wins against all others have shares of about 1e-6.

    Source: S. Omidshafiei et al., "alpha-Rank: multi-agent evaluation by evolution", Scientific
    Reports 9 (2019).

    Returns:
        float64 (n,), positive, of sum 1.

    Raises:
        ValueError: payoffs are not such a matrix.
    """
    signs = np.sign(_margins(payoffs))
    # Chances to leave the agent of a row for that of a column; a common factor does not matter.
    return _stationary(0.5 - signs * (0.5 - MUTANT_CHANCE))


def cycles(names: Sequence[str], beats: ArrayLike) -> tuple[tuple[str, ...], ...]:
    """Agents that beat each other in a circle, each the next and the last the first.

    All circles of three; and one of the shortest in every strongly connected component that has
    none of three. Each starts with its agent that comes first in ``names``, and they are listed in
    the order of ``names``.

    Args:
        names: n of them.
        beats: bool (n, n), whether the agent of a row beats that of a column.

    Raises:
        ValueError: ``beats`` has another shape, or two agents beat each other.
    """
    edges = np.asarray(beats, np.bool_)
    if edges.shape != (len(names), len(names)):
        raise ValueError(f"beats has shape {edges.shape}; it must be {(len(names), len(names))}")
    if np.any(edges & edges.T):
        raise ValueError("beats must not hold both ways, nor for an agent against itself")
    found: list[tuple[int, ...]] = [
        circle
        for a, b, c in combinations(range(len(names)), 3)
        for circle in ((a, b, c), (a, c, b))
        if all(edges[i, j] for i, j in zip(circle, circle[1:] + circle[:1], strict=True))
    ]
    number, component = scipy.sparse.csgraph.connected_components(edges, connection="strong")
    without_three = set(range(number)) - {int(component[circle[0]]) for circle in found}
    for label in without_three:
        members = np.nonzero(component == label)[0].tolist()
        circles = filter(None, (_shortest_circle(edges, start) for start in members))
        found += sorted(circles, key=lambda circle: (len(circle), circle))[:1]
    return tuple(tuple(names[i] for i in circle) for circle in sorted(found))


def _margins(payoffs: ArrayLike) -> NDArray[np.int64]:
    """2 * payoffs - 1, in billionths and antisymmetric."""
    given = np.array(payoffs, np.float64)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not len(given):
        raise ValueError(f"payoffs has shape {given.shape}; it must be (n, n) with n at least 1")
    np.fill_diagonal(given, 0.5)
    if not np.all((given >= 0) & (given <= 1)):
        raise ValueError("payoffs must be numbers from 0 to 1")
    if np.any(np.abs(given + given.T - 1) > 1 / UNIT):
        raise ValueError("payoffs[i, j] + payoffs[j, i] must be 1 for any two agents")
    return np.rint((given - given.T) * UNIT).astype(np.int64)


def _shortest_circle(edges: NDArray[np.bool_], start: int) -> tuple[int, ...]:
    """The shortest circle from ``start`` back to it, or (): a search by breadth."""
    paths: list[tuple[int, ...]] = [(start,)]
    met = {start}
    for path in paths:
        if edges[path[-1], start]:
            return path
        for agent in np.nonzero(edges[path[-1]])[0].tolist():
            if agent not in met:
                met.add(agent)
                paths.append((*path, agent))
    return ()


def _stationary(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The stationary distribution of a Markov chain, from its positive chances off the diagonal.

    No difference is ever taken, so that small shares are as exact as great ones. Source: W. K.
    Grassmann, M. I. Taksar and D. P. Heyman, "Regenerative analysis and steady state distributions
    for Markov chains", Operations Research 33 (1985).
    """
    left = chances.copy()
    for last in range(len(left) - 1, 0, -1):
        left[:last, last] /= left[last, :last].sum()
        left[:last, :last] += np.outer(left[:last, last], left[last, :last])
    shares = np.ones(len(left))
    for i in range(1, len(left)):
        shares[i] = shares[:i] @ left[:i, i]
    distribution: NDArray[np.float64] = shares / shares.sum()
    return distribution
