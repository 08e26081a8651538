"""Cards as small integers, and their names.

A card is ``4 * rank + suit``, 0 to 51. Suits are 0 hearts, 1 spades, 2 diamonds, 3 clubs, so that

* ``card & 1`` is the colour (0 red, 1 black),
* ``card ^ 1`` is the twin of the other colour that Fair mode deals opposite (H-S, D-C),
* ``card & 2`` is 0 for the two suits that Minimal mode keeps.

Ranks count from 0 in the game's own order, so that a deck of ``n`` ranks is the cards below ``4 *
n``.
"""

from typing import Final, Literal

from war_envs.messages import shown

GameName = Literal["attack-defence", "strategic-war"]

SUITS: Final = "HSDC"
RANKS: Final[dict[GameName, str]] = {
    "attack-defence": "A23456789TJQK",
    "strategic-war": "23456789TJQKA",
}
NUM_RANKS: Final = 13  # of the largest deck
NUM_SUITS: Final = len(SUITS)
NUM_CARDS: Final = NUM_RANKS * NUM_SUITS
NAMES: Final[dict[GameName, tuple[str, ...]]] = {
    game: tuple(rank + suit for rank in ranks for suit in SUITS) for game, ranks in RANKS.items()
}
_IDS: Final[dict[GameName, dict[str, int]]] = {
    game: {name: card for card, name in enumerate(names)} for game, names in NAMES.items()
}


def deck(num_ranks: int, minimal: bool) -> tuple[int, ...]:
    """The cards of a deck of ``num_ranks`` ranks, in ascending order."""
    return tuple(card for card in range(NUM_SUITS * num_ranks) if not (minimal and card & 2))


def parse(game: GameName, name: object) -> int:
    """The card that ``name`` ("TH", "AS", ...) stands for.

    Raises:
        ValueError: ``name`` is not the name of a card.
    """
    card = _IDS[game].get(name) if isinstance(name, str) else None
    if card is None:
        raise ValueError(
            f"card {shown(name)} is unknown; a card is a rank of {RANKS[game]} and a suit of "
            f"{SUITS}, such as 'TH'"
        )
    return card
