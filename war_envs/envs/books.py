"""What PettingZoo's loops and wrappers read of a game: who plays, rewards, flags and infos."""

from typing import Any, ClassVar, Final

from numpy.typing import NDArray

from war_envs.engine.engine import Engine
from war_envs.envs.attributes import Book
from war_envs.info import Ending, Info
from war_envs.state import State

AGENTS = ("player_0", "player_1")
# As they stand first in a record's facts: plain integers are compared faster.
RUNNING: Final = int(Ending.RUNNING)
TRUNCATED: Final = int(Ending.TRUNCATED)

Observation = dict[str, NDArray[Any]]


class Books:
    """What is told of a game, made from its record; nothing is ever read back from it.

    Attributes:
        agents: who still plays, or has yet to be shown the end.
        rewards: what the last step brought each agent.
        terminations, truncations: has the game really ended, has it been cut off at its limit?
        infos: numbers, under the same keys at all times (see the game's ``info`` module).
    """

    with_a_game: ClassVar[tuple[str, ...]] = ("agents", "num_agents")

    agents: list[str]
    info_text: bool
    _engine: Engine
    _position: State

    def __init__(self) -> None:
        super().__init__()
        self._facts: tuple[int, ...] = ()  # of the record, once a game has been dealt
        self._numbers: dict[str, int] | None = None  # the same by name, once somebody has asked
        self._left = 0  # how many agents have left after the end
        self._forfeited: int | None = None  # the illegal action that has ended the game
        self._shown: dict[str, Any] = {}
        self._assigned: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        # Reached only for attributes that are not there, such as those of a game before the first.
        if name in self.with_a_game or isinstance(getattr(type(self), name, None), Book):
            raise AttributeError(f"{name} is not there yet: call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def has_reset(self) -> bool:
        """Has a game been dealt, or set by `set_state`?"""
        return bool(self._facts)

    def _require_reset(self) -> None:
        if not self._facts:
            raise RuntimeError("no game has been dealt yet: call reset() first")

    def observe(self, agent: str) -> Observation:
        """What ``agent`` observes now."""
        raise NotImplementedError

    @Book
    def rewards(self) -> dict[str, float]:
        """What the last step brought each of `agents`."""
        return self._by_agent(0.0) if self._left else self._results()

    @Book
    def terminations(self) -> dict[str, bool]:
        """For each of `agents`: has the game really ended?"""
        return self._by_agent(self._terminated)

    @Book
    def truncations(self) -> dict[str, bool]:
        """For each of `agents`: has the game been cut off at its limit?"""
        return self._by_agent(self._truncated)

    @Book
    def infos(self) -> dict[str, dict[str, Any]]:
        """For each of `agents`: the numbers that the game's ``info`` module names."""
        return {agent: self._info(agent) for agent in AGENTS[self._left :]}

    def _by_agent(self, value: Any) -> dict[str, Any]:
        return dict.fromkeys(AGENTS[self._left :], value)

    @property
    def _terminated(self) -> bool:
        return self._facts[0] not in (RUNNING, TRUNCATED)

    @property
    def _truncated(self) -> bool:
        return self._facts[0] == TRUNCATED

    def _result(self, seat: int) -> float:
        """What the game has brought a seat: 0.0 while it runs."""
        winner = self._facts[1]
        return 0.0 if winner < 0 else (1.0 if winner == seat else -1.0)

    def _results(self) -> dict[str, float]:
        """`_result` for each of `agents`."""
        seats = range(self._left, len(AGENTS))
        return {AGENTS[seat]: self._result(seat) for seat in seats}

    @property
    def over(self) -> bool:
        """Has the game ended, or been cut off at its limit?"""
        self._require_reset()
        return self._facts[0] != RUNNING

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers that infos hold now, in a dict of the caller's own."""
        self._require_reset()
        return {**self._numbers_now()}

    def _numbers_now(self) -> dict[str, int]:
        if self._numbers is None:
            self._numbers = self._engine.module.info.numbers(*self._facts)
        return self._numbers

    def _info(self, agent: str) -> dict[str, Any]:
        info = Info(self._numbers or self._numbers_now())
        info.num_actions = num_actions = self._engine.num_actions
        info.legal = self._facts[-1] >> AGENTS.index(agent) * num_actions
        if self.info_text:
            info |= {"event": self.event, "outcome": self.outcome}
        return info

    @property
    def event(self) -> str:
        """What happened last, in words, as both players saw it; empty after a deal."""
        if self._forfeited is None:
            self._require_reset()
            return self._position.event
        offender = AGENTS[1 - self._facts[1]]
        return f"{offender} chose {self._engine.actions[self._forfeited]}, which is illegal"

    @property
    def outcome(self) -> str:
        """How the game ended, in words; empty while it runs."""
        if self._forfeited is None:
            self._require_reset()
            return self._position.outcome
        winner = self._facts[1]
        return f"{AGENTS[1 - winner]} made an illegal choice: {AGENTS[winner]} wins"

    def _move_on(self, facts: tuple[int, ...]) -> None:
        """The game has moved on to ``facts``, so that what has been shown of it is out of date."""
        if self._forfeited is not None:
            facts = (int(Ending.ILLEGAL), facts[1], 1 - facts[1], *facts[3:])
        self._facts, self._numbers = facts, None
        self._forget_shown()

    def _forget_shown(self) -> None:
        """What has been shown is made anew when it is asked for."""
        self.agents = [*AGENTS[self._left :]] if self._left else [*AGENTS]
        if self._assigned:
            self._keep_assigned()
        else:
            self._shown.clear()

    def _keep_assigned(self) -> None:
        """What others have assigned stays while the game runs, but for what each step writes."""
        self._assigned = self._assigned - {"infos"} if self._facts[0] == RUNNING else set()
        self._shown = {name: self._shown[name] for name in self._assigned}
