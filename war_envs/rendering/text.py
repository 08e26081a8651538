"""The table as text.

A seat's view is drawn from its own token observation, so it cannot show more than the seat may see.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_envs.engine.engine import Engine
from war_envs.variant import Variant


def view(engine: Engine, variant: Variant, tokens: NDArray[np.uint8], seat: int, turn: int) -> str:
    """What ``seat`` sees, from its token observation: unknown cards are ``??``, of known colour
    ``?r``, ``?b``.
    """
    faces = engine.module.words.FACES
    slots = tokens[len(engine.layout.header) :][: engine.layout.num_slots(variant.deck_size)]
    zones = slots.reshape(-1, variant.deck_size)
    rows = [[faces[token] for token in zone if token] for zone in zones]
    own, other, *table = rows
    hands = (own, other) if seat == 0 else (other, own)
    return _draw(engine, variant, turn, f"seen by player_{seat}", hands, table)


def everything(engine: Engine, variant: Variant, game: Any) -> str:
    """All cards face up, from the game record."""
    hands = tuple(engine.card_names(engine.hand(game, player)) for player in range(2))
    table = [engine.card_names(engine.table(game))]
    return _draw(engine, variant, int(game["turn"]), "all open", hands, table)


def _draw(
    engine: Engine,
    variant: Variant,
    turn: int,
    seen: str,
    hands: tuple[list[str], ...],
    table: list[list[str]],
) -> str:
    lines = [f"{engine.spec.title} ({variant.name}), turn {turn} of {variant.turn_limit}, {seen}"]
    for player, hand in enumerate(hands):
        lines.append(f"player_{player} ({len(hand):2}): {' '.join(hand)}")
    lines.extend(f"table    ({len(cards):2}): {' '.join(cards)}" for cards in table if cards)
    return "\n".join(lines)
