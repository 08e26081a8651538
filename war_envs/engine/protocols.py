"""What the engine asks of a game: the modules of its package, and what stands in each."""

from typing import Any, Protocol

import numpy as np

from war_envs.engine.kernels import Integer, Record, Records
from war_envs.engine.layout import Layout


class Rules(Protocol):
    """A game's kernels, on its records. Rows are int64 (K,), actions int64 (B, 2)."""

    @property
    def GAME(self) -> np.dtype[Any]: ...  # noqa: N802 - a constant of a module
    def deal_rows(self, games: Records, rows: Any, /) -> None: ...
    def start_rows(self, games: Records, rows: Any, /) -> None: ...
    def rebuild_rows(self, games: Records, rows: Any, /) -> None: ...
    def play_one(self, games: Records, /, *actions: Integer) -> tuple[int, ...]: ...
    def play_rows(self, games: Records, actions: Any, /) -> None: ...
    def step_rows(
        self,
        games: Records,
        first: Integer,
        last: Integer,
        actions: Any,
        autoreset: bool,
        rewards: Any,
        terminated: Any,
        truncated: Any,
        ended: Any,
        finals: Records,
        /,
    ) -> Integer: ...
    def is_legal(self, games: Records, row: Integer, seat: Integer, action: Integer, /) -> bool: ...
    def first_illegal(
        self, games: Records, first: Integer, last: Integer, actions: Any, /
    ) -> Integer: ...
    def facts(self, games: Records, /) -> tuple[int, ...]: ...
    def facts_rows(self, games: Records, rows: Any, out: Any, /) -> None: ...


class TurnBasedRules(Rules, Protocol):
    """Of a game in which the players choose in turn, too."""

    def movers(self, games: Records, first: Integer, last: Integer, out: Any, /) -> None: ...


class GameRecord(Protocol):
    """What a game's records hold beside what all records do (`war_envs.engine.record`)."""

    @property
    def PRIMARY(self) -> tuple[str, ...]: ...  # noqa: N802
    @property
    def RANGES(self) -> dict[str, tuple[int, int]]: ...  # noqa: N802
    @property
    def CARDS(self) -> tuple[str, ...]: ...  # noqa: N802
    def prepare(self, games: Records, variant: Any, /) -> None: ...
    def seen(self, game: Record, viewer: int, /) -> int: ...
    def phase(self, game: Record, /) -> str: ...
    def table(self, game: Record, /) -> list[int]: ...
    def vacant(self, game: Record, /) -> Any: ...
    def check_progress(self, game: Record, /) -> None: ...
    def tells_last(self, game: Record, /) -> bool: ...


class Observation(Protocol):
    """How a player's observations are laid out and written."""

    @property
    def LAYOUT(self) -> Layout: ...  # noqa: N802
    def observe_tokens(
        self,
        games: Records,
        first: Integer,
        last: Integer,
        rows: Any,
        seats: Any,
        perfect: bool,
        filler: Integer,
        out: Any,
        masks: Any,
        /,
    ) -> None: ...
    def observe_vector(
        self,
        scales: Any,
        features: Any,
        size: Integer,
        games: Records,
        first: Integer,
        last: Integer,
        rows: Any,
        seats: Any,
        perfect: bool,
        filler: Integer,
        out: Any,
        masks: Any,
        /,
    ) -> None: ...


class GlobalState(Protocol):
    """How the whole game as one array is laid out and written."""

    @property
    def LAYOUT(self) -> Layout: ...  # noqa: N802
    def write_tokens(self, games: Records, row: Integer, out: Any, /) -> None: ...


class Knowledge(Protocol):
    """What is known, as keys and as other deals. ``who``: see `war_envs.engine.knowledge`."""

    def write_key(
        self,
        games: Records,
        row: Integer,
        who: Integer,
        turn: bool,
        last: bool,
        suits: bool,
        out: Any,
        /,
    ) -> Integer: ...
    def redeal(self, games: Records, row: Integer, who: Integer, /) -> None: ...


class Info(Protocol):
    """The numbers of an info, by name."""

    def numbers(self, *facts: int) -> dict[str, int]: ...


class Words(Protocol):
    """What happens, in words."""

    @property
    def ACTIONS(self) -> tuple[str, ...]: ...  # noqa: N802
    @property
    def FACES(self) -> tuple[str, ...]: ...  # noqa: N802
    def event(self, game: Any, /) -> str: ...
    def outcome(self, game: Any, /) -> str: ...


class GameModule(Protocol):
    """A game's package."""

    @property
    def rules(self) -> Rules: ...
    @property
    def record(self) -> GameRecord: ...
    @property
    def observation(self) -> Observation: ...
    @property
    def global_state(self) -> GlobalState: ...
    @property
    def info(self) -> Info: ...
    @property
    def knowledge(self) -> Knowledge: ...
    @property
    def words(self) -> Words: ...
