"""What tells an agent from another: its kind, its model's files, and hashes of code and objects."""

import hashlib
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from war_agents.agent import Agent
from war_agents.arena.identity import SCRIPTS, UnidentifiedError, identity
from war_agents.arena.players import Given, is_code
from war_agents.models.shipped import CHAMPION, GAMES_WITH_CHAMPION, champion_file
from war_agents.models.stored import StoredModel, read_model
from war_agents.registry import model_file, names


def kind_of(given: Given, game: str) -> Literal["registered", "model", "code", "object"]:
    """See `war_agents.arena.Player`."""
    if not isinstance(given, str | Path):
        return "object"
    if is_code(given):
        return "code"
    return "registered" if str(given) in names(game) else "model"


def stored_model(given: Given, game: str) -> StoredModel | None:
    """The files of the model that ``given`` names, if it names one."""
    if not isinstance(given, str | Path) or is_code(given):
        return None
    if str(given) == CHAMPION:
        return read_model(champion_file(game)) if game in GAMES_WITH_CHAMPION else None
    file = model_file(given)
    return read_model(file) if str(given) not in names(game) and file.is_file() else None


def code_sha256(spelt: str, agent: Agent) -> str:
    """Of the user's source files, and of the networks that the agent holds.

    Raises:
        UnidentifiedError: there is no source file.
    """
    sources = [sys.modules[spelt.partition(":")[0]], type(agent)]
    files = dict.fromkeys(file for file in map(_source_file, sources) if file is not None)
    if not files:
        raise UnidentifiedError("module without a source file")
    networks = _networks(agent)
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content + (identity(networks) if networks else b"")).hexdigest()


def object_sha256(agents: Sequence[Agent]) -> str:
    """Of an agent that was made here: its source file, if it has one of its own, and all it is.

    Raises:
        UnidentifiedError: it holds what cannot be told from another of its kind.
    """
    kind = type(agents[0])
    file = None if kind.__module__ in SCRIPTS else _source_file(kind)
    content = b"" if file is None else file.read_bytes()
    return hashlib.sha256(content + identity(list(agents))).hexdigest()


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
