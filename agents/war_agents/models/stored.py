"""A model as it lies on disk, its weights and its card read as one.

A run in training replaces both again and again, the weights first. A reader gets both of one save,
never the weights of one and the card of another.
"""

import hashlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from war_agents.files import read_limited
from war_agents.models.model_card import Card, card_file, read_card
from war_envs.messages import one_line

MAX_MODEL_BYTES: Final = 2**30
PATIENCE_SECONDS: Final = 10.0
REST_SECONDS: Final = 0.25  # far longer than a save takes from the weights to the card
_AGAIN_SECONDS: Final = 0.01


@dataclass(frozen=True)
class StoredModel:
    """What one read of a model's two files gave.

    Attributes:
        file: where the weights were.
        weights: the bytes of that file, of which nothing has been checked.
        card: what its card says.
        sha256: of ``weights``, in hexadecimal.
    """

    file: Path
    weights: bytes = field(repr=False)
    card: Card = field(repr=False)
    sha256: str


def read_model(file: Path) -> StoredModel:
    """The weights and the card of the model ``file``, of one save.

    Both are read again while they are being replaced. A card that says which weights it is of
    (``sha256``) is waited for; where nothing changes any more, as after a save that was cut short,
    the two are taken as they are.

    Raises:
        ValueError: one of them is missing, damaged, too large, or replaced all the time; in one
            line that names it.
    """
    started = since = time.monotonic()
    stamps = _stamps(file)
    while True:
        try:
            card, weights = read_card(file), _read_weights(file)
        except ValueError:
            if _stamps(file) == stamps:
                raise
        else:
            found = StoredModel(file, weights, card, hashlib.sha256(weights).hexdigest())
            agree = card.entries.get("sha256") in (None, found.sha256)
            at_rest = agree or time.monotonic() - since > REST_SECONDS
            if at_rest and _stamps(file) == stamps:
                return found
        if time.monotonic() - started > PATIENCE_SECONDS:
            raise ValueError(f"{file} and its card are being replaced all the time; try again")
        time.sleep(_AGAIN_SECONDS)
        before, stamps = stamps, _stamps(file)
        if stamps != before:
            since = time.monotonic()


def _read_weights(file: Path) -> bytes:
    try:
        return read_limited(file, MAX_MODEL_BYTES, linked=True)
    except ValueError as error:
        raise ValueError(f"{file} is not a model that can be read: {one_line(error)}") from error


def _stamps(file: Path) -> list[Any]:
    """What changes when one of the two files is replaced or written to."""
    found: list[Any] = []
    for path in (file, card_file(file)):
        try:
            stat = path.stat()
        except OSError:
            found.append(None)
        else:
            found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
    return found
