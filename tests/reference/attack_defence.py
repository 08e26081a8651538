"""War of Attack and Defence, plain and slow, in the order of the rules page."""

from typing import TypedDict

from .cards import check_hands, deck, is_one_colour, rank, ranks, repeats, twin

ATTACK = 0
DEFEND = 1


class LastTurn(TypedDict, total=False):
    """What happened in the last turn; empty before the first one."""

    actions: tuple[int, int]
    # The card that each player played.
    cards: tuple[str, str]
    # The loser's next top card, taken besides the played one when both attacked.
    extra: str | None
    # "won" (somebody took a card), "tie" (both attacked, both take their own back)
    # or "swap" (both defended).
    outcome: str
    # Who took a card from the other, None after a tie or a swap.
    winner: int | None
    # What went to the bottom of each hand, in that order: the last one is the bottom card.
    collected: tuple[list[str], list[str]]


class AttackDefence:
    """One game. Hands are top first: index 0 is the top, the last index the bottom."""

    def __init__(
        self,
        hands: tuple[list[str], list[str]],
        *,
        minimal: bool = False,
        fair: bool = False,
        open_cards: bool = False,
        num_ranks: int = 13,
        max_turns: int,
        own_card: str = "bottom",
        fair_deal: bool | None = None,
    ) -> None:
        cards = deck("attack-defence", minimal, num_ranks)
        check_hands(hands, cards)
        if own_card not in ("bottom", "first"):
            raise ValueError(f"own_card is 'bottom' or 'first', not {own_card!r}")
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, not {max_turns}")

        self.hands: list[list[str]] = [list(hands[0]), list(hands[1])]
        self.open_cards = open_cards
        self.max_turns = max_turns
        self.own_card = own_card
        self.ranks = ranks("attack-defence", num_ranks)

        # Fair: "the red cards, shuffled, are one hand; the other hand is the same ranks in the
        # same order in black". Which player holds the red hand is left open, so both will do.
        # "Any other hands draw no twin inference."
        if fair_deal is None:
            fair_deal = repeats(hands[0], hands[1]) and (
                is_one_colour(hands[0], "red") or is_one_colour(hands[0], "black")
            )
        self.twins_tell = fair and fair_deal

        self.turn = 0
        self.over = False
        self.truncated = False
        self.winner: int | None = None
        self.last: LastTurn = {}

        # For each player, the cards whose face they know.
        self.seen: list[set[str]] = [set(), set()]
        self._look_at_own_top_cards()

    # --- what a player can ask ---

    def legal(self, player: int) -> list[int]:
        """Both actions are always legal, for either player."""
        if self.over:
            return []
        return [ATTACK, DEFEND]

    def rewards(self) -> tuple[int, int]:
        """+1 to the winner, -1 to the loser; nothing before the end or for a truncated game."""
        if self.winner is None:
            return (0, 0)
        return (1, -1) if self.winner == 0 else (-1, 1)

    def known(self, viewer: int) -> tuple[list[bool], list[bool]]:
        """For hand 0 and hand 1, top first: does the viewer know the card at that place?"""
        first, second = (
            [self.open_cards or card in self.seen[viewer] for card in hand] for hand in self.hands
        )
        return first, second

    # --- a turn ---

    def play(self, action0: int, action1: int) -> None:
        """Play one turn with player 0's and player 1's choice."""
        actions = (action0, action1)
        for player in (0, 1):
            if actions[player] not in self.legal(player):
                raise ValueError(f"illegal action {actions[player]} of player {player}")

        # "Both cards are played face up."
        cards = (self.hands[0].pop(0), self.hands[1].pop(0))
        self._show(0, cards[0])
        self._show(0, cards[1])
        self._show(1, cards[0])
        self._show(1, cards[1])

        extra: str | None = None
        winner: int | None = None
        collected: tuple[list[str], list[str]] = ([], [])

        if action0 == DEFEND and action1 == DEFEND:
            # "The played cards are swapped: each goes to the bottom of the other hand."
            outcome = "swap"
            collected[0].append(cards[1])
            collected[1].append(cards[0])

        elif action0 == ATTACK and action1 == ATTACK and rank(cards[0]) == rank(cards[1]):
            # "On a tie each card goes to the bottom of its owner's hand."
            outcome = "tie"
            collected[0].append(cards[0])
            collected[1].append(cards[1])

        elif action0 == ATTACK and action1 == ATTACK:
            # "The higher card takes two": the played one and "the loser's next top card (shown to
            # both)". "If the loser holds no second card, only the played one is taken."
            outcome = "won"
            winner = 0 if self.beats(cards[0], cards[1]) else 1
            loser = 1 - winner
            if self.hands[loser]:
                extra = self.hands[loser].pop(0)
                self._show(0, extra)
                self._show(1, extra)
            collected[winner].extend(self._pick_up(cards[winner], cards[loser], extra))

        else:
            # One attacks: "the higher card takes the other's played card, whoever attacked; a tie
            # goes to the defender".
            outcome = "won"
            defender = 0 if action0 == DEFEND else 1
            if rank(cards[0]) == rank(cards[1]):
                winner = defender
            else:
                winner = 0 if self.beats(cards[0], cards[1]) else 1
            loser = 1 - winner
            collected[winner].extend(self._pick_up(cards[winner], cards[loser], None))

        self.hands[0].extend(collected[0])
        self.hands[1].extend(collected[1])
        self.last = {
            "actions": actions,
            "cards": cards,
            "extra": extra,
            "outcome": outcome,
            "winner": winner,
            "collected": collected,
        }
        self._finish_turn()

    def beats(self, card: str, other: str) -> bool:
        """A card beats the (n-1)/2 ranks before it in the cycle; suits never matter."""
        n = len(self.ranks)
        place = self.ranks.index(rank(card))
        beaten = [self.ranks[(place - step) % n] for step in range(1, (n - 1) // 2 + 1)]
        return rank(other) in beaten

    def _pick_up(self, own: str, opponents: str, extra: str | None) -> list[str]:
        """The order in which the winner of a turn collects; the last one becomes the bottom."""
        if self.own_card == "bottom":
            # The extra, the opponent's card, the own card.
            order = [extra, opponents, own]
        else:
            # "Laid down in the order named": the own card, the opponent's, the extra.
            order = [own, opponents, extra]
        return [card for card in order if card is not None]

    def _finish_turn(self) -> None:
        self.turn += 1
        # "A player with no cards after a turn has lost", also on the last turn of the limit.
        for player in (0, 1):
            if not self.hands[player]:
                self.over = True
                self.winner = 1 - player
        if not self.over and self.turn == self.max_turns:
            self.over = True
            self.truncated = True
        # "At the start of a turn (not after the last one)."
        if not self.over:
            self._look_at_own_top_cards()

    # --- who knows what ---

    def _look_at_own_top_cards(self) -> None:
        """Each player sees their own top card at the start of a turn."""
        self._show(0, self.hands[0][0])
        self._show(1, self.hands[1][0])

    def _show(self, viewer: int, card: str) -> None:
        """The viewer sees a card; in a Fair deal this makes the other hand's card known too."""
        self.seen[viewer].add(card)
        if self.twins_tell:
            self.seen[viewer].add(twin(card))
