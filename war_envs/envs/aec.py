"""The part of PettingZoo's AEC interface that both games share."""

import copy
from typing import Any, ClassVar

from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper

from war_envs.envs.attributes import Book
from war_envs.envs.books import AGENTS, RUNNING, Observation
from war_envs.envs.table import IllegalActionError, Table
from war_envs.messages import shown
from war_envs.state import State

Last = tuple[Observation | None, float, bool, bool, dict[str, Any]]


class TableAEC(Table, AECEnv[str, Observation, int | None]):
    """One game as an AEC environment: agents choose in turn. Subclasses say what a choice does.

    Attributes:
        agent_selection: whose turn it is.
    """

    api = "aec"
    leavings: ClassVar[tuple[int, ...]] = (0, 1, 2)

    with_a_game: ClassVar[tuple[str, ...]] = (*Table.with_a_game, "agent_selection")

    agent_selection: str

    @Book
    def _cumulative_rewards(self) -> dict[str, float]:
        """What each of ``agents`` has been brought since it chose last."""
        return self._results()

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

    def _due(self) -> str:
        """Whose choice it is in a running game."""
        raise NotImplementedError

    def _choose(self, seat: int, action: int) -> None:
        """Takes in the legal choice of the agent whose turn it is, and passes the turn on."""
        raise NotImplementedError

    def _require_agent(self) -> None:
        self._require_reset()
        if not self.agents if self._assigned else self._left == len(AGENTS):
            raise ValueError("the game is over and no agent is left; call reset()")

    def last(self, observe: bool = True) -> Last:
        """Observation, reward, termination, truncation and info of the agent whose turn it is.

        Args:
            observe: False leaves out the observation, for speed: it is None then.

        Raises:
            ValueError: the game is over and both agents have taken their last step.
        """
        if self._assigned or self._left == 2 or not self._facts:  # for speed: hardly ever so
            self._require_agent()
            return super().last(observe)
        agent = self.agent_selection
        observation, info = self.observe(agent) if observe else None, self._info(agent)
        if self._facts[0] == RUNNING:
            return observation, 0.0, False, False, info
        result = self._result(AGENTS.index(agent))
        return observation, result, self._terminated, self._truncated, info

    def step(self, action: int | None) -> None:
        """The agent whose turn it is chooses ``action``; None once that agent's game is over.

        Raises:
            ValueError: an action that is not legal now, None from a live agent, or anything else
                from one whose game is over; nothing has changed then.
        """
        if self._assigned or self._left == 2 or not self._facts:  # for speed: hardly ever so
            self._require_agent()
        agent = self.agent_selection
        if self._is_over(agent) if self._assigned else self._facts[0] != RUNNING:
            if action is not None:
                raise ValueError(
                    f"action={shown(action)}: the game of {agent} is over, step with None"
                )
            self._was_dead_step(None)
            return
        seat = AGENTS.index(agent)
        number = self._checked_action(seat, action)
        if "_cumulative_rewards" in self._assigned:
            self._cumulative_rewards[agent] = 0.0
        self._choose(seat, number)

    def _is_over(self, agent: str) -> bool:
        """Is the game over for an agent, by flags of which a wrapper may have assigned some?"""
        return self.terminations[agent] or self.truncations[agent]

    def _was_dead_step(self, action: int | None) -> None:
        """The agent whose turn it is leaves."""
        over = self._facts[0] != RUNNING
        if self._assigned:  # perhaps an end that the record does not know: PettingZoo's own way
            super()._was_dead_step(action)
            self.rewards = dict.fromkeys(self.agents, 0.0)
        if over:
            self._left += 1
            if not self._assigned:
                self._forget_shown()

    def _accumulate_rewards(self) -> None:
        """Adds ``rewards``, which a wrapper has assigned, to what `last` gives."""
        so_far = self._cumulative_rewards
        self._cumulative_rewards = {
            agent: so_far[agent] + reward for agent, reward in self.rewards.items()
        }

    def _keep_assigned(self) -> None:
        so_far = self._shown.get("_cumulative_rewards", {})
        given = "_cumulative_rewards" in self._assigned
        super()._keep_assigned()
        if given and self._facts[0] != RUNNING:
            self._cumulative_rewards = {
                agent: so_far[agent] + result for agent, result in self._results().items()
            }

    def _forget_shown(self) -> None:
        super()._forget_shown()
        running = self._facts[0] == RUNNING
        self.agent_selection = self._due() if running else AGENTS[self._left % len(AGENTS)]

    def _begin(self, position: State, beside: dict[str, Any]) -> None:
        super()._begin(position, beside)
        self._skip_agent_selection = None  # type: ignore[assignment]

    def forfeit(self, agent: str, action: int) -> None:
        """Ends a running game for an illegal ``action``: -1 to ``agent``, +1 to the other."""
        self._position.forfeit(AGENTS.index(agent))
        self._forfeited = action
        self._move_on(self._position.facts)


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
        if not self._has_reset:
            super().step(action)  # raises
        self._has_updated = True
        self.env.step(action)

    def __copy__(self) -> "_OrderEnforced":
        return copy.deepcopy(self)

    def __str__(self) -> str:
        return str(self.env)


def wrapped(raw: TableAEC) -> AECEnv[str, Observation, int | None]:
    """``raw`` in the wrappers that ``env()`` adds: illegal choices lose, wrong order is refused."""
    return _OrderEnforced(_IllegalActionLoses(raw))
