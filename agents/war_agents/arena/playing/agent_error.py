"""How an agent has failed, and where in its own code."""

import inspect
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from war_agents.agent import Agent
from war_envs.messages import printable

MAX_REASON: Final = 500
MAX_TRACEBACK: Final = 20_000


class AgentError(ValueError):
    """An agent has failed.

    Args:
        name: what it is called.
        agent: it itself.
        reason: what it did, on one line.
        cause: what it raised, if it did.

    Attributes:
        reason: what it did, at most 500 characters; where it raised, with the file and line of its
            own code, as in ``failed: KeyError: 7 (my_agents.py:12)``.
    """

    def __init__(
        self, name: str, agent: Agent, reason: str, cause: BaseException | None = None
    ) -> None:
        self.__cause__ = cause
        self._code = _place_of_code(agent)
        place = next(_places(agent, self._code, cause), None)
        at = "" if place is None else printable(f" ({Path(place[0]).name}:{place[1]})")
        self.reason: Final = reason[: MAX_REASON - len(at)] + at
        super().__init__(f"agent {name!r} {self.reason}")

    @property
    def traceback(self) -> str:
        """What it raised, line by line, or where its code is; nothing a terminal obeys."""
        cause = self.__cause__
        if cause is None or cause.__traceback__ is None:
            file, line = self._code or ("an unknown place", 0)
            return printable(f'Its act() is in "{file}", line {line}.')
        # Without the first frame, which is not the agent's.
        lines = traceback.format_exception(type(cause), cause, cause.__traceback__.tb_next)
        text = "\n".join(map(printable, "".join(lines)[:MAX_TRACEBACK].split("\n")))
        return text[:MAX_TRACEBACK].rstrip()


def _place_of_code(agent: Agent) -> tuple[str, int] | None:
    """The file and line of ``agent.act``, where it is written in Python."""
    act: Any = inspect.getattr_static(agent, "act", None)  # runs none of its code
    act = inspect.unwrap(getattr(act, "__func__", act))
    code = getattr(act, "__code__", None)
    return None if code is None else (code.co_filename, code.co_firstlineno)


def _places(
    agent: Agent, code: tuple[str, int] | None, cause: BaseException | None
) -> Iterator[tuple[str, int]]:
    """The lines in the agent's own files that led to ``cause``, the last first."""
    if cause is None:
        return
    module = sys.modules.get(type(agent).__module__)
    own = {getattr(module, "__file__", None), code and code[0]}
    for frame, line in reversed(list(traceback.walk_tb(cause.__traceback__))):
        if frame.f_code.co_filename in own:
            yield frame.f_code.co_filename, line
