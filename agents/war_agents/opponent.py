"""An agent that plays one game at a time: its draws, what it remembers, and what it may answer."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent, make
from war_agents.states import States
from war_envs import seeding
from war_envs.encoding import ENCODINGS, MEMORIES, checked_choice
from war_envs.messages import shown
from war_envs.table import Observation
from war_envs.variant import Variant


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
            ValueError: it did not return one action, or a state that cannot be kept.
        """
        seeds = seeding.action_seeds(self._stream, self._drawn)
        self._drawn += 1
        rows = (seen["observation"][np.newaxis], seen["action_mask"][np.newaxis])
        game = np.zeros(1, np.int64)
        answer: Any = self.agent.act(*rows, seeds, *self._states.recall(game))
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise ValueError(f"it returned {shown(answer)}, not (actions, state)")
        actions: NDArray[Any] = np.asarray(answer[0])
        if actions.dtype.kind not in "iu" or actions.shape != (1,):
            raise ValueError(
                f"it returned actions of dtype {actions.dtype} and shape {actions.shape}, "
                "not integers of shape (1,)"
            )
        try:
            self._states.keep(game, answer[1])
        except ValueError as error:
            raise ValueError(f"it returned a wrong state: {error}") from error
        return int(actions[0])


def checked_agent(given: object, variant: Variant) -> Agent:
    """``given``, an agent or the name or path of one, as an agent for ``variant``.

    Raises:
        ValueError: there is no such agent, or it wants observations that do not exist.
    """
    if isinstance(given, str | Path):
        agent = make(given, game=variant.game, variant=variant)
    elif isinstance(given, Agent):
        agent = given
    else:
        raise ValueError(f"opponent={shown(given)} is not allowed; give a name, a path or an agent")
    checked_choice(f"encoding of agent {agent.name!r}", agent.encoding, ENCODINGS)
    checked_choice(f"memory of agent {agent.name!r}", agent.memory, MEMORIES)
    return agent
