"""The card of a model: its JSON file, written and read. Neither the model nor torch is needed.

A card may come from anywhere. It is data and never run, and its text reaches a terminal only
through `war_envs.messages.printable`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from war_agents.files import parse_json, read_limited, write_json
from war_envs.engine.layout import MEMORIES, checked_choice
from war_envs.messages import one_line, shown
from war_envs.variant import GAMES, Variant, checked_options, integer, make_variant

FORMAT: Final = "war-envs policy"
VERSION: Final = 2
ENCODING: Final = "tokens"  # what every network reads
MAX_CARD_BYTES: Final = 16 * 2**20
_MODEL_SUFFIX: Final = ".safetensors"


@dataclass(frozen=True)
class Card:
    """What a model needs to be loaded, and all else that its card says.

    Attributes:
        game: its name.
        variants: what the model was trained for.
        memory: what its observations hold, ``"perfect"`` or ``"table"``.
        network: the network's sizes by name, positive integers.
        deterministic: whether it always takes its most probable action.
        entries: the whole card, as JSON has it.
    """

    game: str
    variants: tuple[Variant, ...]
    memory: str
    network: Mapping[str, int]
    deterministic: bool
    entries: Mapping[str, Any]


def model_name(file: Path) -> str:
    """What a model file is called: its name, without ``.safetensors`` if it ends so."""
    return file.name.removesuffix(_MODEL_SUFFIX)


def card_file(file: Path) -> Path:
    """Where the card of a model file is: `model_name` and ``.json``.

    So ``a.safetensors`` has the card ``a.json``, and ``pair.v1`` has ``pair.v1.json``.
    """
    return file.with_name(f"{model_name(file)}.json")


def read_card(file: Path) -> Card:
    """The card of the model ``file``, without reading the model.

    Raises:
        ValueError: it is missing, damaged, or of something else; in one line that names it.
    """
    path = card_file(file)
    other = file.with_name(f"{file.name}{_MODEL_SUFFIX}")
    if other.is_file():
        raise ValueError(f"{path} is the card of {other.name}, not of {file}: rename one of them")
    try:
        # Stores of models keep links in their folders; what is no card is not shown.
        entries = parse_json(read_limited(path, MAX_CARD_BYTES, linked=True))
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


def write_card(
    file: Path,
    *,
    variants: Sequence[Variant],
    memory: str,
    network: Mapping[str, int],
    deterministic: bool,
    sha256: str,
    entries: Mapping[str, Any],
) -> None:
    """Replaces the card of the model ``file``, whole or not at all.

    Args:
        file: the model file; it is not read.
        variants, memory, network, deterministic: see `Card`; the variants are of one game.
        sha256: of the model file, in hexadecimal, so that readers can tell whose card it is.
        entries: what else the card says, as JSON has it.

    Raises:
        OSError: it cannot be written; the old one is still there.
    """
    card = {
        "format": FORMAT,
        "version": VERSION,
        "game": variants[0].game,
        "variants": [variant.options for variant in variants],
        "encoding": ENCODING,
        "memory": memory,
        "network": dict(network),
        "deterministic": deterministic,
        **entries,
        "sha256": sha256,
    }
    write_json(card_file(file), card)


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
