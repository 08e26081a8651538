"""Who takes part: names, model files, run folders, the user's own code, and agents as they are."""

import copy
import hashlib
import importlib
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

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
            name, agent = str(given), _from_code(str(given), variant)
        elif isinstance(given, str | Path):
            name, agent = str(given), make(given, game=variant.game, variant=variant)
        else:
            name, agent = getattr(given, "name", ""), given
        if not isinstance(agent, Agent) or not isinstance(name, str):
            raise ValueError(
                f"agent={shown(given)} is not allowed; give a name, a path, module:factory or an "
                "Agent, with name, encoding, memory and act"
            )
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
        sha256: of the model file, or of the source file of the user's code; None where there is no
            such file.
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
        sha256 = None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()
        return cls(entrant.name, kind, sha256, entrant.deterministic)


def is_code(given: object) -> bool:
    """Is it spelt ``module:factory``?"""
    return isinstance(given, str) and _CODE.fullmatch(given) is not None


def _from_code(spelt: str, variant: Variant) -> object:
    """What the user's factory returns; its module is imported, and so run."""
    module, _, path = spelt.partition(":")
    try:
        factory: Any = importlib.import_module(module)
        for attribute in path.split("."):
            factory = getattr(factory, attribute)
        try:
            inspect.signature(factory).bind(variant)
        except TypeError:
            return factory()
        return factory(variant)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"agent {spelt!r} could not be made: {type(error).__name__}: {one_line(error)}"
        ) from error


def _source_file(made_by: type) -> Path | None:
    try:
        file = inspect.getsourcefile(made_by)
    except (TypeError, OSError):  # written in a notebook, at a prompt or as `python -c`
        return None
    return None if file is None or not Path(file).is_file() else Path(file)
