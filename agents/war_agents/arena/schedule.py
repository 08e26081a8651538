"""Which games a tournament plays, in rounds of blocks that depend on its settings alone."""

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Final

from war_agents.arena.playing.blocks import Block
from war_agents.arena.playing.games import chunks

BLOCK_GAMES: Final = 8192
FIRST_DEALS: Final = 250


def rounds(
    game: str, num_variants: int, num_players: int, deals: int, *, in_steps: bool
) -> Iterator[list[Block]]:
    """The blocks of each round: all pairs in all variants, on the same deals.

    Args:
        in_steps: 250 deals in the first round, and half as many more in each further one, with the
            last ending at ``deals``; else all in one round.
    """
    ends = [0]
    while ends[-1] < deals:
        following = max(FIRST_DEALS, ends[-1] * 3 // 2) if in_steps else deals
        ends.append(min(following, deals))
    for first, last in pairwise(ends):
        yield [
            Block(variant, a, b, numbers)
            for variant in range(num_variants)
            for a, b in combinations(range(num_players), 2)
            for numbers in chunks(game, first, last, BLOCK_GAMES)
        ]
