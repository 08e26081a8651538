"""What a run is told of the learner's opponents."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from war_train.settings import Bounds, check_bounds, number

SELF: Final = "self"
PAST: Final = "past"
EXPLOITER: Final = "exploiter"
OPPONENTS: Final[Mapping[str, float]] = {
    SELF: 0.25,
    PAST: 0.15,
    EXPLOITER: 0.1,
    "memory": 0.45,
    "random": 0.05,
}


@dataclass(frozen=True, kw_only=True)
class LeagueConfig:
    """Who plays against the learner, as given; unchecked."""

    opponents: Mapping[str, float] | None = None
    """Shares of the games by opponent: the learner itself (self), its past selves (past), networks
    trained against it (exploiter), and any agents by name; by default self 0.25 past 0.15
    exploiter 0.1 memory 0.45 random 0.05."""
    past_every: int = 200_000
    """Steps between two copies of the learner that join its past selves."""
    past_size: int = 8
    """Past selves kept. Those that beat the learner are met more often; the one that it scores most
    against leaves first."""
    exploiter_every: int = 2_000_000
    """Steps between two exploiters, if they have a share: a copy of the learner learns to beat the
    learner as it is then, in games of its own, and joins the opponents."""
    exploiter_steps: int = 500_000
    """Steps that an exploiter learns; they come on top of the others."""
    exploiter_size: int = 4
    """Exploiters kept, by the same rule as past selves."""


@dataclass(frozen=True, kw_only=True)
class LeagueSettings(LeagueConfig):
    """A `LeagueConfig`, checked and complete.

    Raises:
        ValueError: a value that is not allowed, naming it.
    """

    opponents: Mapping[str, float] = field()

    @classmethod
    def of(cls, config: LeagueConfig) -> Self:
        """What ``config`` comes to."""
        given: dict[str, Any] = {f.name: getattr(config, f.name) for f in fields(LeagueConfig)}
        opponents = OPPONENTS if config.opponents is None else config.opponents
        return cls(**{**given, "opponents": opponents})

    def __post_init__(self) -> None:
        check_bounds(self, _INTEGERS)
        object.__setattr__(self, "opponents", checked_shares(self.opponents))


_INTEGERS: Final[Bounds] = (
    ("past_every", 1, 10**15),
    ("past_size", 1, 1000),
    ("exploiter_every", 1, 10**15),
    ("exploiter_steps", 1, 10**15),
    ("exploiter_size", 1, 1000),
)


def checked_shares(shares: Mapping[str, float]) -> dict[str, float]:
    """Shares of opponents by name, at least one of them above 0.

    Raises:
        ValueError: they are not.
    """
    given: object = shares  # whatever the caller passed
    if not isinstance(given, Mapping):
        raise ValueError(f"opponents={given!r} is not allowed; give names with their shares")
    checked = {}
    for name, share in given.items():
        if not isinstance(name, str):
            raise ValueError(f"opponents: {name!r} is not allowed; it must be a name")
        checked[name] = number(f"opponents[{name!r}]", share, 0.0, 1e9)
    if not any(checked.values()):
        raise ValueError(f"opponents={given!r} is not allowed; one share must be above 0")
    return checked
