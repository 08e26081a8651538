"""Who takes part: names, model files, run folders, the user's own code, and agents as they are."""

import copy
import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from war_agents.agent import Agent, is_trained
from war_agents.models.shipped import CHAMPION
from war_agents.models.stored import StoredModel
from war_agents.registry import make
from war_envs.engine.layout import ENCODINGS, MEMORIES, checked_choice
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
    def of(
        cls,
        given: Given,
        variant: Variant,
        *,
        deterministic: bool = False,
        stored: StoredModel | None = None,
    ) -> "Entrant":
        """An agent under its own name, or one made from a name, a path or ``module:factory``.

        Args:
            given: what `war_agents.make` takes; ``"package.module:factory"``, where
                ``factory(variant)`` or ``factory()`` returns the agent; or an agent.
            variant: what it will play.
            deterministic: a trained agent takes its likeliest action, and does not sample.
            stored: the files of the model that ``given`` names, where they have been read before.

        Raises:
            ValueError: there is no such agent, or it wants observations that do not exist.
        """
        if stored is not None:
            from war_agents.networks.policy import (
                policy_of,  # needs torch, which base installs lack
            )

            agent: Agent = policy_of(
                stored, variant, name=CHAMPION if str(given) == CHAMPION else None
            )
        elif is_code(given):
            agent = _checked(given, _from_code(str(given), variant))
        elif isinstance(given, str | Path):
            agent = _checked(given, make(given, game=variant.game, variant=variant))
        else:
            agent = _checked(given, given)
        name = str(given) if isinstance(given, str | Path) else agent.name
        checked_choice(f"encoding of agent {name!r}", agent.encoding, ENCODINGS)
        checked_choice(f"memory of agent {name!r}", agent.memory, MEMORIES)
        if deterministic and is_trained(agent):
            agent = copy.copy(agent)  # the caller's own stays as it is
            agent.deterministic = True
        return cls(name, agent)

    @property
    def deterministic(self) -> bool | None:
        """Does a trained agent take its likeliest action, or sample? None for all others."""
        return bool(self.agent.deterministic) if is_trained(self.agent) else None

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
        sha256: of the model file that played; of the source files of the user's code (the module
            that was named, and that of the agent's class) and the networks that it holds, but not
            of what it imports; of an agent that was handed over, or that the user has registered,
            with its class and its attributes, see `war_agents.arena.identity`. None for the
            scripted agents of this package, and for agents that cannot be told apart.
        deterministic: does a trained agent take its likeliest action (True) or sample (False)? None
            for all others.
        memory: what it observed, ``"perfect"`` or ``"table"``.
    """

    name: str
    kind: Literal["registered", "model", "code", "object"]
    sha256: str | None
    deterministic: bool | None
    memory: str = "perfect"


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
