"""Which agents of a tournament are asked no more, since they always hang or end their process."""

from collections.abc import Sequence

from war_agents.arena.playing.blocks import NOT_ASKED, Block, not_asked
from war_agents.arena.playing.games import Games


class Trials:
    """What came of the first block of each agent; one that was given up there is asked no more.

    It depends on the blocks and their games alone, not on when each is played, nor where: so the
    results are the same with any number of processes, and after a break.

    Args:
        blocks: all that there may be, in order.
        limited: for each player, may it hang or exit? The others are not on trial.
    """

    def __init__(self, blocks: Sequence[Block], limited: Sequence[bool]) -> None:
        self._first: dict[int, Block] = {}
        for block in blocks:
            for player in (block.a, block.b):
                if limited[player]:
                    self._first.setdefault(player, block)
        self._reasons: dict[int, str] = {}

    def before(self, block: Block) -> set[Block]:
        """The blocks whose games must be known before those of ``block`` are; earlier ones."""
        first = {self._first[player] for player in (block.a, block.b) if player in self._first}
        # What an agent's first block says of it, it says whatever has become of the other one.
        return set() if block in first else first

    def note(self, block: Block, games: Games) -> None:
        """The games of ``block`` are known, and those of the blocks `before` it."""
        for side, reason in games.forfeits.values():
            player = (block.a, block.b)[side]
            if self._first.get(player) == block and reason.startswith(NOT_ASKED):
                self._reasons[player] = reason.removeprefix(NOT_ASKED)

    def given_up(self, block: Block) -> Games | None:
        """The games of ``block``, all lost, if an agent in it is asked no more."""
        reasons = {
            side: self._reasons[player]
            for side, player in enumerate((block.a, block.b))
            if player in self._reasons
        }
        return not_asked(block.numbers, reasons) if reasons and self.before(block) else None
