"""The card of a model: what its JSON file says, checked. Neither the model nor torch is needed.

A card may come from anywhere. It is data, none of which is run, and what it says reaches a terminal
only through `war_envs.messages.printable`.
"""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from war_envs.encoding import MEMORIES, checked_choice
from war_envs.messages import one_line, shown
from war_envs.variant import GAMES, Variant, checked_options, integer, make_variant

FORMAT: Final = "war-envs policy"
VERSION: Final = 2
ENCODING: Final = "tokens"  # what every network reads
MAX_CARD_BYTES: Final = 16 * 2**20
_MAX_DEPTH: Final = 50


@dataclass(frozen=True)
class Card:
    """What a model needs to be loaded, and all else that its card says.

    Attributes:
        game: its name.
        variants: what the model was trained for.
        memory: what its observations hold, ``"perfect"`` or ``"table"``.
        network: the network's sizes by name, positive integers.
        deterministic: does it always take the likeliest action?
        entries: the whole card, as JSON has it.
    """

    game: str
    variants: tuple[Variant, ...]
    memory: str
    network: Mapping[str, int]
    deterministic: bool
    entries: Mapping[str, Any]


def card_file(file: Path) -> Path:
    """Where the card of a model file is."""
    return file.with_suffix(".json")


def read_card(file: Path) -> Card:
    """The card of the model ``file``, without reading the model.

    Raises:
        ValueError: it is missing, damaged, or of something else; in one line that names it.
    """
    path = card_file(file)
    try:
        entries = parse_json(read_limited(path, MAX_CARD_BYTES))
    except ValueError as error:
        raise ValueError(f"{path} is not a readable model card: {one_line(error)}") from error
    if not isinstance(entries, dict) or entries.get("format") != FORMAT:
        raise ValueError(f"{path} is not a model card: its format is not {FORMAT!r}")
    if entries.get("version") != VERSION:
        raise ValueError(
            f"{path} has version {shown(entries.get('version'))}; "
            f"this war-envs reads version {VERSION}"
        )
    try:
        return _checked(entries)
    except KeyError as error:
        raise ValueError(f"{path} is damaged: it has no {error}") from error
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {one_line(error)}") from error


def _checked(entries: dict[str, Any]) -> Card:
    game = checked_choice("game", entries["game"], GAMES)
    checked_choice("encoding", entries["encoding"], (ENCODING,))
    listed = entries["variants"]
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"variants={shown(listed)} is not allowed; give a list of JSON objects")
    options = [checked_options(game, _object("variants", variant)) for variant in listed]
    sizes = _object("network", entries["network"])
    deterministic = entries["deterministic"]
    if not isinstance(deterministic, bool):
        raise ValueError(f"deterministic={shown(deterministic)} is not allowed; true or false are")
    return Card(
        game=game,
        variants=tuple(make_variant(game, **variant) for variant in options),
        memory=checked_choice("memory", entries["memory"], MEMORIES),
        network={name: integer(shown(name), size, 1, 2**31) for name, size in sizes.items()},
        deterministic=deterministic,
        entries=entries,
    )


def _object(name: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name}={shown(value)} is not allowed; it must be a JSON object")
    return value


def require_plain(path: Path) -> None:
    """Refuses pipes and devices, which may never end.

    Raises:
        ValueError: there is something at ``path`` that is no plain file; the message does not name
            it.
    """
    if path.exists() and not path.is_file():
        raise ValueError("it is no plain file")


def read_limited(path: Path, limit: int) -> bytes:
    """The bytes of a small file.

    Raises:
        ValueError: it is no plain file, cannot be read, or has more than ``limit`` bytes; the
            message does not name it.
    """
    try:
        require_plain(path)
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise ValueError(error.strerror or "it cannot be read") from error
    if len(data) > limit:
        raise ValueError(f"it is larger than {limit} bytes")
    return data


def parse_json(data: bytes | str) -> Any:
    """``data`` as JSON, without what JSON has not: NaN, infinities, or a key twice in an object.

    Raises:
        ValueError: it is no such JSON, or is nested too deeply.
    """
    try:
        value = json.loads(
            data, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_distinct
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    # Less than json.loads bears, so that nothing that is done with it later runs out of stack.
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [part for whole in level for part in _parts(whole)]
    if level:
        raise ValueError("it is nested too deeply")
    return value


def _parts(value: object) -> Collection[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("it holds a number that is not finite")
    return number


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("it holds a name twice")
    return result
