"""Which rules a game is played by: one frozen dataclass per game.

Spelling: a variant's ``name`` is ``standard`` or its modes joined by ``+`` in the order
``minimal``, ``fair``, ``open-card``.
"""

import dataclasses
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from typing import Any, ClassVar, Final, Literal

import numpy as np

from war_envs import cards
from war_envs.cards import NUM_RANKS, GameName
from war_envs.messages import shown

ALL: Final = "all"  # where several names may be given: every one
TURNS_PER_CARD: Final = 40
MAX_TURNS_LIMIT: Final = 1_000_000_000
# The types of integers of Python and NumPy; those of other libraries are asked what they are.
INTEGERS: Final = frozenset({int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])})


def integer(name: str, value: object, low: int, high: int) -> int:
    """``value`` as an int from ``low`` to ``high``.

    Integers of any library are taken, also as arrays without axes. Bools, floats, and arrays that
    have axes are refused, whatever library they are of.

    Raises:
        ValueError: it is not such an integer.
    """
    given: Any = value
    number = operator.index(given) if type(given) in INTEGERS else index_of(given)
    if number is None or not low <= number <= high:
        raise ValueError(
            f"{name}={shown(value)} is not allowed; it must be an integer, {low} to {high}"
        )
    return number


def index_of(value: object) -> int | None:
    """``value`` as an int, if it is an integer as `integer` takes them."""
    # Some libraries let a bool, or an array with an axis and one entry, pass for a number.
    is_bool = isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))
    if is_bool or getattr(value, "shape", ()) != ():
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - some libraries raise errors of their own
        return None


@dataclass(frozen=True, kw_only=True)
class GameOptions:
    """What both games leave open, as a user gives it: its bools are the modes."""

    minimal: bool = False
    """Two suits (hearts and spades) instead of four."""
    fair: bool = False
    """Both players hold the same ranks in the same order, red against black."""
    open_cards: bool = field(default=False, metadata={"word": "open-card"})
    """All cards lie face up."""
    num_ranks: int = NUM_RANKS
    """Ranks in the deck, odd, 3 to 13: the first ones of the game's own order."""
    max_turns: int | None = None
    """Turns (rounds in Strategic War) after which a game is truncated; by default 40 per card of
    the deck."""


# From a mode's word in the names of variants to its field.
MODES: Final[dict[str, str]] = {
    option.metadata.get("word", option.name): option.name
    for option in fields(GameOptions)
    if option.type is bool
}
# Those that came after the first version: see `war_envs.engine.layout`.
LATER_MODES: Final[tuple[str, ...]] = tuple(
    mode for mode in MODES.values() if mode not in ("minimal", "fair", "open_cards")
)
VARIANT_NAMES: Final[tuple[str, ...]] = tuple(
    "+".join(mode for mode, used in zip(MODES, chosen, strict=True) if used) or "standard"
    for chosen in product((False, True), repeat=len(MODES))
)


