"""Where the agents of a tournament come from, so that each process makes the same ones."""

import hashlib
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import cloudpickle

from war_agents import OWN_NAMES
from war_agents.agent import Agent
from war_agents.arena.identity import SCRIPTS, UnidentifiedError, identity
from war_agents.arena.players import Entrant, Given, Player, is_code
from war_agents.models.shipped import CHAMPION, GAMES_WITH_CHAMPION, champion_file
from war_agents.models.stored import StoredModel, read_model
from war_agents.registry import model_file, names
from war_envs.messages import one_line
from war_envs.variant import Variant


@dataclass(frozen=True)
class Origin:
    """What an agent is made from, in this process or another.

    Attributes:
        name: what the tournament calls the agent.
        given: a registered name, ``module:factory`` or the files of a model; or agents, one a
            variant, that only this process can make.
        sha256: see `Player`.
    """

    name: str
    given: str | StoredModel | tuple[Agent, ...]
    sha256: str | None

    def entrants(self, variants: Sequence[Variant], *, deterministic: bool) -> list[Entrant]:
        """The agent for each variant.

        Raises:
            ValueError: it cannot be made, or its code is no longer what it was.
        """
        if isinstance(self.given, tuple):
            return [Entrant(self.name, agent) for agent in self.given]
        stored = self.given if isinstance(self.given, StoredModel) else None
        made = [
            Entrant.of(self.name, variant, deterministic=deterministic, stored=stored)
            for variant in variants
        ]
        if is_code(self.given) and _code_sha256(self.name, made[0]) != self.sha256:
            raise ValueError(
                f"agent {self.name!r} is no longer what it was when the tournament began: its "
                "source, or a network that it holds, has changed meanwhile"
            )
        return made


@dataclass(frozen=True)
class Participant:
    """An agent of a tournament.

    Attributes:
        player: who it is.
        origin: what any process can make it from.
        entrants: it itself, for each variant.
        warning: why it cannot be told from another, if it cannot.
    """

    player: Player
    origin: Origin
    entrants: tuple[Entrant, ...]
    warning: str | None

    @classmethod
    def of(cls, given: Given, variants: Sequence[Variant], *, deterministic: bool) -> "Participant":
        """An agent as it was ``given``.

        Raises:
            ValueError: there is no such agent.
        """
        game = variants[0].game
        stored = _stored(given, game)
        made = tuple(
            Entrant.of(given, variant, deterministic=deterministic, stored=stored)
            for variant in variants
        )
        kind = _kind(given, game)
        name, sha256, warning = made[0].name, None, None
        from_here = kind == "object" or (kind == "registered" and name not in OWN_NAMES[game])
        try:
            if stored is not None:
                sha256 = stored.sha256
            elif kind == "code":
                sha256 = _code_sha256(name, made[0])
            elif from_here:
                sha256 = _object_sha256(made[:1] if kind == "object" else made)
        except UnidentifiedError as error:
            warning = (
                f"agent {name!r} has no SHA-256, since it has a {error}: it is not checked that "
                "the same agent plays where a tournament goes on"
            )
        player = Player(name, kind, sha256, made[0].deterministic, made[0].agent.memory)
        agents = tuple(entrant.agent for entrant in made)
        origin = Origin(name, agents if from_here else stored or name, sha256)
        return cls(player, origin, made, warning)

    @property
    def here(self) -> Origin:
        """What this process plays with."""
        agents = tuple(entrant.agent for entrant in self.entrants)
        return Origin(self.player.name, agents, self.player.sha256)

    def sendable(self) -> Origin:
        """`origin`, if it can be sent to other processes.

        Raises:
            ValueError: it cannot.
        """
        try:
            cloudpickle.dumps(self.origin)
        except Exception as error:
            raise ValueError(
                f"agent {self.player.name!r} cannot be sent to other processes "
                f"({one_line(error)}); give it as module:factory, or play with workers=0"
            ) from error
        return self.origin


def _kind(given: Given, game: str) -> Literal["registered", "model", "code", "object"]:
    if not isinstance(given, str | Path):
        return "object"
    if is_code(given):
        return "code"
    return "registered" if str(given) in names(game) else "model"


def _stored(given: Given, game: str) -> StoredModel | None:
    """The files of the model that ``given`` names, if it names one."""
    if not isinstance(given, str | Path) or is_code(given):
        return None
    if str(given) == CHAMPION:
        return read_model(champion_file(game)) if game in GAMES_WITH_CHAMPION else None
    file = model_file(given)
    return read_model(file) if str(given) not in names(game) and file.is_file() else None


def _code_sha256(spelt: str, entrant: Entrant) -> str:
    """Of the user's source files, and of the networks that the agent holds.

    Raises:
        UnidentifiedError: there is no source file.
    """
    sources = [sys.modules[spelt.partition(":")[0]], type(entrant.agent)]
    files = dict.fromkeys(file for file in map(_source_file, sources) if file is not None)
    if not files:
        raise UnidentifiedError("module without a source file")
    networks = _networks(entrant.agent)
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content + (identity(networks) if networks else b"")).hexdigest()


def _object_sha256(entrants: Sequence[Entrant]) -> str:
    """Of an agent that was made here: its source file, if it has one of its own, and all it is.

    Raises:
        UnidentifiedError: it holds what cannot be told from another of its kind.
    """
    kind = type(entrants[0].agent)
    file = None if kind.__module__ in SCRIPTS else _source_file(kind)
    content = b"" if file is None else file.read_bytes()
    agents = [entrant.agent for entrant in entrants]
    return hashlib.sha256(content + identity(agents)).hexdigest()


def _networks(agent: Agent) -> list[Any]:
    """The weights of the networks that an agent is, holds, or holds agents of this package with."""
    if "torch" not in sys.modules:
        return []
    from torch.nn import Module

    parts = [agent, *getattr(agent, "__dict__", {}).values()]
    parts += [getattr(part, "network", None) for part in parts]
    return [dict(part.state_dict()) for part in parts if isinstance(part, Module)]


def _source_file(source: Any) -> Path | None:
    """The file that a module or class of the user's own was written in."""
    name = source.__name__ if inspect.ismodule(source) else source.__module__
    if name.partition(".")[0] == __name__.partition(".")[0]:
        return None
    try:
        file = inspect.getsourcefile(source)
    except (TypeError, OSError):  # written in a notebook, at a prompt or as `python -c`
        return None
    return None if file is None or not Path(file).is_file() else Path(file)
