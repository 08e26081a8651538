"""Reads observations back, by nothing but the tables in the observation modules' docstrings."""

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tests.reference.cards import RANK_ORDERS, SUITS, Game
from tests.support.decks import CARD_NAMES
from tests.support.referees import Slot, View

# How many header entries a field has that the decoder reads as one.
_FLAGS: Final = {"minimal", "fair", "open_cards", "own_card_first", "twins", "over"}
_FLAGS_TOO: Final = {"attacker", "to_move"}
_ACTIONS: Final = {"last_own_action", "last_other_action"}
_CARDS: Final = {"last_own_card", "last_other_card", "last_extra_card"}


@dataclass(frozen=True)
class Row:
    """One row of a header table."""

    first: int
    last: int
    names: tuple[str, ...]
    scale: int


def header_table(docstring: str) -> list[Row]:
    """The header table of an observation module's docstring."""
    lines = docstring.splitlines()
    rules = [i for i, line in enumerate(lines) if re.fullmatch(r"=+( +=+)+", line)]
    top, under, bottom = rules[:3]
    starts = [match.start() for match in re.finditer("=+", lines[top])]
    cells: list[list[str]] = []
    for line in lines[under + 1 : bottom]:
        ends = [*starts[1:], len(line)]
        row = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        if row[0]:
            cells.append(row)
        else:  # a row goes on
            cells[-1] = [f"{a} {b}".strip() for a, b in zip(cells[-1], row, strict=True)]
    return [_row(index, names, scale) for index, names, scale, _ in cells]


def _row(index: str, field: str, scale: str) -> Row:
    bounds = [int(number) for number in re.findall(r"\d+", index)]
    first, last = bounds[0], bounds[-1]
    words = re.findall(r"``(\w+)``", field)
    if re.search(r"`` - ``", field):  # ``unseen_0`` - ``12``
        stem = words[0].removesuffix("0")
        names = tuple(f"{stem}{number}" for number in range(int(words[1]) + 1))
    else:  # ``turn``, ``_low`` are two fields
        names = tuple(words[0] + word if word.startswith("_") else word for word in words)
    assert last - first + 1 == len(names), (index, field)
    return Row(first, last, names, int(scale))


def flat(rows: list[Row]) -> list[tuple[str, int]]:
    """Name and scale of each header entry, in order."""
    assert [row.first for row in rows] == [0, *(row.last + 1 for row in rows[:-1])]
    return [(name, row.scale) for row in rows for name in row.names]


class Decoder:
    """Reads one game's observations."""

    def __init__(self, game: Game, docstring: str) -> None:
        self.game = game
        self.fields = flat(header_table(docstring))
        self.hands = 3 if game == "strategic-war" else 2

    def decode(self, observation: NDArray[Any], *, vector: bool) -> View:
        """The view that an observation shows; every entry of it must have a meaning."""
        split = len(self.fields)
        entries = observation[:split]
        if vector:
            assert observation.dtype == np.float32
            integers = [
                float(e) * scale for e, (_, scale) in zip(entries, self.fields, strict=True)
            ]
            numbers = [round(number) for number in integers]
            assert np.allclose(numbers, integers, atol=1e-4)
            rows = observation[split:].reshape(-1, 3 + 17 if self.hands == 2 else 4 + 17)
            slots = [self._vector_slot(row) for row in rows]
        else:
            assert observation.dtype == np.uint8
            numbers = entries.tolist()
            slots = [self._token_slot(token) for token in observation[split:].tolist()]
        assert all(0 <= n <= scale for n, (_, scale) in zip(numbers, self.fields, strict=True))
        names = [name for name, _ in self.fields]
        header = self._header(dict(zip(names, numbers, strict=True)))
        assert len(slots) % self.hands == 0
        size = len(slots) // self.hands
        piles = [self._pile(slots[i : i + size]) for i in range(0, len(slots), size)]
        return View(header, *piles)

    @staticmethod
    def _pile(slots: list[Slot | None]) -> list[Slot]:
        """The cards of one pile: at the front, with nothing but empty places behind."""
        cards = [slot for slot in slots if slot is not None]
        assert slots[: len(cards)] == cards
        return cards

    def _card(self, card: int) -> str:
        return CARD_NAMES[self.game][card]

    def _header(self, numbers: dict[str, int]) -> dict[str, Any]:
        header: dict[str, Any] = {}
        for name, number in numbers.items():
            if name in _FLAGS or name in _FLAGS_TOO:
                header[name] = bool(number)
            elif name in _ACTIONS:
                header[name] = number - 1 if number else None
            elif name in _CARDS:
                header[name] = self._card(number - 1) if number else None
            elif name == "last_taker":
                header[name] = (None, "own", "other")[number]
            elif name == "last_ending":
                header[name] = (None, "battle", "war", "surrender")[number]
            elif name == "turn_low":
                header["turn"] = 256 * header["turn"] + number
            elif name.startswith("phase_"):
                if number:
                    assert "phase" not in header, "two phases at once"
                    header["phase"] = name.removeprefix("phase_")
            elif name.startswith("unseen_"):
                kind, _, rank = name.rpartition("_")
                counts = header.setdefault(kind, {})
                if number:
                    counts[RANK_ORDERS[self.game][int(rank)]] = number
            else:
                header[name] = number
        if header["over"]:  # then they mean nothing
            header.pop("attacker", None)
            header.pop("phase", None)
        return header

    def _token_slot(self, token: int) -> Slot | None:
        if token == 0:
            return None
        if self.game == "attack-defence":
            if token < 3:
                return Slot(None, other_knows=token == 2)
            assert token < 107
            return Slot(self._card((token - 3) % 52), other_knows=token >= 55)
        if token < 4:
            return Slot(None, colour=(None, "red", "black")[token - 1])
        assert token < 56
        return Slot(self._card(token - 4), colour=("red", "black")[(token - 4) % 2])

    def _vector_slot(self, row: NDArray[np.float32]) -> Slot | None:
        assert set(row.tolist()) <= {0.0, 1.0}
        there, known, *_ = row.tolist()
        if not there:
            assert not row.any()
            return None
        face = row[-17:]
        card = None
        if known:
            assert face[:13].sum() == face[13:].sum() == 1.0
            rank, suit = int(face[:13].argmax()), int(face[13:].argmax())
            card = RANK_ORDERS[self.game][rank] + SUITS[suit]
        else:
            assert not face.any()
        if self.game == "attack-defence":
            return Slot(card, other_knows=bool(row[2]))
        red, black = row[2:4].tolist()
        assert not (red and black)
        return Slot(card, colour="red" if red else "black" if black else None)
