"""The games of a tournament on disk: games.jsonl, a line a game, whole blocks at a time.

A line holds ``variant``, ``a``, ``b``, ``deal``, ``seat`` (of ``a``), ``first_attacker`` (Strategic
War only), ``result`` (+1 where ``a`` won, -1 where ``b`` won, else 0), ``length`` and
``truncated``; where an agent has lost by failing also ``forfeit``, its name, and ``reason``. Lines
of several pairs follow each other as they were played.
"""

import contextlib
import itertools
import json
import os
import warnings
from collections.abc import Iterator, Sequence
from io import BufferedReader, FileIO
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from war_agents.arena.places import first_attacker, games_per_deal, seat_of_first
from war_agents.arena.playing.blocks import Block
from war_agents.arena.playing.games import Games
from war_agents.files import append, open_plain, parse_json

GAMES_FILE: Final = "games.jsonl"
_RESULT: Final = ', "result": '
_MAX_LENGTH: Final = 2**62


class GameStream:
    """Appends blocks to a file, and reads them back.

    Args:
        file: games.jsonl.
        game: what is played.
        variants, names: what blocks count.
    """

    def __init__(
        self, file: Path, game: str, variants: Sequence[str], names: Sequence[str]
    ) -> None:
        self._file = file
        self._game = game
        self._variants = variants
        self._names = names
        self._opened: FileIO | None = None  # without a buffer that would be written later

    def begin(self) -> None:
        """Starts with an empty file.

        Raises:
            ValueError: there is something else in its place.
        """
        self._opened = self._open(os.O_CREAT)
        self._opened.truncate(0)

    def resume(self, blocks: Sequence[Block]) -> dict[int, Games]:
        """Reads what has been played of ``blocks``; what was torn is cut off, and played again.

        Where more is cut off than a crash leaves, as after a power cut, a warning says so.

        Raises:
            ValueError: the file holds other games than those of the blocks, or is damaged before
                its end; nothing has changed then.
        """
        if not os.path.lexists(self._file):
            self.begin()
            return {}
        self._opened = self._open()
        found: dict[int, Games] = {}
        reader = BufferedReader(self._opened)
        whole = self._read(reader, blocks, found)
        reader.detach()
        if whole < os.fstat(self._opened.fileno()).st_size:
            self._opened.truncate(whole)
        self._opened.seek(whole)
        return found

    def append(self, block: Block, games: Games) -> None:
        """Adds the games of ``block``; when it returns they outlive a crash.

        Raises:
            OSError: the disk is full. Nothing but the last block is lost then.
        """
        if self._opened is None:
            raise RuntimeError("call begin() or resume() first")
        append(self._file, self._opened, "".join(self._lines(block, games)).encode())

    def close(self) -> None:
        """Closes the file."""
        if self._opened is not None:
            self._opened.close()

    def _open(self, flags: int = 0) -> FileIO:
        try:
            return open_plain(self._file, os.O_RDWR | flags)
        except ValueError as error:
            raise ValueError(f"{self._file} is not allowed: {error}") from error

    def _lines(self, block: Block, games: Games) -> Iterator[str]:
        for row, key in enumerate(self._keys(block)):
            rest = (
                f'{_RESULT}{games.results[row]}, "length": {games.lengths[row]}, '
                f'"truncated": {"true" if games.truncated[row] else "false"}'
            )
            if row in games.forfeits:
                side, reason = games.forfeits[row]
                name = self._names[(block.a, block.b)[side]]
                rest += f', "forfeit": {json.dumps(name)}, "reason": {json.dumps(reason)}'
            yield f"{key}{rest}}}\n"

    def _keys(self, block: Block) -> Iterator[str]:
        """How the line of each game begins: which game it is."""
        pair = (
            f'{{"variant": {json.dumps(self._variants[block.variant])}, '
            f'"a": {json.dumps(self._names[block.a])}, "b": {json.dumps(self._names[block.b])}, '
        )
        per_deal = games_per_deal(self._game)
        for number in block.numbers:
            deal, place = divmod(number, per_deal)
            leads = first_attacker(self._game, place)
            first = "" if leads is None else f', "first_attacker": {leads}'
            yield f'{pair}"deal": {deal}, "seat": {seat_of_first(place)}{first}'

    def _read(self, file: BinaryIO, blocks: Sequence[Block], found: dict[int, Games]) -> int:
        """Reads whole blocks into ``found``; the number of bytes that they take."""
        starts = {next(self._keys(block)): i for i, block in enumerate(blocks)}
        whole = number = 0
        while line := file.readline():
            place = starts.pop(line.decode(errors="replace").partition(_RESULT)[0], None)
            keys = [""] if place is None else list(self._keys(blocks[place]))
            lines = [line, *itertools.islice(file, len(keys) - 1)]
            rows = []
            for key, text in zip(keys, lines, strict=False):
                row = self._parsed(key, text)
                if row is None:
                    break
                rows.append(row)
            if place is None or len(rows) < len(keys):
                rest = b"".join(lines[len(rows) :])
                if b"\n" in rest or b"\0" in rest:  # more than a line that was being written
                    missing = [block for i, block in enumerate(blocks) if i not in found]
                    self._require_torn(file, whole, missing, number + len(rows) + 1)
                break
            found[place] = _games(rows)
            number += len(lines)
            whole = file.tell()
        return whole

    def _require_torn(
        self, file: BinaryIO, whole: int, missing: Sequence[Block], line: int
    ) -> None:
        """Warns of damage behind the first ``whole`` bytes, if it has left no block whole there.

        Refuses any other, and lines of other games; ``line`` is the first that is wrong.
        """
        file.seek(whole)
        most = 2 * max((block.games for block in missing), default=0)
        rows: set[str] = set()
        for text in file:
            with contextlib.suppress(ValueError):
                if isinstance(parse_json(text), dict):
                    rows.add(text.decode().partition(_RESULT)[0])
            if len(rows) > most:
                break
        left = [sum(key in rows for key in self._keys(block)) for block in missing]
        is_whole = any(own == block.games for own, block in zip(left, missing, strict=True))
        if is_whole or sum(left) < len(rows):
            raise ValueError(f"{self._file} is damaged: line {line} is none of this tournament")
        warnings.warn(
            f"{self._file} was damaged at its end, as by a power cut: all from byte {whole} on is "
            "cut off, and its games are played again",
            stacklevel=2,
        )

    @staticmethod
    def _parsed(key: str, line: bytes) -> dict[str, Any] | None:
        """What a line says of the game ``key``; None if it is not whole, or of another game."""
        if not line.startswith(f"{key}{_RESULT}".encode()) or not line.endswith(b"\n"):
            return None
        try:
            row = parse_json(line)
        except ValueError:
            return None
        return row if isinstance(row, dict) and _is_sound(row) else None


def _is_sound(row: dict[str, Any]) -> bool:
    result, length, truncated = row.get("result"), row.get("length"), row.get("truncated")
    failed, reason = row.get("forfeit"), row.get("reason")
    return (
        type(result) is int
        and result in (-1, 0, 1)
        and type(length) is int
        and 0 <= length <= _MAX_LENGTH
        and type(truncated) is bool
        and (
            not {"forfeit", "reason"} & row.keys()
            or (isinstance(reason, str) and failed == {-1: row["a"], 1: row["b"]}.get(result))
        )
    )


def _games(rows: Sequence[dict[str, Any]]) -> Games:
    return Games(
        np.array([row["result"] for row in rows], np.int8),
        np.array([row["length"] for row in rows], np.int64),
        np.array([row["truncated"] for row in rows], np.bool_),
        {
            i: (0 if row["forfeit"] == row["a"] else 1, row["reason"])
            for i, row in enumerate(rows)
            if "forfeit" in row
        },
    )
