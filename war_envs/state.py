"""One position of a game as a value: what search, solvers and single environments stand on.

>>> from war_envs.state import State
>>> from war_envs.variant import make_variant
>>> state = State.deal(make_variant("attack-defence", minimal=True, num_ranks=3), seed=1)
>>> state.acting, state.legal(0)
((0, 1), (0, 1))
>>> after = state.clone()
>>> after.apply((0, 1))
>>> state.turn, after.turn
(0, 1)
"""

from collections.abc import Sequence
from typing import Any, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray

from war_envs.engine import record, seeding
from war_envs.engine.engine import ENGINES, Engine, Hands
from war_envs.engine.kernels import Records
from war_envs.engine.knowledge import ALL, KEY_BYTES, PUBLIC
from war_envs.engine.layout import ENCODINGS, MEMORIES, checked_choice
from war_envs.info import Ending
from war_envs.messages import shown
from war_envs.variant import AttackDefenceVariant, StrategicWarVariant, Variant, integer

Viewer = Literal[0, 1, "public"]

_ROW: Final = np.zeros(1, np.int64)
_SEATS: Final = (np.array([0]), np.array([1]))
_ENDINGS: Final = tuple(Ending)
# Of each bit mask, the places of its bits.
_PLACES: Final = tuple(tuple(p for p in range(4) if bits >> p & 1) for bits in range(16))
# Where in the facts of a record stand what both games have.
_ENDING, _WINNER, _TURN = 0, 1, 3


