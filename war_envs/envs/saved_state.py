"""A game as bytes: JSON around the record, which whoever reads it must check."""

import json
from typing import Any

from war_envs.messages import shown

VERSION = 3

# What a state is of: api, game and variant.
Kind = dict[str, Any]


def dumped(kind: Kind, books: dict[str, Any], record: dict[str, Any]) -> bytes:
    """A state: what it is of, the ``books`` beside the record, and the record's fields."""
    content = {"war_envs": VERSION, **kind, "books": books, "record": record}
    return json.dumps(content, allow_nan=False).encode()


def parsed(state: object, kind: Kind) -> tuple[Any, Any]:
    """What `dumped` was given, books and record, neither of them checked any further.

    Raises:
        ValueError: ``state`` is not a state, or not of this ``kind``.
    """
    content = parsed_json(state)
    require_version(content, "war_envs", VERSION)
    for name, own in kind.items():
        if content.get(name) != own:
            raise ValueError(f"state: {name} is {shown(content.get(name))}, not {own!r}")
    return content.get("books"), content.get("record")


def require_version(content: dict[str, Any], key: str, version: int) -> None:
    """Refuses what is not the state of one kind of environment, in this version.

    Args:
        content: what a state says.
        key: where that kind keeps its version.
        version: which one it must be.

    Raises:
        ValueError: it is not.
    """
    if key not in content:
        raise ValueError(f"state is not one of this kind of environment: it has no {key}")
    if content[key] != version:
        raise ValueError(
            f"state: {key} is {shown(content[key])}, not {version}: it was written by another "
            "version of war_envs"
        )


def parsed_json(state: object) -> dict[str, Any]:
    """What a state says, not checked any further.

    Raises:
        ValueError: it is not a JSON object in bytes.
    """
    if not isinstance(state, bytes | bytearray):
        raise ValueError(f"state is a {type(state).__name__}; it must be bytes from get_state()")
    try:
        content = json.loads(state)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise ValueError("state is not one that get_state() gave")
    return content
