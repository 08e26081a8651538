"""Which agents of a tournament are asked no more, since they always hang or end their process."""

from collections.abc import Sequence
from typing import Final

from war_agents.arena.blocks import NOT_ASKED, Block, not_asked
from war_agents.arena.games import Games


class Trials:
    """What came of the first block of each agent; one that was given up there is asked no more.

    It depends on the blocks and their games alone, not on when each is played, nor where: so the
    results are the same with any number of processes, and after a break.

    Args:
        blocks: all that there may be, in order.
    """

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks: Final = blocks
        self._first: dict[int, int] = {}
        for place, block in enumerate(blocks):
            for player in (block.a, block.b):
                self._first.setdefault(player, place)
        self._reasons: dict[int, str] = {}

    def before(self, place: int) -> set[int]:
        """The places of the blocks whose games must be known before those of the one at ``place``.

        All of them are lower.
        """
        block = self._blocks[place]
        return {self._first[block.a], self._first[block.b]} - {place}

    def note(self, place: int, games: Games) -> None:
        """The games of the block at ``place`` are known, and those of blocks `before` it."""
        block = self._blocks[place]
        for side, reason in games.forfeits.values():
            player = (block.a, block.b)[side]
            if self._first[player] == place and reason.startswith(NOT_ASKED):
                self._reasons[player] = reason.removeprefix(NOT_ASKED)

    def given_up(self, block: Block) -> Games | None:
        """The games of ``block``, all lost, if an agent in it is asked no more."""
        reasons = {
            side: self._reasons[player]
            for side, player in enumerate((block.a, block.b))
            if player in self._reasons
        }
        return not_asked(block.numbers, reasons) if reasons else None
