"""What both games' observations are made of: a header of named fields, then a slot per card.

A *token* observation holds small integers: the header's fields, then one per slot. The *vector*
observation is the same with each header field divided by its scale and each slot's token replaced
by a row of features. So what a player may see is decided once, where tokens are written.

A mode that came after the first version has no field in the header, so that observations of older
variants stay as they are. It has an entry behind the slots, 0 or 1, in the variants that are played
by it, and by a mode that is still later: see `war_envs.variant.LATER_MODES`.
"""

from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from war_envs.cards import NUM_CARDS, NUM_RANKS, NUM_SUITS
from war_envs.engine.copies import copy_block
from war_envs.engine.jit import kernel
from war_envs.engine.kernels import NO_CARD, Integer, Record, Records
from war_envs.messages import shown
from war_envs.variant import LATER_MODES, MODES

EncodingName = Literal["vector", "tokens"]
MemoryName = Literal["perfect", "table"]
ENCODINGS: Final[tuple[str, ...]] = ("vector", "tokens")
MEMORIES: Final[tuple[str, ...]] = ("perfect", "table")
# Where among the features of a token the rank and the suit of a shown card stand, one-hot.
RANK_FEATURES: Final = slice(-NUM_RANKS - NUM_SUITS, -NUM_SUITS)
SUIT_FEATURES: Final = slice(-NUM_SUITS, None)


@dataclass(frozen=True)
class Field:
    """A header field: a token from 0 to ``scale``; in a vector, token / scale."""

    name: str
    scale: int


def card_field(name: str) -> Field:
    """A number of cards; or a card of the deck, 0 none, else card id + 1."""
    return Field(name, NUM_CARDS)


def mode_fields() -> tuple[Field, ...]:
    """What both games' headers begin with."""
    modes = [mode for mode in MODES.values() if mode not in LATER_MODES]
    return (*(Field(mode, 1) for mode in modes), Field("num_ranks", NUM_RANKS))


def turn_fields() -> tuple[Field, Field]:
    """What `write_turn` writes."""
    return Field("turn", 255), Field("turn_low", 255)


@dataclass(frozen=True)
class Layout:
    """How one game's observations are laid out.

    Attributes:
        header: the fields at the front, in order.
        slots_per_card: card slots for each card of the deck (2: both hands; 3: the table too).
        features: float32 (tokens, width): what a slot's token becomes in a vector.
    """

    header: tuple[Field, ...]
    slots_per_card: int
    features: NDArray[np.float32]

    def num_slots(self, deck_size: int) -> int:
        """Card slots in an observation for a deck of ``deck_size`` cards."""
        return self.slots_per_card * deck_size

    def size(self, encoding: str, deck_size: int, later_modes: int = 0) -> int:
        """Entries of one observation, with so many of the later modes."""
        width = self.features.shape[1] if encoding == "vector" else 1
        return len(self.header) + width * self.num_slots(deck_size) + later_modes

    def deck_size(self, num_tokens: int) -> int:
        """The cards of the deck for which an observation of so many tokens has slots."""
        return int(_slots_per_zone(num_tokens, len(self.header), self.slots_per_card))

    def dtype(self, encoding: str) -> np.dtype[Any]:
        """float32 for vectors, uint8 for tokens."""
        return np.dtype(np.float32 if encoding == "vector" else np.uint8)

    def space(self, encoding: str, deck_size: int, later_modes: int = 0) -> spaces.Box:
        """The Gymnasium space of one observation."""
        size = self.size(encoding, deck_size, later_modes)
        if encoding == "vector":
            return spaces.Box(0.0, 1.0, (size,), np.float32)
        high = np.full(size, len(self.features) - 1, np.uint8)
        high[: len(self.header)] = self.scales
        high[size - later_modes :] = 1
        return spaces.Box(np.zeros(size, np.uint8), high, dtype=np.uint8)

    @property
    def scales(self) -> NDArray[np.float32]:
        """float32, one for each header field."""
        return np.array([field.scale for field in self.header], np.float32)

    @cached_property
    def at(self) -> Any:
        """Where in an observation each header field stands: a named tuple, which kernels take."""
        names = [field.name for field in self.header]
        return namedtuple("At", names)(*range(len(names)))

    def index(self, name: str) -> int:
        """Where in an observation the header field ``name`` stands."""
        return [field.name for field in self.header].index(name)


