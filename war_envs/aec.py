"""The part of PettingZoo's AEC interface that both games share."""

import copy
from typing import Any, ClassVar

from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper

from war_envs.kernels import RUNNING, TERMINATED, Records
from war_envs.messages import shown
from war_envs.table import AGENTS, IllegalActionError, Observation, Table, is_reward

Last = tuple[Observation | None, float, bool, bool, dict[str, Any]]


class TableAEC(Table, AECEnv[str, Observation, int | None]):
    """One game as an AEC environment: agents choose in turn. Subclasses say what a choice does."""

    api = "aec"
    books: ClassVar[tuple[str, ...]] = (
        *Table.books,
        "agent_selection",
        "_cumulative_rewards",
        "_skip_agent_selection",
    )
    agents_after_the_end: ClassVar[list[list[str]]] = [list(AGENTS), [AGENTS[1]], []]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deals a new game.

        Args:
            seed: an integer, 0 to 2**63 - 1, that fixes this deal and all that follow; None goes on
                with the environment's own generator (fresh entropy the first time).
            options: ``hands``: two sequences of card names, top first, to play from; Strategic War
                also takes ``first_attacker``, 0 or 1.

        Raises:
            ValueError: a bad seed or option; the game goes on as it was then.
        """
        self._deal(seed, options)

    def _open_books(self) -> None:
        super()._open_books()
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self._skip_agent_selection = None  # type: ignore[assignment]
        self.agent_selection = self._first_agent()

    def _first_agent(self) -> str:
        raise NotImplementedError

    def _due(self, books: dict[str, Any], games: Records) -> str:
        """Whose choice it is in a running game."""
        raise NotImplementedError

    def _choose(self, seat: int, action: int) -> None:
        """Takes in the legal choice of the agent whose turn it is, and passes the turn on."""
        raise NotImplementedError

    def _require_agent(self) -> None:
        self._require_reset()
        if not self.agents:
            raise ValueError("the game is over and no agent is left; call reset()")

    def last(self, observe: bool = True) -> Last:
        """Observation, reward, termination, truncation and info of the agent whose turn it is.

        Args:
            observe: False leaves out the observation, for speed: it is None then.

        Raises:
            ValueError: the game is over and both agents have taken their last step.
        """
        self._require_agent()
        return super().last(observe)

    def step(self, action: int | None) -> None:
        """The agent whose turn it is chooses ``action``; None once that agent's game is over.

        Raises:
            ValueError: an action that is not legal now, None from a live agent, or anything else
                from one whose game is over; nothing has changed then.
        """
        self._require_agent()
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise ValueError(
                    f"action={shown(action)}: the game of {agent} is over, step with None"
                )
            self._was_dead_step(action)
            self.rewards = dict.fromkeys(self.agents, 0.0)  # PettingZoo clears them with integers
            return
        seat = AGENTS.index(agent)
        number = self._checked_action(seat, action)
        self._cumulative_rewards[agent] = 0.0
        self._choose(seat, number)

    def _settle(self, status: int, event: str) -> None:
        """Writes the books after the record has moved on to ``status``."""
        self._write_books(status, event)
        if status != RUNNING:
            self._accumulate_rewards()
            self.agent_selection = AGENTS[0]

    def forfeit(self, agent: str, action: int) -> None:
        """Ends a running game for an illegal ``action``: -1 to ``agent``, +1 to the other."""
        seat = AGENTS.index(agent)
        self._cumulative_rewards[agent] = 0.0
        game = self._games[0]
        game["status"], game["winner"] = TERMINATED, 1 - seat
        name = self._engine.actions[action]
        self._settle(TERMINATED, f"{agent} chose {name}, which is illegal")
        for info in self.infos.values():
            info["illegal"] = agent
            info["outcome"] = f"{agent} made an illegal choice: {AGENTS[1 - seat]} wins"

    def _check_books(self, books: Any, games: Records) -> None:
        super()._check_books(books, games)
        self._check_book(books, "_cumulative_rewards", is_reward)
        # The dead step in turn: player_0 first, then player_1, then nobody.
        dead_step = books["agents"] == [AGENTS[1]]
        running = games[0]["status"] == RUNNING
        due = self._due(books, games) if running else AGENTS[1 if dead_step else 0]
        for name, right in (
            ("agent_selection", due),
            ("_skip_agent_selection", AGENTS[0] if dead_step else None),
        ):
            if books[name] != right:
                raise ValueError(f"state: {name} is {shown(books[name])}, not {right}")


class _IllegalActionLoses(BaseWrapper[str, Observation, int | None]):
    """An action that the mask forbids ends the game: -1 to the offender, +1 to the other."""

    def step(self, action: int | None) -> None:
        try:
            super().step(action)
        except IllegalActionError as error:
            raw: Any = self.unwrapped
            raw.forfeit(error.agent, error.action)

    def __copy__(self) -> "_IllegalActionLoses":
        return copy.deepcopy(self)

    def __str__(self) -> str:
        return str(self.env)


class _OrderEnforced(OrderEnforcingWrapper[str, Observation, int | None]):
    """PettingZoo's order check, with three differences.

    A game may have begun without it, by `set_state`; anything past the end is an error; and a copy
    is a whole copy.
    """

    @property
    def _has_reset(self) -> bool:
        raw: Any = self.env
        return self._reset_here or bool(raw.has_reset)

    @_has_reset.setter
    def _has_reset(self, value: bool) -> None:
        self._reset_here = value

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        self._has_updated = True  # a new loop may begin anywhere; within it, each turn needs a step
        return super().agent_iter(max_iter)

    def last(self, observe: bool = True) -> Last:
        return self.unwrapped.last(observe)

    def step(self, action: int | None) -> None:
        if self._has_reset and not self.agents:
            self.unwrapped.step(action)  # raises
        super().step(action)

    def __copy__(self) -> "_OrderEnforced":
        return copy.deepcopy(self)

    def __str__(self) -> str:
        return str(self.env)


def wrapped(raw: TableAEC) -> AECEnv[str, Observation, int | None]:
    """``raw`` in the wrappers that ``env()`` adds: illegal choices lose, wrong order is refused."""
    return _OrderEnforced(_IllegalActionLoses(raw))
