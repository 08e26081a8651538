"""What a tournament is asked to be."""

import math
import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from war_agents.arena.match import MAX_DEALS
from war_agents.arena.places import games_per_deal
from war_agents.arena.players import Given
from war_envs.engine import seeding
from war_envs.messages import shown
from war_envs.variant import ALL, VARIANT_NAMES, Variant, integer, make_variant


@dataclass(frozen=True)
class Settings:
    """What is played by whom, and how; checked.

    Attributes:
        agents: at least two of different names: names and paths as `war_agents.make` takes them,
            ``"module:factory"``, or agents.
        game: ``"attack-defence"`` or ``"strategic-war"``.
        variants: one or several, by name or as variants; ``"all"`` is every mode.
        deals: for each pair in each variant, 1 to 10,000,000; each is played from both seats, in
            Strategic War with both first attackers too. With ``until_separated`` the most there may
            be.
        seed: 0 to 2**63 - 1.
        until_separated: play on until the order of all agents by their mean scores is decided, at
            this family-wise confidence, such as 0.95; see `war_agents.arena.stats.separation`.
        deterministic: trained agents take their most probable actions, and do not sample.
        time_limit: seconds that an agent may take for a choice, 1,000 choices of one call for twice
            as long, and so on; whoever takes longer loses the game. Agents of this package are not
            held to it.
        strict: the first game that an agent loses by failing ends the tournament with an error; the
            games before it are kept, and it can be resumed, strict or not.
        workers: processes that play, each with one thread. None: one per core, or this process
            alone for few games of this package's agents; 0: this process alone, where an agent that
            hangs or exits takes all with it.
        ray: the address of a Ray cluster to play on (``"auto"``, or as `ray.init` takes it), in the
            place of processes on this machine.

    Raises:
        ValueError: a value that is not allowed.
    """

    agents: Sequence[Given]
    _: KW_ONLY
    game: str
    variants: str | Variant | Sequence[str | Variant] = "standard"
    deals: int
    seed: int
    until_separated: float | None = None
    deterministic: bool = False
    time_limit: float = 10.0
    strict: bool = False
    workers: int | None = None
    ray: str | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "deals", integer("deals", self.deals, 1, MAX_DEALS))
        set_(self, "seed", integer("seed", self.seed, 0, seeding.MAX_SEED))
        if self.until_separated is not None:
            confidence = _between("until_separated", self.until_separated, 0.5, 1)
            set_(self, "until_separated", confidence)
        _require_flag("deterministic", self.deterministic)
        _require_flag("strict", self.strict)
        set_(self, "time_limit", _between("time_limit", self.time_limit, 0, math.inf))
        if self.workers is not None:
            set_(self, "workers", integer("workers", self.workers, 0, 1000))
            if self.ray is not None:
                raise ValueError(
                    f"workers={self.workers} is not allowed with ray; the cluster has its own"
                )
        if isinstance(self.agents, str | Path) or len(self.agents) < 2:
            raise ValueError(f"agents={shown(self.agents)} is not allowed; give at least two")
        set_(self, "agents", tuple(self.agents))
        refuse_doubles("variants", [variant.name for variant in self.played])

    @cached_property
    def played(self) -> tuple[Variant, ...]:
        """``variants``, made."""
        given = VARIANT_NAMES if self.variants == ALL else self.variants
        several = [given] if isinstance(given, str) or not isinstance(given, Sequence) else given
        if not several:
            raise ValueError(f"variants={shown(given)} is not allowed; give at least one")
        return tuple(make_variant(self.game, each) for each in several)

    def to_json(self, names: Sequence[str]) -> dict[str, Any]:
        """All that decides the games, as results.json has it; agents by their ``names``."""
        return {
            "agents": list(names),
            "game": self.game,
            "variants": [
                {"variant": variant.name, "options": variant.options} for variant in self.played
            ],
            "deals": self.deals,
            "games_per_deal": games_per_deal(self.game),
            "seed": self.seed,
            "until_separated": self.until_separated,
            "deterministic": self.deterministic,
            "time_limit": self.time_limit,
        }


def refuse_doubles(what: str, names: Sequence[str]) -> None:
    """Refuses names of which two are the same, as paths or as they are.

    Raises:
        ValueError: naming the second.
    """
    seen = set()
    for name in names:
        normal = os.path.normpath(name)
        if normal in seen:
            raise ValueError(f"{what} holds {shown(name)} twice; names must be different")
        seen.add(normal)


def _require_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name}={shown(value)} is not allowed; give True or False")


def _between(name: str, value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
        raise ValueError(
            f"{name}={shown(value)} is not allowed; give a number above {low}"
            + (f" and below {high}" if high < math.inf else "")
        )
    return float(value)
