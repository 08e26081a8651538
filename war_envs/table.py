"""One game being played: what the AEC and the parallel environments share."""

import base64
import copy
import json
import operator
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from war_envs import rendering, seeding
from war_envs.encoding import ENCODINGS, MEMORIES, checked_choice
from war_envs.engine import ENGINES, Hands
from war_envs.kernels import RUNNING, TERMINATED, TRUNCATED, Records
from war_envs.messages import shown
from war_envs.variant import Variant, integer

AGENTS = ("player_0", "player_1")
RENDER_MODES = ("ansi",)
STATE_VERSION = 1

Observation = dict[str, NDArray[Any]]

_ROW = np.zeros(1, np.int64)
_SEATS = (np.array([0]), np.array([1]))


class IllegalActionError(ValueError):
    """An action of the action space that its agent may not choose now.

    Attributes:
        agent, action: who chose what.
    """

    agent: str
    action: int


class Table:
    """A game record with its options; the base of all single-game environments.

    Attributes:
        possible_agents: ``["player_0", "player_1"]``.
        observation_spaces, action_spaces: what the methods of nearly the same names look up.
        variant: the rules that are played.
        encoding, memory, render_mode, render_view: as given.
    """

    metadata: dict[str, Any]
    api: ClassVar[str]
    # What exists only between reset() and the end; subclasses name their own.
    books: ClassVar[tuple[str, ...]] = ("agents", "rewards", "terminations", "truncations", "infos")
    agents_after_the_end: ClassVar[list[list[str]]] = [[]]

    observation_spaces: dict[str, spaces.Space[Any]]
    action_spaces: dict[str, spaces.Space[Any]]
    agents: list[str]
    rewards: dict[str, float]
    terminations: dict[str, bool]
    truncations: dict[str, bool]
    infos: dict[str, dict[str, Any]]

    def __init__(
        self,
        variant: Variant,
        encoding: str,
        memory: str,
        render_mode: str | None,
        render_view: str,
    ) -> None:
        super().__init__()
        self.variant = variant
        self.encoding = checked_choice("encoding", encoding, ENCODINGS)
        self.memory = checked_choice("memory", memory, MEMORIES)
        if render_mode is not None:
            checked_choice("render_mode", render_mode, RENDER_MODES)
        self.render_mode = render_mode
        self.render_view = checked_choice("render_view", render_view, (*AGENTS, "all"))
        self.possible_agents = list(AGENTS)
        self._engine = ENGINES[variant.game]
        layout = self._engine.encoding
        num_actions = self._engine.num_actions
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": layout.space(encoding, variant.deck_size),
                    "action_mask": spaces.Box(0, 1, (num_actions,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: spaces.Discrete(num_actions) for agent in AGENTS}
        self._deck_size = variant.deck_size
        self._games = self._engine.new_games(variant, 1)

    def __getattr__(self, name: str) -> Any:
        # Reached only for attributes that are not there: the books before the first reset.
        if name in type(self).books or name == "num_agents":
            raise AttributeError(f"{name} is not there yet: call reset() first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def _game(self) -> Any:
        self._require_reset()
        return self._games[0]

    @property
    def has_reset(self) -> bool:
        """Has a game been dealt, or set by `set_state`?"""
        return "agents" in self.__dict__

    def _require_reset(self) -> None:
        if "agents" not in self.__dict__:  # as `has_reset`, without the call
            raise RuntimeError("no game has been dealt yet: call reset() first")

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
        if encoding not in ENCODINGS or memory not in MEMORIES:
            checked_choice("encoding", encoding, ENCODINGS)
            checked_choice("memory", memory, MEMORIES)
        observer = self._engine.observer(encoding, self._deck_size)
        observation = np.empty((1, observer.size), observer.dtype)
        mask = np.empty((1, self._engine.num_actions), np.int8)
        seat, perfect = _SEATS[_seat(agent)], memory == "perfect"
        observer.write(self._games, 0, 1, _ROW, seat, perfect, 0, observation, mask)
        return {"observation": observation[0], "action_mask": mask[0]}

    @property
    def hands(self) -> Hands:
        """The true hands as card names, top first: (player_0's, player_1's)."""
        engine, game = self._engine, self._game
        return (
            engine.card_names(engine.hand(game, 0)),
            engine.card_names(engine.hand(game, 1)),
        )

    def known(self, agent: str) -> tuple[list[bool], list[bool]]:
        """For both hands, top first: does ``agent`` know the card at that place?"""
        return self._engine.known(self._game, _seat(agent))

    def render(self) -> str | None:
        """The table as text with ``render_mode="ansi"``, as ``render_view`` sees it; else None."""
        self._require_reset()
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode; use 'ansi'")
            return None
        if self.render_view == "all":
            return rendering.everything(self._engine, self.variant, self._game)
        tokens = self.observe(self.render_view, encoding="tokens")["observation"]
        seat = _seat(self.render_view)
        return rendering.view(self._engine, self.variant, tokens, seat, int(self._game["turn"]))

    def close(self) -> None:
        """Nothing is held open; may be called at any time."""

    def _deal(self, seed: int | None, options: dict[str, Any] | None) -> None:
        """Starts a game; checks everything before it changes anything."""
        options = {} if options is None else options
        if not isinstance(options, dict):
            raise ValueError(f"options={shown(options)} is not allowed; it must be a dict or None")
        allowed = ("hands",) if self._engine.simultaneous else ("hands", "first_attacker")
        for option in options:
            if option not in allowed:
                raise ValueError(
                    f"option {shown(option)} is unknown; reset takes {', '.join(allowed)}"
                )
        games = self._games.copy()
        if seed is not None or not games["rng"].any():
            games["rng"][0] = seeding.generator_state(
                seeding.checked_seed(seed), seeding.TRAINING, lane=0
            )
        if not self._engine.simultaneous:
            first = options.get("first_attacker")
            games["first"] = -1 if first is None else _first_attacker(first)
        hands = options.get("hands")
        if hands is None:
            self._engine.deal(games, _ROW)
        else:
            self._engine.lay_hands(games, 0, self._engine.parse_hands(self.variant, hands))
            self._engine.start(games, _ROW)
        self._games = games
        self._open_books()

    def _open_books(self) -> None:
        self.agents = list(AGENTS)
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos = {agent: {"event": "", "outcome": ""} for agent in AGENTS}

    def _play(self, *actions: int) -> tuple[int, ...]:
        """Plays legal actions; the status comes first in what `play_one` of the game returns."""
        result: tuple[int, ...] = self._engine.module.rules.play_one(self._games, *actions)
        return result

    def _write_books(self, status: int, event: str) -> None:
        """Rewards, flags and infos of the record, which has just moved on to ``status``."""
        outcome = ""
        if status != RUNNING:  # while a game runs they stay as they are
            game = self._games[0]
            terminated = bool(status == TERMINATED)  # NumPy's with the JIT off
            winner = int(game["winner"]) if terminated else -1
            won = (0.0, 0.0) if winner < 0 else ((-1.0, 1.0) if winner else (1.0, -1.0))
            self.rewards = dict(zip(AGENTS, won, strict=True))
            self.terminations = dict.fromkeys(AGENTS, terminated)
            self.truncations = dict.fromkeys(AGENTS, not terminated)
            outcome = self._engine.module.words.outcome(game)
        first, second = AGENTS
        self.infos = {
            first: {"event": event, "outcome": outcome},
            second: {"event": event, "outcome": outcome},
        }

    def _checked_action(self, seat: int, action: object) -> int:
        """``action`` as a legal action of a seat's agent.

        Raises:
            ValueError: it is outside the action space, or (`IllegalActionError`) illegal now.
        """
        engine, names = self._engine, self._engine.actions
        try:
            number = integer("action", action, 0, len(names) - 1)
        except ValueError:
            agent = AGENTS[seat]
            known = ", ".join(f"{number} {name}" for number, name in enumerate(names))
            raise ValueError(
                f"action={shown(action)} of {agent} is not an action; choose from {known}"
            ) from None
        if not engine.module.rules.is_legal(self._games, 0, seat, number):
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
        return bool(self._engine.is_legal(self._games, 0, _seat(agent), action))

    def clone(self) -> Self:
        """An independent copy that continues exactly as this one does, later deals included."""
        return copy.deepcopy(self)

    __copy__ = clone  # a shallow copy would share the record

    def get_state(self) -> bytes:
        """The whole state, as JSON in bytes: plain data, which `set_state` checks."""
        self._require_reset()
        state = {
            "war_envs": STATE_VERSION,
            "api": self.api,
            "game": self.variant.game,
            "variant": self.variant.options,
            "books": {name: getattr(self, name) for name in self.books},
            "record": base64.b64encode(self._games.tobytes()).decode(),
        }
        return json.dumps(state).encode()

    def set_state(self, state: bytes) -> None:
        """Continues from a state that `get_state` gave, of the same game, variant and kind of
        environment.

        Raises:
            ValueError: it is not such a state; nothing has changed then.
        """
        content = _parsed_state(state)
        for name, own in (
            ("war_envs", STATE_VERSION),
            ("api", self.api),
            ("game", self.variant.game),
            ("variant", self.variant.options),
        ):
            if content.get(name) != own:
                raise ValueError(f"state: {name} is {shown(content.get(name))}, not {own!r}")
        games = self._parsed_record(content.get("record"))
        self._engine.check_record(games, self.variant)
        books: Any = content.get("books")
        self._check_books(books, games)
        self._games = games
        for name in self.books:
            setattr(self, name, books[name])

    def _parsed_record(self, record: object) -> Records:
        try:
            data = base64.b64decode(record, validate=True)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            data = b""
        if len(data) != self._games.nbytes:
            raise ValueError(f"state: the record must be {self._games.nbytes} bytes in base64")
        return np.frombuffer(data, self._engine.dtype).copy()

    def _check_books(self, books: Any, games: Records) -> None:
        """Refuses books that do not go with the record they come with."""
        if not isinstance(books, dict) or set(books) != set(self.books):
            raise ValueError(f"state: books must hold {', '.join(self.books)}")
        status = games[0]["status"]
        agents = books["agents"]
        allowed = [list(AGENTS)] if status == RUNNING else self.agents_after_the_end
        if agents not in allowed:
            raise ValueError(f"state: agents is {shown(agents)}, not one of {allowed}")
        self._check_book(books, "terminations", partial(operator.is_, bool(status == TERMINATED)))
        self._check_book(books, "truncations", partial(operator.is_, bool(status == TRUNCATED)))
        self._check_book(books, "rewards", is_reward)
        self._check_book(books, "infos", _is_info)

    @staticmethod
    def _check_book(books: dict[str, Any], name: str, is_right: Callable[[Any], bool]) -> None:
        """Refuses a book that is not one right entry for each agent."""
        book, agents = books[name], books["agents"]
        if not isinstance(book, dict) or set(book) != set(agents):
            raise ValueError(f"state: {name} is {shown(book)}, not one entry for each of {agents}")
        if not all(map(is_right, book.values())):
            raise ValueError(f"state: {name} is {shown(book)}, which does not fit the record")


def is_reward(value: object) -> bool:
    """Is ``value`` a reward that an agent can have?"""
    return type(value) is float and value in (-1.0, 0.0, 1.0)


def _is_info(value: object) -> bool:
    return (
        isinstance(value, dict)
        and {"event", "outcome"} <= set(value)
        and all(isinstance(text, str) for text in value.values())
    )


def _seat(agent: object) -> int:
    if agent not in AGENTS:
        raise ValueError(f"agent={shown(agent)} is unknown; choose from {', '.join(AGENTS)}")
    return AGENTS.index(agent)


def _first_attacker(value: object) -> int:
    """A seat, given as 0 or 1 or as an agent's name."""
    if isinstance(value, str):
        return AGENTS.index(checked_choice("first_attacker", value, AGENTS))
    return integer("first_attacker", value, 0, 1)


def _parsed_state(state: object) -> dict[str, Any]:
    if not isinstance(state, bytes | bytearray):
        raise ValueError(f"state is a {type(state).__name__}; it must be bytes from get_state()")
    try:
        content = json.loads(state)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise ValueError("state is not one that get_state() gave")
    return content