@dataclass(frozen=True, kw_only=True)
class _Variant(GameOptions):
    """What both games' variants share: checked options; ``max_turns`` is never None."""

    game: ClassVar[GameName]

    def __post_init__(self) -> None:
        for mode in MODES.values():
            value = getattr(self, mode)
            if not isinstance(value, bool):
                raise ValueError(f"{mode}={shown(value)} is not allowed; it must be True or False")
        num_ranks = integer("num_ranks", self.num_ranks, 3, NUM_RANKS)
        if num_ranks % 2 == 0:
            raise ValueError(
                f"num_ranks={num_ranks} is not allowed; it must be odd, 3 to {NUM_RANKS}"
            )
        object.__setattr__(self, "num_ranks", num_ranks)
        limit = TURNS_PER_CARD * self.deck_size if self.max_turns is None else self.max_turns
        object.__setattr__(self, "max_turns", integer("max_turns", limit, 1, MAX_TURNS_LIMIT))

    @property
    def name(self) -> str:
        """``standard``, or the modes joined by ``+``."""
        return "+".join(m for m, option in MODES.items() if getattr(self, option)) or "standard"

    @cached_property
    def deck(self) -> tuple[int, ...]:
        """The cards of the whole deck (see `war_envs.cards`), ascending."""
        return cards.deck(self.num_ranks, self.minimal)

    @cached_property
    def deck_size(self) -> int:
        """Cards in the whole deck: 26 or 52 with all 13 ranks."""
        return len(self.deck)

    @cached_property
    def num_later_modes(self) -> int:
        """How many of `LATER_MODES` an observation tells of: all up to the last that is on."""
        return max((i + 1 for i, m in enumerate(LATER_MODES) if getattr(self, m)), default=0)

    @property
    def turn_limit(self) -> int:
        """``max_turns``, which is never None once the variant is made."""
        return integer("max_turns", self.max_turns, 1, MAX_TURNS_LIMIT)

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments that make this variant; a later mode only where it is on, so that
        what files say of older variants stays as it is.
        """
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if value or name not in LATER_MODES}


@dataclass(frozen=True, kw_only=True)
class AttackDefenceVariant(_Variant):
    """The rules of a game of War of Attack and Defence; see `GameOptions` for the shared fields.

    Attributes:
        own_card: where a winner's own card goes: ``"bottom"`` (collected last, so that it becomes
            the bottom card) or ``"first"`` (collected before the cards it won).
    """

    game: ClassVar[GameName] = "attack-defence"

    own_card: Literal["bottom", "first"] = "bottom"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.own_card not in ("bottom", "first"):
            raise ValueError(
                f"own_card={shown(self.own_card)} is not allowed; use 'bottom' or 'first'"
            )


@dataclass(frozen=True, kw_only=True)
class StrategicWarVariant(_Variant):
    """The rules of a game of Strategic War; see `GameOptions` for the fields."""

    game: ClassVar[GameName] = "strategic-war"


Variant = AttackDefenceVariant | StrategicWarVariant
_CLASSES: Final[dict[str, type[AttackDefenceVariant] | type[StrategicWarVariant]]] = {
    "attack-defence": AttackDefenceVariant,
    "strategic-war": StrategicWarVariant,
}
GAMES: Final[tuple[str, ...]] = tuple(_CLASSES)


def make_variant(game: str, name: str | Variant = "standard", **options: Any) -> Variant:
    """The variant of ``game`` that is spelt ``name``, with further fields from ``options``.

    ``make_variant("attack-defence", "minimal+fair", num_ranks=5)``. A `Variant` is passed through.

    Raises:
        ValueError: an unknown game, name or option, or a value that is not allowed.
    """
    cls = _class_of(game)
    if isinstance(name, _Variant):
        if not isinstance(name, cls):
            raise ValueError(f"variant={shown(name)} is not a variant of {game}")
        return dataclasses.replace(name, **checked_options(game, options))
    if name not in VARIANT_NAMES:
        raise ValueError(
            f"variant={shown(name)} is unknown; choose from {', '.join(VARIANT_NAMES)}"
        )
    modes = {MODES[mode]: True for mode in name.split("+") if mode in MODES}
    for mode in modes:
        if options.get(mode, True) is False:
            raise ValueError(f"{mode}=False is not allowed; variant={name!r} says otherwise")
    return cls(**{**modes, **checked_options(game, options)})


def checked_variants(given: Variant | Sequence[Variant]) -> tuple[Variant, ...]:
    """One variant, or several of one game, as a tuple.

    Raises:
        ValueError: there is none, or they are of both games.
    """
    variants = (given,) if isinstance(given, _Variant) else tuple(given)
    if len({variant.game for variant in variants}) != 1:
        raise ValueError(f"variants={shown(given)} is not allowed; give variants of one game")
    return variants


def widest(variants: Sequence[Variant]) -> Variant:
    """A variant with all cards of all ``variants`` and what observations tell of: the same one if
    they are one.
    """
    first = variants[0]
    if all(variant == first for variant in variants):
        return first
    options: dict[str, Any] = {
        "minimal": all(variant.minimal for variant in variants),
        "num_ranks": max(variant.num_ranks for variant in variants),
    }
    for mode in LATER_MODES:
        options[mode] = any(getattr(variant, mode) for variant in variants)
    return type(first)(**options)


def option_names(game: str) -> tuple[str, ...]:
    """The fields of the variants of ``game``.

    Raises:
        ValueError: an unknown game.
    """
    return tuple(option.name for option in fields(_class_of(game)))


def checked_options(game: str, options: dict[str, Any]) -> dict[str, Any]:
    """``options`` unchanged, if the game's variant has a field for each.

    Raises:
        ValueError: it has not.
    """
    allowed = option_names(game)
    for option in options:
        if option not in allowed:
            raise ValueError(
                f"option {shown(option)} is unknown to {game}; it has {', '.join(allowed)}"
            )
    return options


def _class_of(game: str) -> type[AttackDefenceVariant] | type[StrategicWarVariant]:
    given: object = game  # whatever the caller passed
    found = _CLASSES.get(game) if isinstance(given, str) else None
    if found is None:
        raise ValueError(f"game={shown(game)} is unknown; choose from {', '.join(GAMES)}")
    return found
