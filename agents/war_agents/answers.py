"""What agents answer, checked: one rule for all who ask them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_envs.messages import one_line, shown


def checked_answer(answer: object, legal: NDArray[Any]) -> tuple[NDArray[np.int64], Any]:
    """What `war_agents.agent.Agent.act` returned for B positions.

    Args:
        answer: what it returned.
        legal: int8 or bool (B, A), which actions were legal; never the array that it was given.

    Returns:
        Actions, int64 (B,), and the state, which `war_agents.states.States.keep` checks.

    Raises:
        ValueError: it is not a legal action for each position, and a state. The message has no
            subject, so that each caller can say whose answer it is.
    """
    if not isinstance(answer, tuple) or len(answer) != 2:
        raise ValueError(f"returned {shown(answer)}; it must be (actions, state)")
    try:
        actions: NDArray[Any] = np.asarray(answer[0])
    except (Exception, SystemExit) as error:  # what NumPy asks of it is the agent's own code
        raise ValueError(f"failed: {type(error).__name__}: {one_line(error)}") from error
    number, num_actions = legal.shape
    if actions.dtype.kind not in "iu" or actions.shape != (number,):
        raise ValueError(
            f"returned actions of dtype {actions.dtype} and shape {actions.shape}; "
            f"they must be integers of shape ({number},)"
        )
    possible = (actions >= 0) & (actions < num_actions)
    possible &= legal[np.arange(number), np.where(possible, actions, 0)] != 0
    if not possible.all():
        wrong = int(np.argmin(possible))
        raise ValueError(
            f"chose the illegal action {actions[wrong]}; "
            f"legal were {', '.join(map(str, np.flatnonzero(legal[wrong])))}"
        )
    return actions.astype(np.int64), answer[1]
