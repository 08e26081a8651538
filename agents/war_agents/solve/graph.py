"""The graph of all public states that a deck of War of Attack and Defence can come to."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.planning.stage import MAX_TYPES
from war_agents.solve.attack_defence import NUM_OUTCOMES, expand_open, number_open, visit_all
from war_agents.solve.index import Index
from war_envs.engine.engine import ENGINES
from war_envs.engine.kernels import Records
from war_envs.variant import Variant

Tell = Callable[[int], object]
_AT_ONCE: Final = 20_000  # open states that are expanded in one call
_HIDDEN_AT_ONCE: Final = 200  # hidden ones, which have many times as many successors
_NOTHING: Final = np.empty(0)


@dataclass
class Layer:
    """The public states after as many turns in which a card is still unknown.

    Attributes:
        games: (H,), a deal that fits each of them.
        index: their numbers.
    """

    games: Records
    index: Index


@dataclass
class Graph:
    """Public states.

    Attributes:
        index: the numbers of open states.
        after: i4 (S, 4), what each choice leads to: see `expand_open`.
        layers: hidden states by turns played, the first of them alone; none where it was built from
            open ones.
        starts: i8 (D,), the numbers of the open states that it was built from.
    """

    index: Index
    after: NDArray[np.int32]
    layers: list[Layer]
    starts: NDArray[np.int64]


def dealt(variant: Variant) -> Records:
    """Games of all deals that differ by ranks, each as likely as any other."""
    engine = ENGINES[variant.game]
    deck = np.array(variant.deck, np.uint8)
    if variant.fair:
        red = deck[deck & 1 == 0]
        orders = np.array([*_distinct(red >> 2)], np.int64)
        first = _suited(red, orders)
        hands = np.stack([first, first ^ 1], axis=1)
    else:
        orders = np.array([*_distinct(deck >> 2)], np.int64)
        hands = _suited(deck, orders).reshape(len(orders), 2, -1)
    games = engine.new_games(variant, len(hands))
    engine.lay_hands(games, 0, hands[0].tolist())
    games[:] = games[0]
    games["hands"][:, :, : hands.shape[2]] = hands
    engine.start(games, np.arange(len(games)))
    return games


def _distinct(ranks: NDArray[Any]) -> Iterator[tuple[int, ...]]:
    """The distinct orders of ranks."""
    counts = {rank: int((ranks == rank).sum()) for rank in sorted(set(ranks.tolist()))}

    def continued(before: list[int]) -> Iterator[tuple[int, ...]]:
        if len(before) == len(ranks):
            yield tuple(before)
            return
        for rank, left in counts.items():
            if left:
                counts[rank] -= 1
                before.append(rank)
                yield from continued(before)
                before.pop()
                counts[rank] += 1

    return continued([])


def _suited(cards: NDArray[np.uint8], orders: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Orders (D, N) of ranks as orders of ``cards``: of one rank in the order of their numbers."""
    laid = np.empty(orders.shape, np.uint8)
    for place in range(orders.shape[1]):
        rank = orders[:, place]
        before = (orders[:, :place] == rank[:, None]).sum(axis=1)
        of_rank = np.array([cards[cards >> 2 == r] for r in range(int(cards.max() >> 2) + 1)])
        laid[:, place] = of_rank[rank, before]
    return laid


def build(games: Records, limit: int, tell: Tell) -> Graph:
    """All public states that can follow.

    Args:
        games: running games in open states, or one in a hidden state.
        limit: turns that are left.
        tell: called now and then with how many states have been found; what it raises ends it.
    """
    index = Index()
    layers: list[Layer] = []
    starts = np.empty(0, np.int64)
    games = games.copy()
    games["turn"], games["max_turns"] = 0, np.iinfo(np.int32).max  # the limit is the induction's
    if (games["seen"] == games["in_play"][:, None]).all():
        index.make_room(len(games))
        starts, found = np.empty(len(games), np.int64), np.empty_like(games)
        index.count = number_open(games, index.slots, index.prints, 0, starts, found)
        found = found[: index.count]
    else:
        layers, found = _layers(games, limit, index, tell)
    after = _closed(found, index, tell)
    return Graph(index, after, layers, starts)


def _layers(games: Records, limit: int, index: Index, tell: Tell) -> tuple[list[Layer], Records]:
    """Hidden states turn by turn, and a game of each open state that they lead to."""
    layers = [Layer(games, Index())]
    layers[0].index.count = 1  # it is never looked for
    open_parts = []
    told = 1
    while len(layers[-1].games) and len(layers) <= limit:
        layer, parts = Layer(games[:0], Index()), []
        for start in range(0, len(layers[-1].games), _HIDDEN_AT_ONCE):
            now = layers[-1].games[start : start + _HIDDEN_AT_ONCE]
            opened, hidden, _ = visit(now, index, layer.index, _NOTHING, _NOTHING)
            open_parts.append(opened)
            parts.append(hidden)
            tell(told + layer.index.count + index.count)
        layer.games = np.concatenate(parts)
        told += len(layer.games)
        layers.append(layer)
    return layers, np.concatenate([games[:0], *open_parts])


def visit(
    games: Records,
    index: Index,
    next_index: Index,
    open_values: NDArray[np.float64],
    hidden_values: NDArray[np.float64],
    *,
    solve: bool = False,
) -> tuple[Records, Records, NDArray[np.float64]]:
    """A turn from hidden states; see `visit_all`.

    Returns:
        Games of open and of hidden states that are new, and values (B,), which mean nothing unless
        they are asked for.
    """
    kinds = _kinds(games)
    room = len(games) * kinds * kinds * (NUM_OUTCOMES - 1 + kinds)
    index.make_room(room)
    next_index.make_room(room)
    counts = np.array([index.count] * 2), np.array([next_index.count] * 2)
    new = [np.empty(0 if solve else room, games.dtype) for _ in counts]
    values = np.empty(len(games))
    visit_all(
        games,
        index.slots,
        index.prints,
        new[0],
        counts[0],
        open_values,
        next_index.slots,
        next_index.prints,
        new[1],
        counts[1],
        hidden_values,
        solve,
        values,
    )
    found = [part[: now - before].copy() for part, (now, before) in zip(new, counts, strict=True)]
    index.count, next_index.count = (int(now) for now, _ in counts)
    return found[0], found[1], values


def _kinds(games: Records) -> int:
    """How many types a player may have at most."""
    return int(games["num_ranks"].max()) if not games["twins"].any() else MAX_TYPES


def _closed(found: Records, index: Index, tell: Tell) -> NDArray[np.int32]:
    """Finds all open states behind those of ``found``, and what each of them leads to."""
    parts = []
    waiting = [found]
    while waiting:
        games = waiting.pop(0)
        for start in range(0, len(games), _AT_ONCE):
            now = games[start : start + _AT_ONCE]
            index.make_room(NUM_OUTCOMES * len(now))
            after = np.empty((len(now), NUM_OUTCOMES), np.int32)
            new = np.empty(NUM_OUTCOMES * len(now), games.dtype)
            before = index.count
            index.count = expand_open(now, index.slots, index.prints, before, after, new)
            parts.append(after)
            if index.count > before:
                waiting.append(new[: index.count - before].copy())
            tell(index.count)
    return np.concatenate([np.empty((0, NUM_OUTCOMES), np.int32), *parts])
