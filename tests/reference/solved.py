"""Exact values of short games of War of Attack and Defence, by the plain rules and nothing else.

A public state is the set of all deals, with games under way, that both players hold possible. It is
worth what a linear program says of the turn, with the values of all that may follow worked out one
by one. It takes seconds for two or three turns of six cards.
"""

import copy
from collections.abc import Sequence
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from tests.reference.attack_defence import AttackDefence
from tests.reference.cards import deck, twin

Hands = tuple[list[str], list[str]]


def all_deals(minimal: bool, fair: bool, num_ranks: int) -> list[Hands]:
    """Every deal, each as likely."""
    cards = deck("attack-defence", minimal, num_ranks)
    if fair:
        red = [card for card in cards if card[1] in "HD"]
        return [(list(hand), [twin(card) for card in hand]) for hand in permutations(red)]
    half = len(cards) // 2
    return [(list(order[:half]), list(order[half:])) for order in permutations(cards)]


def worth(games: Sequence[AttackDefence]) -> float:
    """What a public state is worth for player 0.

    Args:
        games: those that both players hold possible, all as likely.
    """
    if games[0].over:
        return float(np.mean([game.rewards()[0] for game in games]))
    tops = [sorted({game.hands[player][0] for game in games}) for player in (0, 1)]
    prior = np.zeros((len(tops[0]), len(tops[1])))
    payoffs = np.zeros((*prior.shape, 2, 2))
    for (i, first), (j, second) in product(enumerate(tops[0]), enumerate(tops[1])):
        typed = [g for g in games if (g.hands[0][0], g.hands[1][0]) == (first, second)]
        prior[i, j] = len(typed) / len(games)
        if typed:
            for a, b in product((0, 1), repeat=2):
                payoffs[i, j, a, b] = _after(typed, a, b)
    return bayesian_value(prior, payoffs)


def _after(games: Sequence[AttackDefence], action0: int, action1: int) -> float:
    shown: dict[object, list[AttackDefence]] = {}
    for game in games:
        played = copy.deepcopy(game)
        played.play(action0, action1)
        shown.setdefault(played.last["extra"], []).append(played)
    return sum(len(part) * worth(part) for part in shown.values()) / len(games)


def bayesian_value(prior: NDArray[np.float64], payoffs: NDArray[np.float64]) -> float:
    """The value of a Bayesian game of two actions per type, as a linear program.

    Args:
        prior: (I, J), the probabilities of pairs of types.
        payoffs: (I, J, 2, 2), the maximiser's, who has the types i and the first action.
    """
    rows, columns = prior.shape
    limits, sides = [], []
    for j, b in product(range(columns), (0, 1)):
        low, high = prior[:, j] * payoffs[:, j, 0, b], prior[:, j] * payoffs[:, j, 1, b]
        limits.append([*(low - high), *(float(k == j) for k in range(columns))])
        sides.append(low.sum())
    found = linprog(
        [0.0] * rows + [-1.0] * columns,
        A_ub=np.array(limits),
        b_ub=np.array(sides),
        bounds=[(0, 1)] * rows + [(None, None)] * columns,
    )
    assert found.success
    return -float(found.fun or 0.0)
