"""One game being played: what the AEC and the parallel environments share."""

import copy
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from war_envs import rendering
from war_envs.engine.engine import ENGINES, Hands
from war_envs.engine.layout import ENCODINGS, MEMORIES, checked_choice
from war_envs.envs import saved_state
from war_envs.envs.attributes import Copied
from war_envs.envs.books import AGENTS, Books, Observation
from war_envs.envs.reset_options import known_options
from war_envs.info import Ending
from war_envs.messages import shown
from war_envs.state import State
from war_envs.variant import Variant, integer

__all__ = ["AGENTS", "IllegalActionError", "Observation", "Table", "switch"]

RENDER_MODES = ("ansi",)


class IllegalActionError(ValueError):
    """An action of the action space that its agent may not choose now.

    Attributes:
        agent, action: who chose what.
    """

    agent: str
    action: int


class Table(Books):
    """A game record with its options; the base of all single-game environments.

    All that it is stands in the record and a few numbers beside it. What PettingZoo wants to read
    as attributes is made from them, and what callers write into it changes no game.

    Attributes:
        possible_agents: ``["player_0", "player_1"]``.
        observation_spaces, action_spaces: what the methods of nearly the same names look up.
        state_space: the space of `state`.
        variant: the rules that are played.
        encoding, memory, render_mode, render_view, info_text: as given.
    """

    api: ClassVar[str]
    # Of the whole state, what stands beside the record, by its name in a saved state.
    beside: ClassVar[tuple[str, ...]] = ("left", "forfeited")
    leavings: ClassVar[tuple[int, ...]] = (2,)  # how many may have left at the end of a game
    possible_agents = Copied(list(AGENTS))
    observation_spaces = Copied[dict[str, spaces.Space[Any]]]({})
    action_spaces = Copied[dict[str, spaces.Space[Any]]]({})

    def __init__(
        self,
        variant: Variant,
        encoding: str,
        memory: str,
        render_mode: str | None,
        render_view: str,
        info_text: bool = False,
    ) -> None:
        super().__init__()
        self.variant = variant
        self.encoding = checked_choice("encoding", encoding, ENCODINGS)
        self.memory = checked_choice("memory", memory, MEMORIES)
        if render_mode is not None:
            checked_choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.render_view = checked_choice("render_view", render_view, (*AGENTS, "all"))
        self.info_text = switch("info_text", info_text)
        self._engine = ENGINES[variant.game]
        layout, size = self._engine.layout, (variant.deck_size, variant.num_later_modes)
        num_actions = self._engine.num_actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": layout.space(encoding, *size),
                    "action_mask": spaces.Box(0, 1, (num_actions,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(num_actions) for agent in AGENTS}
        self.state_space = self._engine.global_layout.space(encoding, *size)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's ``{"observation": ..., "action_mask": ...}``, always the same
        object.
        """
        return self.observation_spaces[AGENTS[_seat(agent)]]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's actions, always the same object."""
        return self.action_spaces[AGENTS[_seat(agent)]]

    def observe(
        self, agent: str, *, encoding: str | None = None, memory: str | None = None
    ) -> Observation:
        """What ``agent`` observes now, in arrays of the caller's own.

        Args:
            agent: a player; at any time, not just on its turn.
            encoding, memory: what the observation holds; None: what all others do.

        Returns:
            ``observation``: float32 in [0, 1] or uint8, one axis (see the game's index table).
            ``action_mask``: int8, 1 for each legal action; all 0 where the agent has nothing to
                choose.
        """
        self._require_reset()
        if encoding is None:
            encoding = self.encoding
        if memory is None:
            memory = self.memory
        observation, mask = self._position.observe(_seat(agent), encoding=encoding, memory=memory)
        return {"observation": observation, "action_mask": mask}

    def state(self) -> NDArray[Any]:
        """The whole game as one array of the caller's own, for critics that may see everything.

        It shows all cards, so no player may be given it. What player_0 has committed in Attack and
        Defence while player_1 still chooses is not in it.

        Returns:
            float32 in [0, 1] or uint8, as ``encoding`` says, with one axis, always in
            ``state_space``: see the game's ``global_state`` module for what stands where.
        """
        self._require_reset()
        return self._position.observe_all(self.encoding)

    @property
    def status(self) -> Ending:
        """How the game stands: running, won, a tie, truncated, or lost by an illegal choice."""
        self._require_reset()
        return Ending(self._facts[0])

    @property
    def winner(self) -> int | None:
        """The seat that has won; None if nobody has, or not yet."""
        self._require_reset()
        return self._position.winner

    @property
    def turn(self) -> int:
        """Turns (rounds in Strategic War) finished."""
        self._require_reset()
        return self._position.turn

    @property
    def hands(self) -> Hands:
        """The true hands as card names, top first: (player_0's, player_1's)."""
        self._require_reset()
        return self._position.hands

    def known(self, agent: str) -> tuple[list[bool], list[bool]]:
        """For both hands, top first: does ``agent`` know the card at that place?"""
        self._require_reset()
        return self._position.known(_seat(agent))

    def render(self) -> str | None:
        """The table as text with ``render_mode="ansi"``, as ``render_view`` sees it; else None.

        Below it stand `event` and, at the end, `outcome`.
        """
        self._require_reset()
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode; use 'ansi'")
            return None
        if self.render_view == "all":
            picture = rendering.everything(self._engine, self.variant, self._position.games[0])
        else:
            tokens = self.observe(self.render_view, encoding="tokens")["observation"]
            seat, turn = _seat(self.render_view), self._position.turn
            picture = rendering.view(self._engine, self.variant, tokens, seat, turn)
        return "\n".join(filter(None, (picture, self.event, self.outcome)))

    def close(self) -> None:
        """Nothing is held open; may be called at any time."""

    def _deal(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Starts a game; checks everything before it changes anything."""
        spec = self._engine.spec
        if (
            not spec.has_first_attacker
            and isinstance(options, dict)
            and "first_attacker" in options
        ):
            raise ValueError(f"option 'first_attacker' is not for {spec.name}; it has none")
        options = known_options(options, spec.reset_options)
        first = options.get("first_attacker")
        first = None if first is None else _first_attacker(first)
        if seed is None and self.has_reset:
            dealt = self._position.next_deal(hands=options.get("hands"), first_attacker=first)
        else:
            dealt = State.deal(self.variant, seed, hands=options.get("hands"), first_attacker=first)
        self._begin(dealt, {"left": 0, "forfeited": None})

    def _begin(self, position: State, beside: dict[str, Any]) -> None:
        """Goes on from ``position``, and from what stands beside it (see `Table.beside`)."""
        self._position = position
        self._left, self._forfeited = beside["left"], beside["forfeited"]
        self._assigned = set()
        self._move_on(position.facts)

    def _play(self, *actions: int) -> None:
        """Plays legal actions."""
        self._position.play_legal(*actions)
        self._move_on(self._position.facts)

    def _checked_action(self, seat: int, action: object) -> int:
        """``action`` as a legal action of a seat's agent.

        Raises:
            ValueError: it is outside the action space, or (`IllegalActionError`) illegal now.
        """
        names = self._engine.actions
        if type(action) is int and 0 <= action < len(names):  # for speed: all but always so
            number = action
        else:
            try:
                number = integer("action", action, 0, len(names) - 1)
            except ValueError:
                agent = AGENTS[seat]
                known = ", ".join(f"{number} {name}" for number, name in enumerate(names))
                raise ValueError(
                    f"action={shown(action)} of {agent} is not an action; choose from {known}"
                ) from None
        if not self._facts[-1] >> (seat * len(names) + number) & 1:
            agent = AGENTS[seat]
            legal = ", ".join(f"{n} {a}" for n, a in enumerate(names) if self.is_legal(agent, n))
            error = IllegalActionError(
                f"action={number} ({names[number]}) of {agent} is illegal now; legal are {legal}"
            )
            error.agent, error.action = agent, number
            raise error
        return number

    def is_legal(self, agent: str, action: int) -> bool:
        """Is ``action``, one of the action space, legal for ``agent`` now?"""
        self._require_reset()
        return action in self._position.legal(_seat(agent))

    def clone(self) -> Self:
        """An independent copy that continues exactly as this one does, later deals included."""
        return copy.deepcopy(self)

    __copy__ = clone  # a shallow copy would share the record

    def get_state(self) -> bytes:
        """The whole state, as JSON in bytes: plain data, which `set_state` checks.

        What others have assigned to attributes is no part of it.
        """
        self._require_reset()
        beside = {name: getattr(self, f"_{name}") for name in self.beside}
        return saved_state.dumped(self._kind, beside, self._position.fields())

    def set_state(self, state: bytes) -> None:
        """Continues from a state that `get_state` gave, of the same game, variant and kind of
        environment.

        Raises:
            ValueError: it is not such a state; nothing has changed then.
        """
        beside, fields = saved_state.parsed(state, self._kind)
        position = State.from_fields(self.variant, fields)
        self._check_beside(beside, position)
        self._begin(position, beside)

    @property
    def _kind(self) -> saved_state.Kind:
        """What a state of this environment is of."""
        game, options = self.variant.game, self.variant.options
        return {"api": self.api, "game": game, "variant": options}

    def _check_beside(self, beside: Any, position: State) -> None:
        """Refuses what does not go with the position it comes with."""
        if not isinstance(beside, dict) or set(beside) != set(self.beside):
            raise ValueError(f"state: books must hold {', '.join(self.beside)}")
        left, forfeited = beside["left"], beside["forfeited"]
        allowed = self.leavings if position.over else (0,)
        if type(left) is not int or left not in allowed:
            raise ValueError(f"state: left is {shown(left)}, not one of {allowed}")
        if forfeited is None:
            return
        integer("state: forfeited", forfeited, 0, self._engine.num_actions - 1)
        if position.winner is None:
            raise ValueError(f"state: forfeited is {forfeited}, but nobody has won")


def switch(name: str, value: object) -> bool:
    """``value``, if it is True or False.

    Raises:
        ValueError: it is neither.
    """
    if not isinstance(value, bool):
        raise ValueError(f"{name}={shown(value)} is not allowed; it must be True or False")
    return value


def _seat(agent: object) -> int:
    if agent == AGENTS[0]:
        return 0
    if agent != AGENTS[1]:
        raise ValueError(f"agent={shown(agent)} is unknown; choose from {', '.join(AGENTS)}")
    return 1


def _first_attacker(value: object) -> int:
    """A seat, given as 0 or 1 or as an agent's name."""
    if isinstance(value, str):
        return AGENTS.index(checked_choice("first_attacker", value, AGENTS))
    return integer("first_attacker", value, 0, 1)
