"""Everybody who takes part in a tournament, and with which versions of what."""

import importlib.metadata
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from war_agents.arena.entrant import Entrant
from war_agents.arena.players import Player
from war_agents.arena.settings import Settings, refuse_doubles

_PACKAGES: Final = ("war-envs", "numpy", "numba", "scipy")


@dataclass(frozen=True)
class Lineup:
    """The entrants of a tournament, in the order of its settings.

    Attributes:
        entrants: at least two, of different names.
    """

    entrants: tuple[Entrant, ...]

    @classmethod
    def of(cls, settings: Settings) -> "Lineup":
        """The agents that the settings name; a model's files are read once, for all variants.

        Raises:
            ValueError: there is no such agent, or two of one name.
        """
        entrants = tuple(
            Entrant.of(given, settings.played, deterministic=settings.deterministic)
            for given in settings.agents
        )
        refuse_doubles("agents", [entrant.player.name for entrant in entrants])
        return cls(entrants)

    @property
    def players(self) -> tuple[Player, ...]:
        """Who takes part, as results tell it."""
        return tuple(entrant.player for entrant in self.entrants)

    @property
    def names(self) -> list[str]:
        """What the tournament calls them."""
        return [player.name for player in self.players]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Whom a later run could not tell from another."""
        return tuple(entrant.warning for entrant in self.entrants if entrant.warning)

    @property
    def limited(self) -> tuple[bool, ...]:
        """For each, is it held to the time limit? Agents of this package are not."""
        return tuple(not entrant.is_own for entrant in self.entrants)

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what plays and of what computes the results."""
        # Of torch only where a network plays, whatever else this process may have loaded.
        networks = any(
            entrant.is_own and entrant.player.deterministic is not None for entrant in self.entrants
        )
        return _versions([*_PACKAGES, *(["torch"] if networks else [])])


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # used without an install
            found[package] = "unknown"
    return found
