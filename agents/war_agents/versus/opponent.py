"""An agent that plays one game at a time: its draws, what it remembers, and what it may answer."""

import copy
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from war_agents import plain
from war_agents.agent import Agent, require_agent
from war_agents.answers import checked_answer
from war_agents.registry import make
from war_agents.states import States
from war_envs.engine import seeding
from war_envs.engine.layout import ENCODINGS, MEMORIES, checked_choice
from war_envs.envs.table import Observation
from war_envs.messages import one_line, shown
from war_envs.variant import Variant, integer

_GAME: Final = np.zeros(1, np.int64)  # the only one of its `States`


class OpponentFailedError(RuntimeError):
    """An agent in another seat has raised, or answered with anything but legal actions."""

    @classmethod
    def of(cls, agent: Agent, why: str) -> Self:
        """The error that names ``agent``, in one line."""
        return cls(f"the opponent, agent {agent.name!r}, has failed: {why}")


def ask(
    agent: Agent,
    observation: NDArray[Any],
    action_mask: NDArray[np.int8],
    seeds: NDArray[np.uint64],
    *memory: Any,
) -> tuple[NDArray[np.int64], Any]:
    """What an agent answers for B positions, in arrays that it may do anything to.

    Args:
        agent, observation, action_mask, seeds: see `war_agents.agent.Agent`.
        memory: its state and which games have just begun, if it is told them.

    Returns:
        Legal actions, int64 (B,), and a state, which `war_agents.states.States.keep` checks.

    Raises:
        OpponentFailedError: it raised, or answered with something else.
    """
    legal = action_mask.copy()
    try:
        answer = agent.act(observation, action_mask, seeds, *memory)
    except (Exception, SystemExit) as error:
        why = f"{type(error).__name__}: {one_line(error)}"
        raise OpponentFailedError.of(agent, why) from error
    try:
        return checked_answer(answer, legal)
    except ValueError as error:
        raise OpponentFailedError.of(agent, f"it {error}") from error.__cause__


class Opponent:
    """An agent in game after game.

    Args:
        given: an agent, or the name or path of one.
        variant: what it plays.

    Raises:
        ValueError: there is no such agent, or it wants observations that do not exist.
    """

    def __init__(self, given: str | Path | Agent, variant: Variant) -> None:
        self.agent = checked_agent(given, variant)
        self._stream = np.empty(0, np.uint64)
        self._drawn = 0
        self._states = States(1)

    def begin(self, seed: int) -> None:
        """Begins the stream that all its draws come from."""
        self._stream = seeding.generator_state(seed, seeding.AGENTS, 0)[:1]
        self._drawn = 0

    def forget(self) -> None:
        """A new game begins."""
        self._states = States(1)

    def choose(self, seen: Observation) -> int:
        """The agent's choice for what it observes, in arrays that it may do anything to.

        Raises:
            OpponentFailedError: it raised, or did not return one legal action and a state that can
                be kept.
        """
        seeds = seeding.action_seeds(self._stream, self._drawn)
        self._drawn += 1
        rows = (seen["observation"][np.newaxis], seen["action_mask"][np.newaxis])
        actions, state = ask(self.agent, *rows, seeds, *self._states.recall(_GAME))
        try:
            self._states.keep(_GAME, state)
        except ValueError as error:
            why = f"it returned a wrong state: {error}"
            raise OpponentFailedError.of(self.agent, why) from error
        return int(actions[0])

    def get_state(self) -> dict[str, Any]:
        """All that its next choices depend on, as JSON; the agent itself is not in it.

        Raises:
            ValueError: the agent keeps a state that is no plain data.
        """
        try:
            memory = plain.encoded(self._states.recall(_GAME)[0])
        except ValueError as error:
            raise ValueError(
                f"the opponent, agent {self.agent.name!r}, keeps a state that is no plain data: "
                f"{error}"
            ) from None
        return {
            "agent": self.agent.name,
            "stream": int(self._stream[0]),
            "drawn": self._drawn,
            "memory": memory,
        }

    def at(self, state: object) -> Self:
        """One of the same agent that goes on from what `get_state` gave.

        Raises:
            ValueError: it gave no such thing, or for an agent of another name.
        """
        if not isinstance(state, dict) or set(state) != {"agent", "stream", "drawn", "memory"}:
            raise ValueError("state: opponent must hold agent, stream, drawn and memory")
        if state["agent"] != self.agent.name:
            raise ValueError(
                f"state: opponent is {shown(state['agent'])}, not {shown(self.agent.name)}"
            )
        one = copy.copy(self)
        stream = integer("state: stream of the opponent", state["stream"], 0, 2**64 - 1)
        one._stream = np.array([stream], np.uint64)
        one._drawn = integer("state: drawn of the opponent", state["drawn"], 0, 2**62)
        one._states = States(1)
        try:
            one._states.keep(_GAME, plain.decoded(state["memory"]))
        except ValueError as error:
            raise ValueError(f"state: memory of the opponent: {error}") from None
        return one


def checked_agent(given: object, variant: Variant) -> Agent:
    """``given``, an agent or the name or path of one, as an agent for ``variant``.

    Raises:
        ValueError: there is no such agent, or it wants observations that do not exist.
    """
    if isinstance(given, str | Path):
        agent = make(given, game=variant.game, variant=variant)
    else:
        agent = require_agent(given, f"opponent={shown(given)}")
    checked_choice(f"encoding of agent {agent.name!r}", agent.encoding, ENCODINGS)
    checked_choice(f"memory of agent {agent.name!r}", agent.memory, MEMORIES)
    return agent
