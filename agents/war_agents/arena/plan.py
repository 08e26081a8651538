"""What a tournament is: all that decides its games, and who plays them."""

import dataclasses
import importlib.metadata
import math
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from war_agents.arena.match import MAX_DEALS, MatchResult
from war_agents.arena.origin import Origin, Participant
from war_agents.arena.players import Entrant, Given
from war_agents.arena.playing.blocks import Block, Setup
from war_agents.arena.playing.games import Games, games_per_deal
from war_agents.arena.playing.pool import InProcess, Pool, Processes, num_cores
from war_envs.engine import seeding
from war_envs.messages import shown
from war_envs.variant import ALL, VARIANT_NAMES, Variant, integer, make_variant

FEW_GAMES: Final = 50_000  # of scripted agents; fewer are over before worker processes pay off
BLOCK_COST: Final = 2_000  # of a block, however few games it has, in games
SLOWNESS: Final = 10  # of a game in which a network plays


class Plan:
    """A tournament, and all that decides its games.

    Arguments and errors are those of `war_agents.arena.Tournament`.
    """

    def __init__(
        self,
        agents: Sequence[Given],
        *,
        game: str,
        variants: str | Variant | Sequence[str | Variant] = "standard",
        deals: int,
        seed: int,
        until_separated: float | None = None,
        deterministic: bool = False,
        time_limit: float = 10.0,
        strict: bool = False,
        workers: int | None = None,
        ray: str | None = None,
    ) -> None:
        self.variants = _variants(game, variants)
        self.deals = integer("deals", deals, 1, MAX_DEALS)
        self.seed = integer("seed", seed, 0, seeding.MAX_SEED)
        self.until_separated = (
            None
            if until_separated is None
            else _between("until_separated", until_separated, 0.5, 1)
        )
        self.deterministic = _flag("deterministic", deterministic)
        self.strict = _flag("strict", strict)
        self.time_limit = _between("time_limit", time_limit, 0, math.inf)
        self._workers = None if workers is None else integer("workers", workers, 0, 1000)
        self._ray = ray
        if ray is not None and workers is not None:
            raise ValueError(f"workers={workers} is not allowed with ray; the cluster has its own")
        if isinstance(agents, str | Path) or len(agents) < 2:
            raise ValueError(f"agents={shown(agents)} is not allowed; give at least two")
        self._participants = [
            Participant.of(given, self.variants, deterministic=deterministic) for given in agents
        ]
        self.players = tuple(each.player for each in self._participants)
        self.warnings = tuple(each.warning for each in self._participants if each.warning)
        _refuse_doubles([player.name for player in self.players])

    @property
    def game(self) -> str:
        """``"attack-defence"`` or ``"strategic-war"``."""
        return self.variants[0].game

    @property
    def limited(self) -> tuple[bool, ...]:
        """For each player, is it held to the time limit? Agents of this package are not."""
        return tuple(not each.trusted for each in self._first_entrants)

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the games, but for who plays, as results.json has it."""
        return {
            "agents": [player.name for player in self.players],
            "game": self.game,
            "variants": [
                {"variant": variant.name, "options": variant.options} for variant in self.variants
            ],
            "deals": self.deals,
            "games_per_deal": games_per_deal(self.game),
            "seed": self.seed,
            "until_separated": self.until_separated,
            "deterministic": self.deterministic,
            "time_limit": self.time_limit,
        }

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what plays and of what computes the results."""
        # Of torch only where a network plays, whatever else this process may have loaded.
        networks = any(
            each.trusted and each.deterministic is not None for each in self._first_entrants
        )
        return _versions(["war-envs", "numpy", "numba", "scipy", *(["torch"] if networks else [])])

    def describe(self) -> dict[str, Any]:
        """What must be the same for a tournament to be resumed: settings, players, versions."""
        return {
            "settings": self.settings,
            "players": [dataclasses.asdict(player) for player in self.players],
            "versions": self.versions,
        }

    def match(self, variant: int, a: int, b: int, games: Games) -> MatchResult:
        """All games of a pair in a variant as a match."""
        pair = (self._participants[a].entrants[variant], self._participants[b].entrants[variant])
        return MatchResult.of(pair, self.variants[variant], self.seed, games)

    def pool(self, blocks: Sequence[Block]) -> Pool:
        """Who plays ``blocks``.

        Raises:
            ValueError: an agent cannot be sent to other processes.
            ImportError: Ray is asked for and missing.
        """
        trusted = all(each.trusted for each in self._first_entrants)
        networks = any(each.deterministic is not None for each in self._first_entrants)
        work = sum(block.games + BLOCK_COST for block in blocks)
        few = work * (SLOWNESS if networks else 1) <= FEW_GAMES
        if self._workers == 0 or (self._workers is None and self._ray is None and trusted and few):
            return InProcess(self._setup([each.here for each in self._participants]))
        setup = self._setup([each.sendable() for each in self._participants])
        if self._ray is not None:
            from war_agents.arena.playing.ray_pool import RayPool  # needs ray, which few have

            return RayPool(setup, self._ray)
        return Processes(setup, self._workers or num_cores())

    def _setup(self, players: Sequence[Origin]) -> Setup:
        return Setup(
            players=tuple(players),
            variants=self.variants,
            seed=self.seed,
            deterministic=self.deterministic,
            limited=self.limited,
            time_limit=self.time_limit,
            path=tuple(entry or os.getcwd() for entry in sys.path),
        )

    @property
    def _first_entrants(self) -> list[Entrant]:
        """Each player in the first variant."""
        return [each.entrants[0] for each in self._participants]


def _variants(game: str, given: str | Variant | Sequence[str | Variant]) -> tuple[Variant, ...]:
    if given == ALL:
        given = VARIANT_NAMES
    several = [given] if isinstance(given, str) or not isinstance(given, Sequence) else given
    if not several:
        raise ValueError(f"variants={shown(given)} is not allowed; give at least one")
    variants = tuple(make_variant(game, each) for each in several)
    _refuse_doubles([variant.name for variant in variants], "variants")
    return variants


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name}={shown(value)} is not allowed; give True or False")
    return value


def _between(name: str, value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
        raise ValueError(
            f"{name}={shown(value)} is not allowed; give a number above {low}"
            + (f" and below {high}" if high < math.inf else "")
        )
    return float(value)


def _refuse_doubles(names: Sequence[str], what: str = "agents") -> None:
    seen = set()
    for name in names:
        normal = os.path.normpath(name)
        if normal in seen:
            raise ValueError(f"{what} holds {shown(name)} twice; names must be different")
        seen.add(normal)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # used without an install
            found[package] = "unknown"
    return found