def checked_choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """``value``, if it is one of ``allowed``.

    Raises:
        ValueError: it is not.
    """
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name}={shown(value)} is not allowed; choose from {', '.join(allowed)}")
    return value


@kernel
def write(out: Any, k: Integer, at: Integer, value: Any) -> None:
    """``out[k, at] = value``, for indices that are not negative.

    Unsigned, they spare the check for negative ones, which costs more than the write.
    """
    out[np.uint64(k), np.uint64(at)] = value


@kernel
def copy_run(
    source: Any, row: Integer, start: Integer, out: Any, k: Integer, at: Integer, length: Integer
) -> None:
    """Copies ``length`` bytes of ``source[row, start:]`` to ``out[k, at:]``, unchecked."""
    first = row * source.shape[1] + start
    copy_block(source, first, out, k * out.shape[1] + at, length)


@kernel
def expand(tokens: Any, scales: Any, features: Any, width: Integer, out: Any, k: Integer) -> None:
    """Writes the vector form of row 0 of ``tokens`` into row ``k`` of ``out`` (f4); later modes are
    in neither.

    ``width`` is that of ``features``: given as a constant, it makes each copy a few instructions.
    """
    header = scales.shape[0]
    for i in range(header):
        write(out, k, i, tokens[0, i] / scales[i])
    at = k * out.shape[1] + header
    for slot in range(header, tokens.shape[1]):
        copy_block(features, np.int64(tokens[0, slot]) * width, out, at, width)
        at += width


@kernel
def card_or_zero(card: Integer) -> Integer:
    """A card of a record as a header field: 0 for `NO_CARD`, else card id + 1."""
    return 0 if card == NO_CARD else np.int64(card) + 1


@kernel
def write_modes(game: Record, out: Any, k: Integer) -> None:
    """Writes `mode_fields`, from place 0 on."""
    write(out, k, 0, game.minimal)
    write(out, k, 1, game.fair)
    write(out, k, 2, game.open_cards)
    write(out, k, 3, game.num_ranks)


def _slots_per_zone(width: Integer, header: Integer, zones: Integer) -> Integer:
    """The cards of the deck for which an observation of ``width`` tokens has slots.

    A deck has an even number of cards, so that entries of later modes, fewer than two for each
    zone, are never taken for slots.
    """
    return (width - header) // (2 * zones) * 2


slots_per_zone = kernel(_slots_per_zone)


@kernel
def write_later_modes(game: Record, out: Any, k: Integer, at: Integer) -> None:
    """Writes the later modes, from place ``at`` to the end."""
    for place in range(at, out.shape[1]):
        write(out, k, place, (np.uint64(game.later_modes) >> np.uint64(place - at)) & np.uint64(1))


@kernel
def write_all_later_modes(
    games: Records, first: Integer, last: Integer, rows: Any, out: Any, at: Integer
) -> None:
    """`write_later_modes` of games ``rows[k]``, where observations tell of any."""
    if at < out.shape[1]:  # once for all of them: it would cost each observation time
        for k in range(first, last):
            write_later_modes(games[rows[k]], out, k, at)


@kernel
def write_turn(game: Record, out: Any, k: Integer, at: Integer) -> None:
    """Writes turn / max_turns in 65535ths, as a high and a low byte."""
    fraction = np.uint64(game.turn * 65535) // np.uint64(game.max_turns)
    write(out, k, at, fraction >> np.uint64(8))
    write(out, k, at + 1, fraction & np.uint64(255))


@kernel
def count_four(mask: Any, shift: Integer) -> Integer:
    """How many of the four bits from ``shift`` on are set."""
    nibble = (mask >> np.uint64(shift)) & np.uint64(15)
    n = np.int64(0)
    for i in range(4):
        n += np.int64((nibble >> np.uint64(i)) & np.uint64(1))
    return n


def card_features(
    extra: int, tokens: list[tuple[tuple[int, ...], int | None]]
) -> NDArray[np.float32]:
    """A feature table: one row per token, with flags, then the rank and suit of a shown card.

    Args:
        extra: how many flags there are.
        tokens: for each token the flags that are set, and the card shown or None.
    """
    table = np.zeros((len(tokens), extra + NUM_RANKS + NUM_SUITS), np.float32)
    for token, (flags, card) in enumerate(tokens):
        table[token, list(flags)] = 1.0
        if card is not None:
            table[token, RANK_FEATURES][card // NUM_SUITS] = 1.0
            table[token, SUIT_FEATURES][card % NUM_SUITS] = 1.0
    table.flags.writeable = False
    return table