class State:
    """A position, and the generator of the deals to come.

    Seats are 0 and 1. Actions are the game's, by number (``war_envs.<game>.words.ACTIONS``).

    Attributes:
        variant: the rules that are played.
    """

    __slots__ = ("_engine", "_facts", "_games", "variant")

    variant: Variant
    _engine: Engine
    _games: Records
    _facts: tuple[int, ...]

    @classmethod
    def deal(
        cls,
        variant: Variant,
        seed: int | None = None,
        *,
        hands: Sequence[Sequence[str]] | None = None,
        first_attacker: int | None = None,
    ) -> Self:
        """A new game: what an environment deals from the same seed.

        Args:
            variant: what is played.
            seed: 0 to 2**63 - 1; None takes fresh entropy.
            hands: for each seat, card names such as ``"TH"``, top first; None deals them.
            first_attacker: 0 or 1, in games that have one; None draws it.

        Raises:
            ValueError: an argument that is not allowed.
        """
        games = _engine_of(variant).new_games(variant, 1)
        number = seeding.checked_seed(seed)
        games["rng"][0] = seeding.generator_state(number, seeding.TRAINING, lane=0)
        undealt = cls._of(variant, games, ())
        return undealt.next_deal(hands=hands, first_attacker=first_attacker)

    @classmethod
    def from_hands(
        cls,
        variant: Variant,
        hands: Sequence[Sequence[str]],
        *,
        first_attacker: int | None = None,
        seed: int | None = 0,
    ) -> Self:
        """The start of a game from given hands: `deal` with them.

        The seed draws the first attacker, unless one is given, and the deals that follow.
        """
        return cls.deal(variant, seed, hands=hands, first_attacker=first_attacker)

    @classmethod
    def _of(cls, variant: Variant, games: Records, facts: tuple[int, ...]) -> Self:
        state = object.__new__(cls)
        state.variant, state._engine = variant, ENGINES[variant.game]
        state._games, state._facts = games, facts
        return state

    def next_deal(
        self,
        *,
        hands: Sequence[Sequence[str]] | None = None,
        first_attacker: int | None = None,
    ) -> Self:
        """A new game from this one's generator, which stays as it is here; arguments of `deal`.

        Raises:
            ValueError: an argument that is not allowed.
        """
        engine, games = self._engine, self._games.copy()
        if first_attacker is not None:
            if not engine.spec.has_first_attacker:
                raise ValueError(f"first_attacker is not for {engine.game}; it has none")
            games["first"] = integer("first_attacker", first_attacker, 0, 1)
        if hands is None:
            engine.deal(games, _ROW)
        else:
            engine.lay_hands(games, 0, engine.parse_hands(self.variant, hands))
            engine.start(games, _ROW)
        if engine.spec.has_first_attacker:
            games["first"] = -1  # said for this deal only: the same game is the same bytes
        return self._of(self.variant, games, engine.module.rules.facts(games))

    def forfeit(self, seat: int) -> None:
        """A running game is lost by a seat, in place.

        Raises:
            ValueError: there is no such seat, or the game is over.
        """
        loser = _checked_seat(seat)
        if self.over:
            raise ValueError(f"seat={seat} cannot forfeit: the game is over")
        self._engine.forfeit(self._games, _ROW, np.array([loser]))
        self._facts = self._engine.module.rules.facts(self._games)

    @property
    def status(self) -> Ending:
        """How the game stands: running, won, a tie, or truncated at its limit."""
        return _ENDINGS[self._facts[_ENDING]]

    @property
    def over(self) -> bool:
        """Has the game ended, or been truncated?"""
        return self._facts[_ENDING] != Ending.RUNNING

    @property
    def winner(self) -> int | None:
        """The seat that has won; None if nobody has, or not yet."""
        winner = self._facts[_WINNER]
        return None if winner < 0 else winner

    @property
    def turn(self) -> int:
        """Turns (rounds in Strategic War) finished."""
        return self._facts[_TURN]

    @property
    def returns(self) -> tuple[float, float]:
        """What the game has brought each seat: +1, -1 or 0; 0 while it runs."""
        winner = self._facts[_WINNER]
        return (0.0, 0.0) if winner < 0 else ((-1.0, 1.0) if winner else (1.0, -1.0))

    @property
    def acting(self) -> tuple[int, ...]:
        """The seats that choose now; none once the game is over."""
        return _PLACES[bool(self._legal_bits(0)) + 2 * bool(self._legal_bits(1))]

    @property
    def phase(self) -> str:
        """What kind of choice is due, as the game's ``record`` names it; ``"over"`` at the end."""
        return "over" if self.over else self._engine.module.record.phase(self._games[0])

    def legal(self, seat: int) -> tuple[int, ...]:
        """The actions that a seat may choose now; none if it has nothing to choose.

        Raises:
            ValueError: there is no such seat.
        """
        return _PLACES[self._legal_bits(_checked_seat(seat))]

    def _legal_bits(self, seat: int) -> int:
        number = self._engine.num_actions
        return self._facts[-1] >> seat * number & (1 << number) - 1

    def apply(self, actions: int | Sequence[int]) -> None:
        """Plays what the `acting` seats choose, in place: `clone` first to keep this position.

        Args:
            actions: one for each of `acting`, in order; where one seat acts, also the action alone.

        Raises:
            ValueError: not one legal action for each, or a game that is over; nothing has changed
                then.
        """
        given = list(actions) if isinstance(actions, list | tuple) else [actions]
        acting = self.acting
        if not acting:
            raise ValueError(f"actions={shown(actions)}: the game is over")
        if len(given) != len(acting):
            raise ValueError(
                f"actions={shown(actions)} is not allowed; give one for each of seats {acting}"
            )
        chosen = [
            self._checked_action(seat, action) for seat, action in zip(acting, given, strict=True)
        ]
        self.play_legal(*chosen)

    def _checked_action(self, seat: int, action: object) -> int:
        if type(action) is int and action in self.legal(seat):  # for speed: nearly always so
            return action
        number = integer(f"action of seat {seat}", action, 0, self._engine.num_actions - 1)
        if number not in self.legal(seat):
            names = self._engine.actions
            legal = ", ".join(f"{one} {names[one]}" for one in self.legal(seat))
            raise ValueError(
                f"action={number} ({names[number]}) of seat {seat} is illegal now; "
                f"legal are {legal}"
            )
        return number

    def play_legal(self, *actions: int) -> None:
        """`apply` for callers that have checked already that the actions are legal."""
        self._facts = self._engine.module.rules.play_one(self._games, *actions)

    def observe(
        self, seat: int, *, encoding: str = "tokens", memory: str = "perfect"
    ) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """What a seat observes, in arrays of the caller's own.

        Returns:
            The observation (F,), float32 in [0, 1] or uint8 (see the game's ``observation``
            module), and the action mask, int8 (A,): all 0 where the seat has nothing to choose.

        Raises:
            ValueError: there is no such seat, encoding or memory.
        """
        if encoding not in ENCODINGS or memory not in MEMORIES:
            checked_choice("encoding", encoding, ENCODINGS)
            checked_choice("memory", memory, MEMORIES)
        seat = _checked_seat(seat)
        observer = self._engine.observer(
            encoding, self.variant.deck_size, self.variant.num_later_modes
        )
        observation = np.empty((1, observer.size), observer.dtype)
        mask = np.empty((1, self._engine.num_actions), np.int8)
        perfect = memory == "perfect"
        observer.write(self._games, 0, 1, _ROW, _SEATS[seat], perfect, 0, observation, mask)
        return observation[0], mask[0]

    def observe_all(self, encoding: str = "tokens") -> NDArray[Any]:
        """The whole position as one array (F,): see the game's ``global_state`` module."""
        return self._engine.global_state(self._games, encoding, self.variant)

    @property
    def event(self) -> str:
        """What happened last, in words, as both players saw it; empty after a deal."""
        return self._engine.module.words.event(self._games[0])

    @property
    def outcome(self) -> str:
        """How the game ended, in words; empty while it runs."""
        return self._engine.module.words.outcome(self._games[0])

    @property
    def facts(self) -> tuple[int, ...]:
        """The numbers of an info (`war_envs.<game>.info`), and last, as bits, what is legal."""
        return self._facts

    @property
    def games(self) -> Records:
        """The record, an array of one; read it, write at your own risk."""
        return self._games

    @property
    def hands(self) -> Hands:
        """The true hands as card names, top first."""
        engine, game = self._engine, self._games[0]
        return (
            engine.card_names(engine.hand(game, 0)),
            engine.card_names(engine.hand(game, 1)),
        )

    @property
    def table(self) -> list[str]:
        """The cards on the table as names, in the order they were laid."""
        return self._engine.card_names(self._engine.table(self._games[0]))

    def known(self, seat: int) -> tuple[list[bool], list[bool]]:
        """For both hands, top first: does the seat know the card at that place?"""
        return self._engine.known(self._games[0], _checked_seat(seat))

    def clone(self) -> Self:
        """An independent copy, generator included."""
        state = object.__new__(type(self))
        state.variant, state._engine = self.variant, self._engine
        games = self._games  # as bytes: NumPy copies a record field by field
        state._games = np.ndarray((1,), games.dtype, bytearray(games.tobytes()))
        state._facts = self._facts
        return state

    __copy__ = clone  # a shallow copy would share the record

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.clone()

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.variant, self.fields())

    def key(
        self,
        viewer: Viewer | Literal["all"],
        *,
        turn: bool = False,
        last: bool = False,
        suits: bool = False,
    ) -> bytes:
        """What a viewer knows now, as bytes that are equal exactly where that is.

        For positions of one variant. By default it holds the cards, who knows which places, and
        what else the rules go by: equal keys go on alike, but for the turn limit.

        Args:
            viewer: a seat, ``"public"`` for what both know, or ``"all"`` for the whole position.
            turn: turns finished count, too, and with them how far away the limit is.
            last: what happened last counts, as observations tell it.
            suits: suits count even where the rules go by ranks alone.

        Raises:
            ValueError: there is no such viewer.
        """
        who = ALL if viewer == "all" else _who(viewer)
        out = np.empty(KEY_BYTES, np.uint8)
        write_key = self._engine.module.knowledge.write_key
        return out[: write_key(self._games, 0, who, turn, last, suits, out)].tobytes()

    def redeal(self, viewer: Viewer, seed: int) -> Self:
        """Another position that the viewer cannot tell from this one, uniform among all of them.

        Cards that the viewer does not know change places; hand sizes stay, and who knows which
        places, and the colours that are known, and in a Fair deal each card is opposite its twin.
        In Fair mode from hands that were no Fair deal, one that would have been is not left out.

        Args:
            viewer: a seat, or ``"public"`` for what both know.
            seed: 0 to 2**63 - 1, in a domain of its own (`war_envs.engine.seeding`).

        Raises:
            ValueError: an argument that is not allowed.
        """
        who = _who(viewer)
        other = self.clone()
        number = integer("seed", seed, 0, seeding.MAX_SEED)
        other._games["rng"][0] = seeding.generator_state(number, seeding.REDEALS, lane=0)
        self._engine.redeal(other._games, 0, who)
        other._games["rng"] = self._games["rng"]
        return other

    def fields(self) -> dict[str, Any]:
        """The position as plain data, for JSON: what `from_fields` takes."""
        return record.to_plain(record.saved(self._engine.module, self._games))

    @classmethod
    def from_fields(cls, variant: Variant, fields: object) -> Self:
        """The position that `fields` gave, of the same variant.

        Raises:
            ValueError: it gave no such thing, naming the field.
        """
        engine = _engine_of(variant)
        arrays = record.from_plain(engine.module, fields)
        games = record.restored(engine.module, [variant], arrays)
        return cls._of(variant, games, engine.module.rules.facts(games))


def _engine_of(variant: object) -> Engine:
    if not isinstance(variant, AttackDefenceVariant | StrategicWarVariant):
        raise ValueError(
            f"variant={shown(variant)} is not allowed; give what war_envs.variant.make_variant "
            "returns"
        )
    return ENGINES[variant.game]


def _restored(cls: type[State], variant: Variant, fields: dict[str, Any]) -> State:
    return cls.from_fields(variant, fields)


def _checked_seat(seat: object) -> int:
    # For speed: it is nearly always a plain integer that is right.
    return seat if type(seat) is int and 0 <= seat <= 1 else integer("seat", seat, 0, 1)


def _who(viewer: object) -> int:
    if isinstance(viewer, str) and viewer == "public":
        return PUBLIC
    if isinstance(viewer, int | np.integer) and not isinstance(viewer, bool) and viewer in (0, 1):
        return int(viewer)
    raise ValueError(f"viewer={shown(viewer)} is not allowed; choose from 0, 1, 'public'")
