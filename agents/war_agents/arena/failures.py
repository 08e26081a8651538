"""What becomes known of agents that fail: a file for each, and the end of a strict tournament."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from war_agents.arena.places import games_per_deal
from war_agents.arena.playing.blocks import Block
from war_agents.arena.playing.games import Games
from war_agents.files import write_text
from war_envs.messages import printable

FOLDER: Final = "failures"
_LONGEST_NAME: Final = 60


class Failures:
    """Keeps the first failure of each agent of a tournament.

    Args:
        folder: the tournament's; None keeps nothing.
        game: what is played.
        variants, names: what blocks count.
        strict: a failure ends the tournament.
    """

    def __init__(
        self,
        folder: Path | None,
        game: str,
        variants: Sequence[str],
        names: Sequence[str],
        *,
        strict: bool,
    ) -> None:
        self._folder = None if folder is None else folder / FOLDER
        self._per_deal = games_per_deal(game)
        self._variants = variants
        self._names = names
        self._strict = strict

    def forget(self) -> None:
        """Removes what is kept of an earlier run."""
        for player in range(len(self._names)):
            file = self._file(player)
            if file is not None:
                file.unlink(missing_ok=True)

    def note(self, block: Block, games: Games) -> None:
        """Looks through the games of a block.

        Raises:
            ValueError: an agent has failed in a strict tournament.
            OSError: it cannot be kept.
        """
        for side in sorted({side for side, _ in games.forfeits.values()}):
            rows = [row for row, forfeit in games.forfeits.items() if forfeit[0] == side]
            row = next((row for row in rows if row in games.tracebacks), min(rows))
            pair = (block.a, block.b)
            player, opponent = self._names[pair[side]], self._names[pair[1 - side]]
            told = (
                f"agent {player!r} {games.forfeits[row][1]}, against {opponent!r} in "
                f"{self._variants[block.variant]}, deal {block.numbers[row] // self._per_deal}"
            )
            file = self._file(pair[side])
            if file is not None and not file.exists():
                file.parent.mkdir(exist_ok=True)
                text = games.tracebacks.get(row, "There is no traceback.")
                write_text(file, f"{printable(told)}\n\n{text}\n")
            if self._strict:
                raise ValueError(
                    told
                    + ("" if file is None else f"; its traceback is in {file}")
                    + "; not strict, the game would be lost to it, and the others played"
                )

    def _file(self, player: int) -> Path | None:
        """Where the failure of a player is kept, whatever its name."""
        if self._folder is None:
            return None
        name = re.sub(r"[^\w-]+", "_", self._names[player])[:_LONGEST_NAME].strip("_")
        return self._folder / f"{player + 1}_{name}.txt"
