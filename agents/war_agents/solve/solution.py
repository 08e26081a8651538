"""Exact values of small decks of War of Attack and Defence, by backward induction.

>>> from war_agents.solve import solve
>>> solution = solve("attack-defence", "minimal+open-card", num_ranks=3)
>>> round(solution.value, 9), solution.num_states
(0.0, 438)
>>> round(float(abs(solution.deals).mean()), 4)
0.6378

What is private lasts one turn, so beliefs do not depend on strategies, and each turn is a zero-sum
game of one choice on a public state (see `war_agents.planning.stage`): its value with k turns to go
follows from those with k - 1. At the turn limit a game is a draw, worth 0.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.solve.attack_defence import induce
from war_agents.solve.graph import Graph, Layer, build, dealt, visit
from war_envs.cards import NUM_SUITS
from war_envs.engine.kernels import Records
from war_envs.state import State
from war_envs.variant import Variant, make_variant

MAX_STATES: Final = 3_000_000  # open ones; with hidden cards there are some times as many
_AT_ONCE: Final = 2_000  # hidden states that are solved in one call

Progress = Callable[[str, int, int | None], object]


@dataclass(frozen=True, eq=False)
class Solution:
    """What optimal play on both sides comes to.

    Attributes:
        variant: what is played.
        deals: float64 (D,), the value of each deal for player_0, -1 to 1, all as likely: with open
            cards of every deal that differs by ranks; with hidden cards there is one public state
            at the start, and one value.
        open_states, hidden_states: how many public states there are in which both players know all
            cards, and in which they do not; those of different turns count once, but hidden ones,
            which last some turns only, count in each.
    """

    variant: Variant
    deals: NDArray[np.float64] = field(repr=False)
    open_states: int
    hidden_states: int

    @property
    def num_states(self) -> int:
        """Public states, open and hidden."""
        return self.open_states + self.hidden_states

    @property
    def value(self) -> float:
        """What a game is worth for player_0 before the deal, -1 to 1: the mean of `deals`."""
        return float(self.deals.mean())


def solve(
    game: str,
    variant: str | Variant = "standard",
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Solution:
    """The exact value of a small deck.

    Args:
        game: ``"attack-defence"``.
        variant: by name or as a variant.
        progress: called now and then with what is done (``"states"`` that are found, ``"turns"``
            that are solved), how far it is, and how far it goes or None where that is not known;
            what it raises ends it.
        options: fields of the variant: ``num_ranks=3``, ``max_turns=20``, ...

    Raises:
        ValueError: an argument that is not allowed, another game, or a deck with more than
            `MAX_STATES` open states.
    """
    chosen = make_variant(game, variant, **options)
    _require_small(chosen)
    tell = progress or _quiet
    games = dealt(chosen)
    graph, deals = _solved_from(games if chosen.open_cards else games[:1], chosen.turn_limit, tell)
    return Solution(
        variant=chosen,
        deals=deals,
        open_states=len(graph.after),
        hidden_states=sum(len(layer.games) for layer in graph.layers),
    )


def value_of(state: State, *, progress: Progress | None = None) -> float:
    """What a position is worth for player_0, by what both players know of it.

    What only one of them knows, the own top card, is not in it: it is the mean over the positions
    that `State.redeal` gives for ``"public"``.

    Args:
        state: of War of Attack and Defence, with a deck that `solve` takes.
        progress: as in `solve`.

    Raises:
        ValueError: another game, or too large a deck.
    """
    _require_small(state.variant)
    if state.over:
        return state.returns[0]
    left = state.variant.turn_limit - state.turn
    _, values = _solved_from(state.games, left, progress or _quiet)
    return float(values[0])


def _solved_from(games: Records, limit: int, tell: Progress) -> tuple[Graph, NDArray[np.float64]]:
    """The states that can follow ``games``, and what these are worth with ``limit`` turns left."""
    graph = build(games, limit, lambda number: tell("states", number, None))
    values = _induced(graph, limit, tell)
    found = _hidden(graph, values) if graph.layers else values[0][graph.starts]
    if not np.isfinite(found).all():
        raise ArithmeticError("a turn could not be solved in double precision")
    return graph, found


def num_open_states(variant: Variant) -> int:
    """At most how many open states a deck has: its orders by ranks, cut into two hands."""
    counts = Counter(card // NUM_SUITS for card in variant.deck)
    orders = math.factorial(variant.deck_size)
    for number in counts.values():
        orders //= math.factorial(number)
    return orders * (variant.deck_size - 1)


def _require_small(variant: Variant) -> None:
    if variant.game != "attack-defence":
        raise ValueError(f"game={variant.game!r} is not allowed; attack-defence can be solved")
    number = num_open_states(variant)
    if number > MAX_STATES:
        raise ValueError(
            f"{variant.name} with num_ranks={variant.num_ranks} has up to {number:,} states; up to "
            f"{MAX_STATES:,} can be solved: take fewer ranks, or minimal"
        )


def _induced(graph: Graph, limit: int, tell: Progress) -> dict[int, NDArray[np.float64]]:
    """The values of open states by turns played, those of turns in which others are hidden."""
    kept = {}
    now = np.zeros(len(graph.after))  # a draw at the limit
    for turn in range(limit, -1, -1):
        if turn < limit:
            behind, now = now, np.empty_like(now)
            induce(graph.after, behind, now)
        if turn <= len(graph.layers):
            kept[turn] = now
        tell("turns", limit - turn, limit)
    return kept


def _hidden(graph: Graph, values: dict[int, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The values of the hidden states at the start, from those of all that follow."""
    now = np.zeros(len(graph.layers[-1].games))  # none are left then, or it is the turn limit
    for turn in range(len(graph.layers) - 2, -1, -1):
        layer, after = graph.layers[turn], graph.layers[turn + 1]
        now = _solved(graph, layer, after, values[turn + 1], now)
    return now


def _solved(
    graph: Graph,
    layer: Layer,
    after: Layer,
    open_values: NDArray[np.float64],
    hidden_values: NDArray[np.float64],
) -> NDArray[np.float64]:
    found = np.empty(len(layer.games))
    for start in range(0, len(found), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        games = layer.games[part]
        _, _, found[part] = visit(
            games, graph.index, after.index, open_values, hidden_values, solve=True
        )
    return found


def _quiet(what: str, done: int, of: int | None) -> None:
    """Shows nothing."""
