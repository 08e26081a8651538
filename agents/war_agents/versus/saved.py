"""A seat's game against an agent as bytes: JSON around the game's own state."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

from numpy.typing import NDArray

from war_agents import plain
from war_envs.envs.saved_state import parsed_json, require_version
from war_envs.messages import shown
from war_envs.variant import integer

_VERSION: Final = 2

# What a state of many games is of: its version, game, variant, ...
Kind = dict[str, Any]


@dataclass(frozen=True)
class VersusState:
    """What `war_agents.versus.single.VersusEnv` goes on from, as JSON.

    Attributes:
        seat: the player's seat in this game, 0 or 1.
        events: what has happened since the player's last choice, in words.
        seats: where the draw of the seats stands.
        opponent: where the opponent's draws stand, and what it remembers.
        table: the state of the game.
    """

    seat: int
    events: list[str]
    seats: Any
    opponent: Any
    table: Any

    def dumped(self) -> bytes:
        """The state as bytes."""
        return json.dumps({"versus": _VERSION, **asdict(self)}, allow_nan=False).encode()

    @classmethod
    def parsed(cls, state: object) -> Self:
        """What `dumped` has made ``state`` of; only ``seat`` and ``events`` are checked.

        Raises:
            ValueError: it has made no such thing.
        """
        content = parsed_json(state)
        require_version(content, "versus", _VERSION)
        names = [field.name for field in fields(cls)]
        if set(content) != {"versus", *names}:
            raise ValueError(f"state must hold versus, {', '.join(names)}")
        del content["versus"]
        integer("state: seat", content["seat"], 0, 1)
        events = content["events"]
        if not isinstance(events, list) or not all(isinstance(text, str) for text in events):
            raise ValueError(f"state: events is {shown(events)}, not a list of texts")
        return cls(**content)


def dumped_games(kind: Kind, games: dict[str, NDArray[Any]]) -> bytes:
    """The state of many games as bytes: what it is of, and arrays."""
    arrays = {name: plain.encoded(array) for name, array in games.items()}
    content = {"versus_vector": _VERSION, **kind, "games": arrays}
    return json.dumps(content, allow_nan=False).encode()


def parsed_games(state: object, kind: Kind) -> dict[str, Any]:
    """The ``games`` that `dumped_games` was given with ``kind``, not checked any further.

    Raises:
        ValueError: it has made no such state.
    """
    content = parsed_json(state)
    require_version(content, "versus_vector", _VERSION)
    for name, own in kind.items():
        if name not in content or content[name] != own:
            raise ValueError(f"state: {name} is {shown(content.get(name))}, not {own!r}")
    games = content.get("games")
    if not isinstance(games, dict):
        raise ValueError(f"state: games is {shown(games)}, not arrays by name")
    try:
        return {name: plain.decoded(array) for name, array in games.items()}
    except ValueError as error:
        raise ValueError(f"state: games: {error}") from None
