"""Strategic War, plain and slow, in the order of the rules page."""

from .cards import check_hands, deck, is_one_colour, rank, ranks, repeats, suit, twin

TOP = 0
BOTTOM = 1
FIGHT = 2
SURRENDER = 3


class StrategicWar:
    """One game. Hands are top first: index 0 is the top, the last index the bottom.

    Once the game is over, ``mover``, ``attacker`` and ``phase`` mean nothing any more. Out of
    cards, the game ends before the lay-down or flip that somebody could not make: the cards of
    that war stay on the table, and the war does not count as a round.
    """

    def __init__(
        self,
        hands: tuple[list[str], list[str]],
        *,
        first_attacker: int,
        minimal: bool = False,
        fair: bool = False,
        open_cards: bool = False,
        num_ranks: int = 13,
        max_turns: int,
    ) -> None:
        cards = deck("strategic-war", minimal, num_ranks)
        check_hands(hands, cards)
        if first_attacker not in (0, 1):
            raise ValueError(f"first_attacker is 0 or 1, not {first_attacker}")
        if max_turns < 1:
            raise ValueError(f"max_turns must be at least 1, not {max_turns}")

        self.hands: list[list[str]] = [list(hands[0]), list(hands[1])]
        self.open_cards = open_cards
        self.max_turns = max_turns
        self.ranks = ranks("strategic-war", num_ranks)

        # A Fair deal: "player 0 gets the red half, player 1 the black half", and "the black hand
        # repeats the red one". Any other hands draw no twin inference.
        self.twins_tell = fair and repeats(hands[0], hands[1]) and is_one_colour(hands[0], "red")

        # The cards laid in this round or war, in the order in which they were laid:
        # the card, whether it was flipped (face up), and who laid it.
        self.table: list[tuple[str, bool, int]] = []
        self.attacker = first_attacker
        self.mover = first_attacker
        self.phase = "attack"

        self.turn = 0
        self.over = False
        self.truncated = False
        self.winner: int | None = None

        # The cards whose face both players know. Nobody ever sees more than the other.
        self.seen: set[str] = set()

    # --- what a player can ask ---

    def legal(self) -> list[int]:
        """The legal actions of the mover."""
        if self.over:
            return []
        if self.phase in ("defender-surrender", "attacker-surrender"):
            # Asked "even of a player whose hand is empty".
            return [FIGHT, SURRENDER]
        if len(self.hands[self.mover]) == 1:
            # "Top and bottom are the same card: only TOP is legal."
            return [TOP]
        return [TOP, BOTTOM]

    def rewards(self) -> tuple[int, int]:
        """+1 to the winner, -1 to the loser; nothing before the end, for a tie or truncated."""
        if self.winner is None:
            return (0, 0)
        return (1, -1) if self.winner == 0 else (-1, 1)

    def known(self) -> tuple[list[bool], list[bool]]:
        """For hand 0 and hand 1, top first: do the players know the card at that place?"""
        first, second = ([self._knows(card) for card in hand] for hand in self.hands)
        return first, second

    def known_table(self) -> list[bool]:
        """The same for the cards on the table, in the order in which they were laid."""
        return [self._knows(card) for card, _, _ in self.table]

    # --- a choice ---

    def play(self, action: int) -> None:
        """Make the mover's choice, and everything that follows from it by itself."""
        if action not in self.legal():
            raise ValueError(f"illegal action {action} of player {self.mover}")
        attacker = self.attacker
        defender = 1 - attacker

        if self.phase == "attack":
            # "The attacker flips the top or the bottom card of their hand."
            self._flip(attacker, action)
            self.phase = "defend"
            self.mover = defender

        elif self.phase == "defend":
            # "The defender sees it, then flips top or bottom."
            self._flip(defender, action)
            self._compare()

        elif self.phase == "defender-surrender":
            # War, step 2: "the defender may surrender; if not, the attacker may surrender".
            if action == SURRENDER:
                self._collect(winner=attacker)
            else:
                self.phase = "attacker-surrender"
                self.mover = attacker

        elif action == SURRENDER:
            self._collect(winner=defender)

        else:
            # War, step 3: "each lays two more face down from the top, one at a time".
            self._lay_one_each()
            self._lay_one_each()
            # War, step 4, for which "both must hold a card".
            self._end_if_somebody_is_out_of_cards()
            self.phase = "attack"
            self.mover = attacker

    def _flip(self, player: int, action: int) -> None:
        hand = self.hands[player]
        card = hand.pop(0) if action == TOP else hand.pop()
        self.table.append((card, True, player))
        self.seen.add(card)
        if self.twins_tell:
            self.seen.add(twin(card))

    def _compare(self) -> None:
        """Compare the two cards flipped last: the attacker's, then the defender's."""
        card = self.table[-2][0]
        other = self.table[-1][0]
        if rank(card) != rank(other) and suit(card) != suit(other):
            attacker_wins = self._strength(card) > self._strength(other)
            self._collect(winner=self.attacker if attacker_wins else 1 - self.attacker)
        else:
            # "Otherwise there is a war", or it goes on. Step 1: "each player lays one card face
            # down from the top".
            self._lay_one_each()
            self.phase = "defender-surrender"
            self.mover = 1 - self.attacker

    def _lay_one_each(self) -> None:
        """One face-down card each from the top, asked of both players at the same time."""
        self._end_if_somebody_is_out_of_cards()
        if self.over:
            return
        for player in (self.attacker, 1 - self.attacker):
            self.table.append((self.hands[player].pop(0), False, player))

    def _end_if_somebody_is_out_of_cards(self) -> None:
        """Whoever must lay or flip a card and has none loses; if both have none, it is a tie."""
        if self.over:
            return
        out = [not self.hands[0], not self.hands[1]]
        if out[0] or out[1]:
            self.over = True
        if out[0] and not out[1]:
            self.winner = 1
        if out[1] and not out[0]:
            self.winner = 0

    def _collect(self, winner: int) -> None:
        """Every card on the table goes to the bottom of the winner's hand."""
        face_down = [card for card, face_up, _ in self.table if not face_up]
        face_up_cards = [card for card, face_up, _ in self.table if face_up]
        # High to low, equal ranks in the order in which they were flipped: sorted() never changes
        # the order of equals. Without a war these are two cards, the winner's and then the
        # loser's, for the higher one has won.
        high_to_low = sorted(face_up_cards, key=self._strength_from_the_top)
        self.hands[winner].extend(face_down + high_to_low)
        self.table = []

        # "Next attacker: the winner of the round or war."
        self.attacker = winner
        self.mover = winner
        self.phase = "attack"

        self.turn += 1
        # "A player left with no cards when a round or war has been collected has lost", also in
        # the last round of the limit.
        if not self.hands[1 - winner]:
            self.over = True
            self.winner = winner
        elif self.turn == self.max_turns:
            self.over = True
            self.truncated = True

    def _strength(self, card: str) -> int:
        """2 is lowest, A is highest."""
        return self.ranks.index(rank(card))

    def _strength_from_the_top(self, card: str) -> int:
        return -self._strength(card)

    # --- who knows what ---

    def _knows(self, card: str) -> bool:
        """Flipped cards are known wherever they now lie; all cards are in Open-card."""
        return self.open_cards or card in self.seen
