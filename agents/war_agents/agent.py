"""What an agent is: what environments, matches and training ask for actions."""

from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from war_envs.messages import shown


@runtime_checkable
class Agent(Protocol):
    """Chooses actions, for many positions at once; it never sees an environment.

    Attributes:
        name: what reports call it.
        encoding: the observations it wants, ``"vector"`` or ``"tokens"``.
        memory: ``"perfect"`` or ``"table"``.

    An agent may also say its ``kind``. One of kind ``"trained"`` has ``deterministic``, a bool that
    may be set: whether it takes its most probable action instead of sampling.
    """

    name: str
    encoding: str
    memory: str

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """Chooses an action for each of B positions.

        Args:
            observation: (B, F), in the agent's encoding and memory; it is not written to.
            action_mask: int8 (B, A), 1 for each legal action.
            seeds: uint64 (B,), one per position: its only source of randomness.
            state: what was returned for these B games before, in copies, for agents that remember;
                zeros for those that have just begun, None where all have.
            starts: bool (B,), which games have just begun; None means all of them when ``state`` is
                None, else none.

        Returns:
            Legal actions, int64 (B,), and the state for the next call: None, a NumPy array whose
            first axis is the games, or a tuple of states. So a caller can leave out games that are
            over. Its parts, their dtypes and their shapes but for the first axis stay the same in
            all calls that return one; a caller refuses others.

        Raises:
            ValueError: a position without a legal action.
        """
        ...


def require_agent(made: object, whose: str, allowed: str = "a name, a path or an agent") -> Agent:
    """``made``, if it is an agent.

    Args:
        made: what should be one.
        whose: where it comes from, for the message: such as ``"agent='mine'"``.
        allowed: what could have been given, for the message.

    Raises:
        ValueError: it is none.
    """
    if isinstance(made, type):
        raise ValueError(
            f"{whose} is the class {made.__name__}; give an agent, such as {made.__name__}()"
        )
    if not isinstance(made, Agent):
        parts = ("name", "encoding", "memory", "act")
        missing = " and no ".join(part for part in parts if not hasattr(made, part))
        raise ValueError(f"{whose} is not allowed; give {allowed}: {shown(made)} has no {missing}")
    return made


class TrainedAgent(Agent, Protocol):
    """An agent with a policy from which it samples, unless it is ``deterministic``."""

    deterministic: bool


def is_trained(agent: Agent) -> TypeGuard[TrainedAgent]:
    """Has the agent a policy from which it samples?"""
    return getattr(agent, "kind", None) == "trained" and hasattr(agent, "deterministic")
