"""Who takes part: names, model files, run folders, the user's own code, and agents as they are."""

import contextlib
import copy
import hashlib
import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import cloudpickle

from war_agents.agent import Agent, make, model_file, names
from war_agents.shipped import CHAMPION, champion_file
from war_envs.encoding import ENCODINGS, MEMORIES, checked_choice
from war_envs.messages import one_line, shown
from war_envs.variant import Variant

_CODE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_OWN_PACKAGE: Final = __name__.partition(".")[0]

Given = str | Path | Agent


class Entrant(NamedTuple):
    """An agent under the name by which it was asked for."""

    name: str
    agent: Agent

    @classmethod
    def of(cls, given: Given, variant: Variant, *, deterministic: bool = False) -> "Entrant":
        """An agent under its own name, or one made from a name, a path or ``module:factory``.

        Args:
            given: what `war_agents.make` takes; ``"package.module:factory"``, where
                ``factory(variant)`` or ``factory()`` returns the agent; or an agent.
            variant: what it will play.
            deterministic: a trained agent takes its likeliest action, and does not sample.

        Raises:
            ValueError: there is no such agent, or it wants observations that do not exist.
        """
        if is_code(given):
            agent = _checked(given, _from_code(str(given), variant))
        elif isinstance(given, str | Path):
            agent = _checked(given, make(given, game=variant.game, variant=variant))
        else:
            agent = _checked(given, given)
        name = str(given) if isinstance(given, str | Path) else agent.name
        checked_choice(f"encoding of agent {name!r}", agent.encoding, ENCODINGS)
        checked_choice(f"memory of agent {name!r}", agent.memory, MEMORIES)
        if deterministic and hasattr(agent, "deterministic"):
            agent = copy.copy(agent)  # the caller's own stays as it is
            agent.deterministic = True
        return cls(name, agent)

    @property
    def deterministic(self) -> bool | None:
        """Does a trained agent take its likeliest action, or sample? None for all others."""
        chosen = getattr(self.agent, "deterministic", None)
        return None if chosen is None else bool(chosen)

    @property
    def trusted(self) -> bool:
        """Is it an agent of this package, which neither hangs nor exits?"""
        return type(self.agent).__module__.partition(".")[0] == _OWN_PACKAGE


@dataclass(frozen=True)
class Player:
    """Who took part.

    Attributes:
        name: what the tournament calls it.
        kind: ``"registered"``, ``"model"`` (a file), ``"code"`` (``module:factory``) or
            ``"object"`` (an agent that was handed over).
        sha256: of the model file; of the source file of the user's code, but not of what that
            imports; of an agent that was handed over with its attributes; else None.
        deterministic: does a trained agent take its likeliest action (True) or sample (False)? None
            for all others.
    """

    name: str
    kind: Literal["registered", "model", "code", "object"]
    sha256: str | None
    deterministic: bool | None

    @classmethod
    def of(cls, given: Given, entrant: Entrant, game: str) -> "Player":
        """What is to be known about ``entrant``, which was made from ``given``."""
        file: Path | None = None if entrant.trusted else _source_file(type(entrant.agent))
        kind: Literal["registered", "model", "code", "object"]
        if not isinstance(given, str | Path):
            kind = "object"
        elif is_code(given):
            kind = "code"
        elif str(given) in names(game):
            kind = "registered"
            if str(given) == CHAMPION:
                file = champion_file(game)
        else:
            kind, file = "model", model_file(given)
        content = b"" if file is None else file.read_bytes()
        if kind == "object":
            # One that cannot be pickled cannot be sent to other processes either.
            with contextlib.suppress(Exception):
                content += bytes(cloudpickle.dumps(entrant.agent))
        sha256 = hashlib.sha256(content).hexdigest() if content else None
        return cls(entrant.name, kind, sha256, entrant.deterministic)


def is_code(given: object) -> bool:
    """Is it spelt ``module:factory``?"""
    return isinstance(given, str) and _CODE.fullmatch(given) is not None


def _checked(given: object, made: object) -> Agent:
    """``made``, if it is an agent."""
    if isinstance(made, type):
        raise ValueError(
            f"agent={shown(given)} is the class {made.__name__}; give an agent, such as "
            f"{made.__name__}()"
        )
    missing = [part for part in ("name", "encoding", "memory", "act") if not hasattr(made, part)]
    if not isinstance(made, Agent):
        raise ValueError(
            f"agent={shown(given)} is not allowed; give a name, a path, module:factory or an "
            f"Agent: {shown(made)} has no {' and no '.join(missing)}"
        )
    if not str(made.name).strip():
        raise ValueError(f"agent={shown(given)} has the name {made.name!r}; give it another")
    return made


def _from_code(spelt: str, variant: Variant) -> object:
    """What the user's factory returns; its module is imported, and so run."""
    module, _, path = spelt.partition(":")
    try:
        factory: Any = importlib.import_module(module)
        for attribute in path.split("."):
            factory = getattr(factory, attribute)
        if not _takes(factory, variant) and _takes(factory):
            return factory()
        return factory(variant)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"agent {spelt!r} could not be made: {type(error).__name__}: {one_line(error)}"
        ) from error


def _takes(factory: Callable[..., object], *arguments: object) -> bool:
    try:
        inspect.signature(factory).bind(*arguments)
    except TypeError:
        return False
    return True


def _source_file(made_by: type) -> Path | None:
    try:
        file = inspect.getsourcefile(made_by)
    except (TypeError, OSError):  # written in a notebook, at a prompt or as `python -c`
        return None
    return None if file is None or not Path(file).is_file() else Path(file)
