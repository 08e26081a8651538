"""One way to play AEC, parallel and Gymnasium environments, so that each check is written once."""

import copy
import hashlib
import itertools
import pickle
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from war_envs.testing.strict import require

MAX_STEPS = 100_000  # more than any game of ours with its default limit


@dataclass(frozen=True)
class Seen:
    """What an agent is shown when it must choose, or at its end."""

    observation: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: Any

    @property
    def over(self) -> bool:
        """Is the game over for this agent?"""
        return bool(self.terminated or self.truncated)

    @property
    def mask(self) -> Any:
        """The action mask, from the observation or the info; None without one."""
        if isinstance(self.observation, dict) and "action_mask" in self.observation:
            return self.observation["action_mask"]
        return self.info.get("action_mask") if isinstance(self.info, dict) else None


class Driver(ABC):
    """An environment, played turn by turn."""

    # How an environment is copied; a shallow copy of a library's wrapper shares what it wraps.
    ways: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "copy.deepcopy": copy.deepcopy,
        "pickle": lambda env: pickle.loads(pickle.dumps(env)),  # noqa: S301 (its own bytes)
    }

    def __init__(self, env: Any) -> None:
        self.env = env

    @abstractmethod
    def reset(self, seed: Any = None) -> None:
        """Begins a game."""

    @abstractmethod
    def turn(self) -> dict[str, Seen]:
        """What the agents that must choose now are shown; at the end what is shown then."""

    @property
    @abstractmethod
    def over(self) -> bool:
        """Is nobody left to choose?"""

    @abstractmethod
    def act(self, actions: dict[str, Any]) -> None:
        """Each agent of `turn` chooses; None where the game is over for it."""

    @abstractmethod
    def spaces(self, agent: str) -> tuple[spaces.Space[Any], Any]:
        """An agent's observation space and action space."""

    def copied(self, way: str) -> "Driver":
        """The same point of the game, with a copy of the environment."""
        other = copy.copy(self)
        other.env = self.ways[way](self.env)
        return other


class AECDriver(Driver):
    """Turns of an AEC environment: one agent each."""

    def reset(self, seed: Any = None) -> None:
        """Begins a game."""
        self.env.reset(seed=seed)

    def turn(self) -> dict[str, Seen]:
        """What the selected agent is shown."""
        return {} if self.over else {self.env.agent_selection: Seen(*self.env.last())}

    @property
    def over(self) -> bool:
        """Is no agent left?"""
        return not self.env.agents

    def act(self, actions: dict[str, Any]) -> None:
        """The selected agent chooses."""
        self.env.step(actions[self.env.agent_selection])

    def spaces(self, agent: str) -> tuple[spaces.Space[Any], Any]:
        """An agent's spaces."""
        return self.env.observation_space(agent), self.env.action_space(agent)


class ParallelDriver(Driver):
    """Turns of a parallel environment: all agents."""

    _turn: dict[str, Seen]

    def reset(self, seed: Any = None) -> None:
        """Begins a game."""
        observations, infos = self.env.reset(seed=seed)
        self._turn = {a: Seen(observations[a], 0.0, False, False, infos[a]) for a in observations}

    def turn(self) -> dict[str, Seen]:
        """What all agents are shown."""
        return self._turn

    @property
    def over(self) -> bool:
        """Is no agent left?"""
        return not self.env.agents

    def act(self, actions: dict[str, Any]) -> None:
        """All agents choose."""
        result = self.env.step(actions)
        self._turn = {a: Seen(*(part[a] for part in result)) for a in result[0]}

    def spaces(self, agent: str) -> tuple[spaces.Space[Any], Any]:
        """An agent's spaces."""
        return self.env.observation_space(agent), self.env.action_space(agent)


class GymnasiumDriver(Driver):
    """Turns of a Gymnasium environment: one agent, called ``"agent"``."""

    _seen: Seen

    def reset(self, seed: Any = None) -> None:
        """Begins an episode."""
        observation, info = self.env.reset(seed=seed)
        self._seen = Seen(observation, 0.0, False, False, info)

    def turn(self) -> dict[str, Seen]:
        """What the agent is shown."""
        return {"agent": self._seen}

    @property
    def over(self) -> bool:
        """Is the episode over?"""
        return self._seen.over

    def act(self, actions: dict[str, Any]) -> None:
        """The agent chooses."""
        self._seen = Seen(*self.env.step(actions["agent"]))

    def spaces(self, agent: str) -> tuple[spaces.Space[Any], Any]:
        """The environment's spaces."""
        return self.env.observation_space, self.env.action_space


def choice(driver: Driver, agent: str, seen: Seen, rng: np.random.Generator) -> int | None:
    """A random legal action; None at the end."""
    if seen.over:
        return None
    mask = seen.mask
    space = driver.spaces(agent)[1]
    legal = np.arange(space.n) if mask is None else np.flatnonzero(mask)
    require(len(legal), f"{agent} must choose, but its action mask allows nothing")
    return int(legal[rng.integers(len(legal))]) + int(space.start)


def turns(
    driver: Driver,
    rng: np.random.Generator,
    before_acting: Callable[[dict[str, Seen]], Any] = lambda _: None,
) -> Iterator[dict[str, Seen]]:
    """Plays the game to its end by random choices, and gives each turn before its choices are made.

    ``before_acting`` gets the turn once they are made.
    """
    for _ in range(MAX_STEPS):
        turn = driver.turn()
        if turn:
            yield turn
        if driver.over:
            return
        actions = {agent: choice(driver, agent, seen, rng) for agent, seen in turn.items()}
        before_acting(turn)
        driver.act(actions)
    raise AssertionError(f"a game has not ended after {MAX_STEPS} steps")


def frozen(value: Any) -> Any:
    """``value`` as something hashable that later writes cannot change, equal only to the same."""
    if isinstance(value, np.ndarray | np.generic):
        digest = hashlib.blake2b(value.tobytes(), digest_size=16).digest()
        return type(value).__name__, value.dtype.str, value.shape, digest
    if isinstance(value, dict):
        return tuple((key, frozen(entry)) for key, entry in value.items())
    if isinstance(value, list | tuple):
        return tuple(frozen(entry) for entry in value)
    if isinstance(value, Seen):
        return frozen(tuple(vars(value).values()))
    return type(value).__name__, value


def record(driver: Driver, seed: int, first: int | None = None) -> tuple[Any, ...]:
    """Plays a game by choices drawn from ``seed``: all that is shown, turn by turn.

    ``first``: only so many turns, instead of the whole game.
    """
    game = turns(driver, np.random.default_rng(seed))
    return tuple(frozen(turn) for turn in itertools.islice(game, first))
