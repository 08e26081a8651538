"""Small agents for the tests of matches and tournaments."""

import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_agents.given import checked_mask
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.variant import make_variant

Choose = Callable[[NDArray[Any], NDArray[np.bool_], NDArray[np.uint64]], Any]


class Player:
    """An agent that chooses by a function of observation, legal actions (bool) and seeds."""

    def __init__(
        self, name: str, choose: Choose, *, encoding: str = "tokens", memory: str = "perfect"
    ) -> None:
        self.name = name
        self.encoding = encoding
        self.memory = memory
        self.choose = choose
        self.calls: list[tuple[NDArray[Any], NDArray[np.int8], NDArray[np.uint64]]] = []

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[Any, Any]:
        self.calls.append((observation.copy(), action_mask.copy(), seeds.copy()))
        return self.choose(observation, checked_mask(action_mask), seeds), None


def pick(legal: NDArray[np.bool_], numbers: NDArray[np.uint64]) -> NDArray[np.int64]:
    """For each row one of its legal actions, by a number."""
    order = np.argsort(~legal, axis=1, kind="stable")
    chosen = numbers % legal.sum(axis=1).astype(np.uint64)
    picked: NDArray[np.int64] = order[np.arange(len(legal)), chosen.astype(np.int64)]
    return picked


def chance(name: str = "chance", **wishes: str) -> Player:
    """Draws a legal action from its seed."""
    return Player(
        name, lambda _o, legal, seeds: pick(legal, seeding.action_seeds(seeds, 0)), **wishes
    )


def fixed(name: str, action: int, **wishes: str) -> Player:
    """Chooses an action wherever it is legal, else the first legal one."""
    return Player(
        name,
        lambda _o, legal, _s: np.where(legal[:, action], action, legal.argmax(axis=1)),
        **wishes,
    )


def thinker(name: str = "thinker", salt: int = 0, **wishes: str) -> Player:
    """A deterministic agent whose action depends on all that it sees."""

    def choose(observation: NDArray[Any], legal: NDArray[np.bool_], _seeds: Any) -> Any:
        sums = (observation * (1 + np.arange(observation.shape[1]))).sum(axis=1).astype(np.uint64)
        return pick(legal, seeding.action_seeds(sums, salt) >> np.uint64(7))

    return Player(name, choose, **wishes)


def seat_of(observation: NDArray[Any], game: str = "attack-defence") -> NDArray[np.int64]:
    """Which seat each observation is seen from."""
    column = ENGINES[make_variant(game).game].layout.index("seat")
    return np.asarray(observation[:, column], np.int64)


def memory_like(name: str = "sharp") -> Player:
    """Attack and Defence with open cards: attacks exactly when its card beats the other's."""

    def choose(observation: NDArray[Any], legal: NDArray[np.bool_], _seeds: Any) -> Any:
        own, other = tops(observation)
        steps = (own // 4 - other // 4) % 13
        return np.where((steps > 0) & (steps <= 6), 0, 1)

    return Player(name, choose)


def tops(observation: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The two top cards in tokens of open cards, own and other."""
    header = len(ENGINES["attack-defence"].layout.header)
    slots = (observation.shape[1] - header) // 2
    tokens = observation[:, [header, header + slots]].astype(np.int64)
    return (tokens[:, 0] - 3) % 52, (tokens[:, 1] - 3) % 52


class Reporter:
    """Tells on standard error how many threads its process has."""

    encoding = "tokens"
    memory = "perfect"

    def __init__(self, name: str) -> None:
        self.name = name

    def act(self, observation: Any, action_mask: Any, *_: Any) -> Any:
        threads = len(os.listdir("/proc/self/task"))
        print("threads", threads, os.environ["OMP_NUM_THREADS"], os.getpid(), file=sys.stderr)
        return action_mask.argmax(axis=1), None
