"""Variants, hands and card numbers for tests, made from the reference's own tables."""

import random
from itertools import product
from typing import Any, Final

from tests.reference.cards import RANK_ORDERS, SUITS, Game, colour, deck, twin

Options = dict[str, Any]
Hands = tuple[list[str], list[str]]

GAMES: Final[tuple[Game, ...]] = ("attack-defence", "strategic-war")
RANKS: Final = (3, 5, 7, 9, 11, 13)

# The number of a card, 4 * rank + suit, by its name.
CARD_IDS: Final[dict[Game, dict[str, int]]] = {
    game: {rank + suit: 4 * r + s for r, rank in enumerate(order) for s, suit in enumerate(SUITS)}
    for game, order in RANK_ORDERS.items()
}
CARD_NAMES: Final[dict[Game, list[str]]] = {
    game: sorted(ids, key=ids.__getitem__) for game, ids in CARD_IDS.items()
}


def modes() -> list[Options]:
    """The eight combinations of Minimal, Fair and Open-card."""
    names = ("minimal", "fair", "open_cards")
    return [dict(zip(names, used, strict=True)) for used in product((False, True), repeat=3)]


def variants(game: Game) -> list[Options]:
    """The eight modes, in Attack and Defence with both orders of picking up."""
    if game == "strategic-war":
        return modes()
    return [{**mode, "own_card": own} for mode in modes() for own in ("bottom", "first")]


def label(options: Options) -> str:
    """A short name of a variant for test ids."""
    words = [str(key if value is True else value) for key, value in options.items() if value]
    return "+".join(words)


def whole_deck(game: Game, options: Options) -> list[str]:
    """The cards of a variant's deck."""
    return deck(game, options.get("minimal", False), options.get("num_ranks", 13))


def deal(game: Game, options: Options, rng: random.Random) -> Hands:
    """A deal as the rules have it."""
    cards = whole_deck(game, options)
    red = [card for card in cards if colour(card) == "red"]
    if options.get("fair"):
        rng.shuffle(red)
        return red, [twin(card) for card in red]
    if game == "strategic-war":
        black = [card for card in cards if colour(card) == "black"]
        rng.shuffle(red)
        rng.shuffle(black)
        return red, black
    rng.shuffle(cards)
    half = len(cards) // 2
    return cards[:half], cards[half:]


def odd_hands(game: Game, options: Options, rng: random.Random) -> Hands:
    """Two hands of any sizes, often of only a part of the deck."""
    cards = whole_deck(game, options)
    rng.shuffle(cards)
    cards = cards[: rng.randint(2, len(cards))]
    cut = rng.randint(1, len(cards) - 1)
    return cards[:cut], cards[cut:]


def nearly_fair_hands(game: Game, options: Options, rng: random.Random) -> Hands:
    """A Fair deal of a part of the deck, and often something that spoils it."""
    red = [card for card in whole_deck(game, options) if colour(card) == "red"]
    rng.shuffle(red)
    first = red[: rng.randint(2, len(red))]
    second = [twin(card) for card in first]
    spoil = rng.choice(("nothing", "turned", "mixed", "order", "longer", "shorter"))
    if spoil == "turned":
        return second, first
    if spoil == "mixed":  # twins at every place, but not red against black
        place = rng.randrange(len(first))
        first[place], second[place] = second[place], first[place]
    elif spoil == "order":
        i, j = rng.sample(range(len(first)), 2)
        second[i], second[j] = second[j], second[i]
    elif spoil == "longer":
        second += [twin(card) for card in red[len(first) :]][:1]
    elif spoil == "shorter":
        second.pop(rng.randrange(len(second)))
    return first, second
