"""A model's card as readable text: no tensor is read, and torch is not needed."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from war_agents.files import json_text
from war_agents.models.find import find_model
from war_agents.models.model_card import Card, card_file
from war_agents.models.tensors import Tensors, read_tensors
from war_envs.messages import one_line, printable, shown
from war_envs.variant import Variant, integer

_MOST: Final = 50  # opponents that are listed; no honest card has so many
_WIDTH: Final = 14


def show_model(name: str | Path, *, game: str | None = None, as_json: bool = False) -> None:
    """Prints what a model is: its game, network and size, its training, and what it scored.

    Args:
        name, game: which model, see `war_agents.models.find.find_model`.
        as_json: prints the card as it is, instead of a text.

    Raises:
        ValueError: there is no such model, or its card or file is damaged; in one line that names
            the file.
    """
    file, card = find_model(name, game)
    tensors = read_tensors(file)
    try:
        rows = list(_rows(card, tensors))
    except ValueError as error:
        raise ValueError(f"{card_file(file)} is damaged: {one_line(error)}") from error
    if as_json:
        # In ASCII: whatever its strings hold, no terminal obeys it.
        print(json_text(card.entries, indent=2))
        return
    print(printable(str(file)))
    for key, value in rows:
        print(f"{key:{_WIDTH}}{printable(value)}")


def score_lines(card: Card) -> list[str]:
    """The scores of the last evaluation, one line per opponent; none if there was none.

    Raises:
        ValueError: the card's evaluations are malformed.
    """
    evaluations = card.entries.get("evaluations", [])
    if not isinstance(evaluations, list):
        raise ValueError(f"evaluations={shown(evaluations)} is no list")
    if not evaluations:
        return []
    scores = _mapping("scores", _mapping("evaluation", evaluations[-1]).get("scores"))
    return [_score(name, found) for name, found in islice(scores.items(), _MOST)]


def _rows(card: Card, tensors: Tensors) -> Iterator[tuple[str, str]]:
    yield "game", card.game
    for variant in card.variants:
        yield "variant", _variant(variant)
    yield "observations", f"{card.entries['encoding']}, {card.memory} memory"
    yield "network", ", ".join(f"{name} {size}" for name, size in card.network.items())
    counted = tensors.parameters
    number = "not counted without safetensors," if counted is None else f"{counted:,}"
    yield "parameters", f"{number} in a file of {tensors.file_bytes:,} bytes"
    yield "plays", "its likeliest action" if card.deterministic else "actions by their probability"
    if "steps" in card.entries:
        yield "trained", f"{integer('steps', card.entries['steps'], 0, 2**63):,} steps"
    config = _mapping("config", card.entries.get("config", {}))
    if "seed" in config:
        yield "seed", str(integer("seed", config["seed"], 0, 2**63))
    if "opponents" in config:
        shares = _mapping("opponents", config["opponents"])
        parts = (f"{name} {_number(name, share):g}" for name, share in shares.items())
        yield "opponents", ", ".join(islice(parts, _MOST))
    for line in score_lines(card):
        yield "score", line


def _variant(variant: Variant) -> str:
    numbers = {key: value for key, value in variant.options.items() if not isinstance(value, bool)}
    return ", ".join([variant.name, *(f"{key}={value}" for key, value in numbers.items())])


def _score(name: str, found: object) -> str:
    entry = _mapping(name, found)
    score, low, high = (_number(key, entry.get(key)) for key in ("score", "low", "high"))
    deals = integer("deals", entry.get("deals"), 1, 2**63)
    return f"{score:.3f} against {name}, {low:.3f} to {high:.3f} (95 %, {deals} deals)"


def _mapping(name: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{shown(name)}: {shown(value)} is no JSON object")
    return value


def _number(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e12:
        raise ValueError(f"{shown(name)}: {shown(value)} is no number of a sensible size")
    return float(value)
