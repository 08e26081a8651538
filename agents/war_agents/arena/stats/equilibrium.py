"""The maximum-entropy equilibrium of a symmetric zero-sum game."""

from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

BARRIERS: Final = tuple(10.0**-k for k in range(1, 15))
NEWTON_STEPS: Final = 50


def max_entropy_equilibrium(margins: NDArray[np.int64]) -> NDArray[np.float64]:
    """The p >= 0 of sum 1 with margins @ p <= 0 whose entropy is greatest; there is just one.

    The simplex method, in whole numbers, finds the polytope of equilibria: who can have a share at
    all is decided exactly, however close the payoffs. Newton's method then climbs the entropy from
    a point inside.

    Args:
        margins: (n, n), antisymmetric.

    Returns:
        float64 (n,).
    """
    number = len(margins)
    inside, directions = _Equilibria(margins).inside()
    # Either the share of an agent or its shortfall against p is 0 in all equilibria, never both.
    has_share = inside[:number] > 0
    has_room = inside[number:] > 0
    shares = np.zeros(number)
    shares[has_share] = _climb_entropy(
        inside[:number][has_share],
        inside[number:][has_room],
        directions[:number][has_share],
        directions[number:][has_room],
    )
    normal: NDArray[np.float64] = shares / shares.sum()
    return normal


class _Equilibria:
    """The equilibria, as the optimal face of a linear program, by the simplex method.

    Greatest sum of x >= 0 with (margins + bound) x + slack = 1 and slack >= 0, with bound > all
    margins: the sum is 1 / bound, p = bound x is an equilibrium, and slack is what each agent falls
    short of a draw against it. Variables are the n of x, then the n slacks.

    The tableau holds whole numbers over one common denominator, the last pivot, as in J. Edmonds,
    "Systems of distinct representatives and linear algebra" (1967); R. G. Bland's rule, "New finite
    pivoting rules for the simplex method" (1977), keeps it from going in circles.
    """

    def __init__(self, margins: NDArray[np.int64]) -> None:
        number = len(margins)
        self.bound = int(np.abs(margins).max()) + 1
        self.rows = np.zeros((number + 1, 2 * number + 1), object)
        self.rows[:-1, :number] = margins.astype(object) + self.bound
        self.rows[:-1, number:-1] = np.eye(number, dtype=object)
        self.rows[:-1, -1] = 1
        self.rows[-1, :number] = -1
        self.denominator = 1
        self.basis = list(range(number, 2 * number))
        while (self.rows[-1] < 0).any():
            self.enter(int(np.argmax(self.rows[-1] < 0)))

    def enter(self, column: int) -> None:
        """Raise a variable from 0 until another reaches 0 and leaves the basis for it."""
        row = min(
            np.nonzero(self.rows[:-1, column] > 0)[0],
            key=lambda i: (Fraction(self.rows[i, -1], self.rows[i, column]), self.basis[i]),
        )
        old = self.rows[row].copy()
        pivot = old[column]
        self.rows = (self.rows * pivot - np.outer(self.rows[:, column], old)) // self.denominator
        self.rows[row] = old
        self.denominator = pivot
        self.basis[row] = column

    def inside(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """An equilibrium where all is positive that ever is, and the ways to go from it.

        Returns:
            p and the slacks, (2 n,), and the directions as columns, (2 n, dimensions).
        """
        # Other variables are 0 wherever the sum is greatest.
        face = np.nonzero(self.rows[-1, :-1] == 0)[0].tolist()
        corners = [self.corner()]
        for variable in face:
            if any(corner[variable] > 0 for corner in corners):
                continue
            if variable not in self.basis:
                self.enter(variable)
            row = self.basis.index(variable)
            while not self.rows[row, -1]:
                raising = [column for column in face if self.rows[row, column] < 0]
                if not raising:
                    break
                self.enter(raising[0])
            corners.append(self.corner())
        inside: NDArray[np.float64] = np.mean(corners, axis=0)
        ways = [self.way(column) for column in face if column not in self.basis and inside[column]]
        return inside, np.array(ways).reshape(-1, len(inside)).T

    def corner(self) -> NDArray[np.float64]:
        """p and the slacks, at this vertex."""
        return self.scaled(self.rows[:-1, -1], np.zeros(2 * len(self.basis)))

    def way(self, column: int) -> NDArray[np.float64]:
        """How p and the slacks change with a variable that is not in the basis."""
        change = np.zeros(2 * len(self.basis))
        change[column] = 1
        return self.scaled(-self.rows[:-1, column], change)

    def scaled(
        self, basic: NDArray[np.object_], others: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Values of all variables, from whole numbers for those in the basis; p in place of x."""
        others[self.basis] = basic / self.denominator
        others[: len(self.basis)] *= self.bound
        return others


def _climb_entropy(
    shares: NDArray[np.float64],
    room: NDArray[np.float64],
    share_ways: NDArray[np.float64],
    room_ways: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The shares of the greatest entropy, along the ways and where room stays positive.

    Newton's method with a logarithmic barrier. Source: S. Boyd and L. Vandenberghe, "Convex
    Optimization" (2004), chapters 9 and 11.
    """
    if not share_ways.size:
        return shares
    ways = np.vstack([share_ways, room_ways])
    for barrier in BARRIERS:
        for _ in range(NEWTON_STEPS):
            # The Hessian is root.T @ root, and the gradient root.T @ target.
            root = ways / np.concatenate([np.sqrt(shares), room / np.sqrt(barrier)])[:, None]
            target = np.concatenate(
                [np.sqrt(shares) * np.log(shares), np.full(len(room), -np.sqrt(barrier))]
            )
            scale = np.abs(root).max(axis=0)  # ways can be of very different lengths
            step = np.linalg.lstsq(root / scale, -target)[0] / scale
            gain = -float(target @ root @ step)
            share_step, room_step = np.split(ways @ step, [len(shares)])
            size = 1.0
            while gain * size / 2 < _curvature_cost(
                shares, size * share_step, room, size * room_step, barrier
            ):
                size /= 2
            shares = shares + size * share_step
            room = room + size * room_step
            if gain <= 1e-9 * barrier:
                break
    return shares


def _curvature_cost(
    shares: NDArray[np.float64],
    share_step: NDArray[np.float64],
    room: NDArray[np.float64],
    room_step: NDArray[np.float64],
    barrier: float,
) -> float:
    """What a step costs beyond the slope; infinite if it goes 99 % of the way out.

    Taken term by term, it is right even where the difference of two costs is rounding alone.
    """
    share_growth, room_growth = share_step / shares, room_step / room
    if min(share_growth.min(), room_growth.min(initial=0)) < -0.99:
        return float("inf")
    entropy = (shares + share_step) * np.log1p(share_growth) - share_step
    return float(entropy.sum() + barrier * (room_growth - np.log1p(room_growth)).sum())
