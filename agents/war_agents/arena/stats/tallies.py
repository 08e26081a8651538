"""How often who won against whom from which seat: games, counted in cells.

A cell is a pair of agents a < b and the seat of a: `cells` tells their order. What it counts are
games won, drawn and lost by a.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]

WON, DRAWN, LOST = range(3)
OUTCOMES = (1, 0, -1)  # in results, in that order


class PairGames(NamedTuple):
    """The games of two agents.

    Attributes:
        i, j: the agents, as different numbers from 0.
        results: int8 (deals, G), of the G games of each deal: +1 where i won, 0 for a draw, -1
            where j won.
        first: int8 (G,): +1 where i has the first seat, -1 where j has it.
    """

    i: int
    j: int
    results: NDArray[np.int8]
    first: NDArray[np.int8]


def checked_deals(num_agents: int, games: Sequence[PairGames]) -> int:
    """The number of deals, which is the same for all pairs; 0 without games.

    Raises:
        ValueError: they are no games of these agents on the same deals.
    """
    for pair in games:
        if pair.i == pair.j or not (0 <= pair.i < num_agents and 0 <= pair.j < num_agents):
            raise ValueError(
                f"games holds the pair ({pair.i}, {pair.j}); "
                f"it must be two numbers from 0 to {num_agents - 1}"
            )
        if np.ndim(pair.results) != 2 or np.shape(pair.first) != np.shape(pair.results)[1:]:
            raise ValueError(
                f"results has shape {np.shape(pair.results)} and first {np.shape(pair.first)}; "
                "they must be (deals, G) and (G,)"
            )
        if not np.isin(pair.results, OUTCOMES).all() or not np.isin(pair.first, (1, -1)).all():
            raise ValueError("results must be -1, 0 or 1, and first -1 or 1")
    deals = {len(pair.results) for pair in games}
    if len(deals) > 1:
        raise ValueError(f"pairs have {sorted(deals)} deals; all must have the same")
    return deals.pop() if deals else 0


def cells(num_agents: int) -> Floats:
    """The cells, in order: float64 (cells, n + 1).

    A row holds +1 for a, -1 for b, and last +1 if a has the first seat, else -1.
    """
    rows = np.zeros((num_agents * (num_agents - 1), num_agents + 1))
    for place, (a, b) in enumerate(combinations(range(num_agents), 2)):
        for row, seat in zip(rows[2 * place : 2 * place + 2], (1, -1), strict=True):
            row[[a, b, -1]] = 1, -1, seat
    return rows


def tally(num_agents: int, games: Sequence[PairGames], blocks: NDArray[np.intp]) -> Floats:
    """What was won, drawn and lost in each block of deals: float64 (blocks, cells, 3).

    Args:
        num_agents: n.
        games: checked.
        blocks: (deals,), the number of the block of each deal, from 0.
    """
    number = int(blocks.max(initial=-1)) + 1
    counts = np.zeros((number, num_agents * (num_agents - 1), 3))
    pairs = {pair: place for place, pair in enumerate(combinations(range(num_agents), 2))}
    for i, j, results, first in games:
        sign = 1 if i < j else -1
        place = 2 * pairs[min(i, j), max(i, j)]
        for cell, seat in ((place, 1), (place + 1, -1)):
            chosen = results[:, np.asarray(first) == seat * sign]
            for kind, outcome in enumerate(OUTCOMES):
                seen = (chosen == outcome * sign).sum(axis=1)
                counts[:, cell, kind] += np.bincount(blocks, seen, number)
    return counts
