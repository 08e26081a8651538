"""Who takes part: names, model files, run folders, the user's own code, and agents as they are."""

import copy
import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from war_agents.agent import Agent, is_trained, require_agent
from war_agents.models.shipped import CHAMPION
from war_agents.models.stored import StoredModel
from war_agents.registry import make
from war_envs.engine.layout import ENCODINGS, MEMORIES, checked_choice
from war_envs.messages import one_line, shown
from war_envs.variant import Variant

_CODE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")
_ALLOWED: Final = "a name, a path, module:factory or an Agent"
_OWN_PACKAGE: Final = __name__.partition(".")[0]

Given = str | Path | Agent


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


def make_agents(
    given: Given,
    variants: Sequence[Variant],
    *,
    deterministic: bool = False,
    stored: StoredModel | None = None,
) -> tuple[str, tuple[Agent, ...]]:
    """An agent by the name by which it was asked for, one for each of ``variants``.

    Args:
        given: what `war_agents.make` takes; ``"package.module:factory"``, where
            ``factory(variant)`` or ``factory()`` returns the agent; or an agent.
        variants: what it will play.
        deterministic: a trained agent takes its most probable action, and does not sample.
        stored: the files of the model that ``given`` names, where they have been read before.

    Raises:
        ValueError: there is no such agent, or it wants observations that do not exist.
    """
    agents: list[Agent]
    if stored is not None:
        from war_agents.networks.policy import policies_of  # needs torch, which base installs lack

        champion = CHAMPION if str(given) == CHAMPION else None
        agents = [*policies_of(stored, variants, name=champion)]
    else:
        agents = [_made(given, variant) for variant in variants]
    name = str(given) if isinstance(given, str | Path) else agents[0].name
    for place, agent in enumerate(agents):
        checked_choice(f"encoding of agent {name!r}", agent.encoding, ENCODINGS)
        checked_choice(f"memory of agent {name!r}", agent.memory, MEMORIES)
        if deterministic and is_trained(agent):
            copied = copy.copy(agent)  # the caller's own stays as it is
            copied.deterministic = True
            agents[place] = copied
    return name, tuple(agents)


def is_deterministic(agent: Agent) -> bool | None:
    """Does a trained agent take its most probable action, or sample? None for all others."""
    return bool(agent.deterministic) if is_trained(agent) else None


def is_own(agent: Agent) -> bool:
    """Is it an agent of this package, which neither hangs nor exits?"""
    return type(agent).__module__.partition(".")[0] == _OWN_PACKAGE


def is_code(given: object) -> bool:
    """Is it spelt ``module:factory``?"""
    return isinstance(given, str) and _CODE.fullmatch(given) is not None


def _made(given: Given, variant: Variant) -> Agent:
    made: object = given
    if is_code(given):
        made = _from_code(str(given), variant)
    elif isinstance(given, str | Path):
        made = make(given, game=variant.game, variant=variant)
    agent = require_agent(made, f"agent={shown(given)}", _ALLOWED)
    if not str(agent.name).strip():
        raise ValueError(f"agent={shown(given)} has the name {agent.name!r}; give it another")
    return agent


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
