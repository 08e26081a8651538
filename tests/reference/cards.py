"""Cards as strings, rank then suit: ``"TH"`` is the ten of hearts."""

from typing import Literal

Game = Literal["attack-defence", "strategic-war"]

# Each game's own order. War of Attack and Defence is a cycle, so its first rank follows its last.
# In Strategic War the two is lowest and the ace highest.
RANK_ORDERS: dict[Game, str] = {
    "attack-defence": "A23456789TJQK",
    "strategic-war": "23456789TJQKA",
}

SUITS = "HSDC"
MINIMAL_SUITS = "HS"
RED_SUITS = "HD"
TWIN_SUITS = {"H": "S", "S": "H", "D": "C", "C": "D"}


def rank(card: str) -> str:
    return card[0]


def suit(card: str) -> str:
    return card[1]


def colour(card: str) -> str:
    return "red" if suit(card) in RED_SUITS else "black"


def twin(card: str) -> str:
    """The same rank in the other colour: H and S are twins, and so are D and C."""
    return rank(card) + TWIN_SUITS[suit(card)]


def ranks(game: Game, num_ranks: int = 13) -> str:
    """The ranks in play: the first ``num_ranks`` of the game's own order."""
    if num_ranks not in (3, 5, 7, 9, 11, 13):
        raise ValueError(f"num_ranks must be odd, from 3 to 13, not {num_ranks}")
    return RANK_ORDERS[game][:num_ranks]


def deck(game: Game, minimal: bool = False, num_ranks: int = 13) -> list[str]:
    """Every card in play, suit by suit."""
    suits = MINIMAL_SUITS if minimal else SUITS
    return [r + s for s in suits for r in ranks(game, num_ranks)]


def check_hands(hands: tuple[list[str], list[str]], cards: list[str]) -> None:
    """Given hands are distinct cards of the deck, both non-empty."""
    if not hands[0] or not hands[1]:
        raise ValueError("both hands need at least one card")
    given = hands[0] + hands[1]
    if len(set(given)) != len(given):
        raise ValueError("a card was given twice")
    for card in given:
        if card not in cards:
            raise ValueError(f"{card} is not a card of this deck")


def is_one_colour(hand: list[str], wanted: str) -> bool:
    """True when the hand is all red (or all black)."""
    return all(colour(card) == wanted for card in hand)


def repeats(hand: list[str], other: list[str]) -> bool:
    """True when the other hand has the twin of this one's card at every place."""
    return other == [twin(card) for card in hand]
