"""The names of agents: registered ones, and what else a name may stand for."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from war_agents.agent import Agent, require_agent
from war_envs.messages import shown
from war_envs.variant import GAMES, Variant, make_variant

MODEL_FILE: Final = "model.safetensors"
RESERVED: Final = ("self", "past", "exploiter", "human", "optimal", "search", "ppo", "champion")
"""Names that mean something wherever agents are named, so that no agent may take them."""
_NAME: Final = re.compile(r"[\w-]+")

Factory = Callable[[Variant], Agent]
_FACTORIES: dict[str, dict[str, Factory]] = {game: {} for game in GAMES}


def register(name: str, factory: Factory, *, games: tuple[str, ...] = GAMES) -> None:
    """Makes ``factory(variant)`` known as ``name``, for `make`, tournaments and training.

    Agents that keep a state play matches and tournaments, but not in the league of a training run.

    Raises:
        ValueError: the name is no word of letters, digits, ``-`` and ``_``, taken or reserved;
            the factory cannot be called, or a game is unknown.
    """
    if name in RESERVED:
        raise ValueError(f"name={shown(name)} is reserved, as are {', '.join(RESERVED)}")
    add(name, factory, games)


def add(name: str, factory: Factory, games: tuple[str, ...]) -> None:
    """`register` for agents of this package, whose names may be reserved."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"name={shown(name)} is not allowed; use letters, digits, - and _")
    if not callable(factory):
        raise ValueError(f"factory={shown(factory)} is not allowed; it must be callable")
    if not isinstance(games, tuple | list):
        raise ValueError(f"games={shown(games)} is not allowed; give a tuple of {', '.join(GAMES)}")
    for game in games:
        if game not in _FACTORIES:
            raise ValueError(
                f"games holds {game!r}, which is unknown; choose from {', '.join(GAMES)}"
            )
        if name in _FACTORIES[game]:
            raise ValueError(f"name={name!r} is taken for {game}; choose another")
    for game in games:
        _FACTORIES[game][name] = factory


def names(game: str) -> tuple[str, ...]:
    """The registered agents of a game, in order of registration.

    Raises:
        ValueError: an unknown game.
    """
    make_variant(game)
    return tuple(_FACTORIES[game])


def make(name: str | Path, *, game: str, variant: str | Variant = "standard") -> Agent:
    """The agent called ``name``: a registered name, a run folder, or a model file.

    Args:
        name: ``"memory"``, ``"runs/first"``, ``"runs/first/model.safetensors"``, ...
        game: ``"attack-defence"`` or ``"strategic-war"``.
        variant: what it will play, by name or as a variant.

    Raises:
        ValueError: an unknown name, game or variant, a model that is not for them, or a factory
            that made no agent.
    """
    chosen = make_variant(game, variant)
    factory = _FACTORIES[game].get(str(name))
    if factory is not None:
        return require_agent(factory(chosen), f"agent={str(name)!r}")
    file = model_file(name)
    if not file.is_file():
        raise ValueError(
            unsaved(name)
            or f"agent {str(name)!r} is unknown to {game}; choose from {', '.join(names(game))}, "
            "or give a run folder or a model file"
        )
    from war_agents.networks.policy import load_policy  # needs torch, which base installs lack

    return load_policy(file, chosen)


def model_file(path: str | Path) -> Path:
    """The model file of a run folder; any other path is taken for a model file's."""
    return Path(path) / MODEL_FILE if Path(path).is_dir() else Path(path)


def unsaved(path: str | Path) -> str | None:
    """What to say of a run folder that has no model; None if ``path`` is something else."""
    if not (Path(path) / "config.json").exists() or model_file(path).exists():
        return None
    return f"{path} is a run folder without {MODEL_FILE}: it has not been saved yet"
