"""One game's record as Python reads and checks it: what is the same in both games."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_envs.cards import NUM_CARDS
from war_envs.engine.kernels import (
    NO_CARD,
    RING,
    RUNNING,
    TERMINATED,
    TRUNCATED,
    VACANT,
    Record,
    Records,
)
from war_envs.engine.protocols import GameModule
from war_envs.messages import shown
from war_envs.variant import LATER_MODES, MODES, Variant

_PRIMARY = ("sizes", "rng", "turn", "twins", "status", "winner")  # see `GameRecord.PRIMARY`
_ROW = np.zeros(1, np.int64)
_RANGES = {
    "sizes": (0, NUM_CARDS),
    "twins": (0, 1),
    "status": (0, 2),
    "winner": (-1, 1),
    "last_taker": (-1, 1),
}
_RED = 0x5555555555555555  # the bits of all red cards


def new_games(module: GameModule, variant: Variant, number: int) -> Records:
    """``number`` records of a variant, not dealt yet and with no generator state."""
    games = np.zeros(number, module.rules.GAME)
    games["num_ranks"] = variant.num_ranks
    games["max_turns"] = variant.turn_limit
    for mode in MODES.values():
        games[mode] = getattr(variant, mode)
    for place, mode in enumerate(LATER_MODES):
        games["later_modes"] |= np.uint32(getattr(variant, mode) << place)
    module.record.prepare(games, variant)
    return games


def hand(game: Record, player: int) -> list[int]:
    """The cards of a player's hand, top first."""
    return [int(card) for card in game["hands"][player][_places(game, player)]]


def saved(module: GameModule, games: Records) -> dict[str, NDArray[Any]]:
    """How games (B,) stand: arrays (B, ...) of all that does not follow from the rest.

    Hands have their top card first, whatever place of its ring that is in.
    """
    order = (games["heads"][..., np.newaxis] + np.arange(RING)) % RING
    hands = np.take_along_axis(games["hands"], order, axis=2)
    return {"hands": hands} | {field: games[field].copy() for field in _primary(module)}


def restored(
    module: GameModule, variants: Sequence[Variant], fields: Mapping[str, NDArray[Any]]
) -> Records:
    """Records of what `saved` gave, game i of ``variants[i]``.

    Raises:
        ValueError: other arrays, or games that cannot be, naming the field.
    """
    games = np.concatenate([new_games(module, variant, 1) for variant in variants])
    names = ("hands", *_primary(module))
    if set(fields) != set(names):
        raise ValueError(f"state: the record must hold {', '.join(names)}")
    for name in names:
        given, own = fields[name], games[name]
        if (given.dtype, given.shape) != (own.dtype, own.shape):
            raise ValueError(f"state: {name} is not {own.dtype} of shape {own.shape}")
        games[name] = given
    for row, variant in enumerate(variants):
        one = games[row : row + 1]
        _check_ranges(module, one[0], variant)
        in_play = _checked_cards(module, one[0], variant)
        one["in_play"] = sum(1 << card for card in in_play)
        module.rules.rebuild_rows(one, _ROW)
        _check_together(module, one[0])
    return games


def _primary(module: GameModule) -> tuple[str, ...]:
    return (*_PRIMARY, *module.record.PRIMARY)


def to_plain(fields: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """What `saved` gave of one game as plain data, for JSON."""
    return {name: array[0].tolist() for name, array in fields.items()}


def from_plain(module: GameModule, fields: object) -> dict[str, NDArray[Any]]:
    """What `to_plain` was given; its entries are checked for what can be no such array.

    Raises:
        ValueError: ``fields`` is something else, naming the field.
    """
    names = ("hands", *_primary(module))
    if not isinstance(fields, dict) or set(fields) != set(names):
        raise ValueError(f"state: the record must hold {', '.join(names)}")
    dtype = module.rules.GAME
    return {name: _array(name, fields[name], dtype[name]) for name in names}


def _array(name: str, value: object, dtype: np.dtype[Any]) -> NDArray[Any]:
    """``value``, an integer or lists of them, as a field of one record: (1, ...)."""
    array, limits = np.array(value, object), np.iinfo(dtype.base)
    if array.shape != dtype.shape or not all(
        type(entry) is int and limits.min <= entry <= limits.max for entry in array.flat
    ):
        raise ValueError(
            f"state: {name} is {shown(value)}, not {dtype.base} of shape {dtype.shape}"
        )
    return array.astype(dtype.base)[np.newaxis]


def _checked_cards(module: GameModule, game: Record, variant: Variant) -> list[int]:
    """The cards in play; refuses what cannot be a part of the deck."""
    cards = hand(game, 0) + hand(game, 1) + module.record.table(game)
    if len(set(cards)) != len(cards) or not set(cards) <= set(variant.deck):
        raise ValueError("state: the cards in play are not distinct cards of the deck")
    return cards


def _check_together(module: GameModule, game: Record) -> None:
    """Refuses what no game can reach, as far as kernels rely on it."""
    _check_vacant(game, module.record.vacant(game))
    _check_knowledge(game)
    _check_progress(game)
    module.record.check_progress(game)
    if not module.record.tells_last(game):
        raise ValueError("state: what is told of the last choice does not fit the game")
    if not game["rng"].any():
        raise ValueError("state: rng is all zero")


def _check_ranges(module: GameModule, game: Record, variant: Variant) -> None:
    """What each field may be, whatever the others are."""
    ranges = {**_RANGES, **module.record.RANGES, "turn": (0, variant.turn_limit)}
    ranges["last_action"] = (-1, len(module.words.ACTIONS) - 1)
    for field, (low, high) in ranges.items():
        if np.any(game[field] < low) or np.any(game[field] > high):
            raise ValueError(f"state: {field} is {game[field]}, allowed are {low} to {high}")
    for field in module.record.CARDS:
        if np.any((game[field] >= NUM_CARDS) & (game[field] != NO_CARD)):
            raise ValueError(f"state: {field} is {game[field]}, which is no card")


def _places(game: Record, player: int) -> Any:
    """Where in its ring the cards of a hand lie, top first."""
    return (int(game["heads"][player]) + np.arange(int(game["sizes"][player]))) % RING


def _check_vacant(game: Record, beside: Any) -> None:
    """Where no card lies nothing is left of an earlier one."""
    vacant = [np.delete(game["hands"][player], _places(game, player)) for player in (0, 1)]
    if any(np.any(places != VACANT) for places in (*vacant, beside)):
        raise ValueError("state: there are cards where none can lie")


def _check_knowledge(game: Record) -> None:
    """Only cards in play are seen: all of them if open; and twins tell only if all have one."""
    in_play, seen = int(game["in_play"]), np.ravel(game["seen"]).tolist()
    if any(cards & ~in_play or (game["open_cards"] and cards != in_play) for cards in seen):
        raise ValueError("state: seen does not match the cards in play")
    red = in_play & _RED
    if game["twins"] and not (game["fair"] and in_play == red | red << 1):
        raise ValueError("state: twins is 1, but the cards in play are no Fair deal")


def _check_progress(game: Record) -> None:
    """Status, turns and winner must go together."""
    running, ended = game["status"] == RUNNING, game["status"] == TERMINATED
    if running and game["turn"] >= game["max_turns"]:
        raise ValueError(f"state: the game runs, but turn is {game['turn']}, its limit")
    if game["status"] == TRUNCATED and game["turn"] != game["max_turns"]:
        raise ValueError(f"state: the game is truncated at turn {game['turn']}, not its limit")
    if game["winner"] >= 0 and not ended:
        raise ValueError(f"state: winner is {game['winner']} with status {game['status']}")
