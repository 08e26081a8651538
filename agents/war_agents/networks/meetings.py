"""Strategic War: how the cards that may meet next would fare against each other."""

from typing import Final

import numpy as np
import torch
from torch import Tensor, nn

from war_envs.cards import NUM_RANKS
from war_envs.engine.engine import ENGINES
from war_envs.engine.layout import RANK_FEATURES, SUIT_FEATURES

_RANKS: Final = NUM_RANKS
# Among the features of a token.
COLOURS_AT: Final = slice(2, 4)
RANKS_AT: Final = RANK_FEATURES
SUITS_AT: Final = SUIT_FEATURES
# Of each hand, from the top; a war that the first card begins is decided by the fifth or the last.
FIRST_PLACES: Final = 5
_HAND: Final = FIRST_PLACES + 1


class Meetings(nn.Module):
    """Chances between the first five and the last card of each hand, and the table's last card.

    A card that is known has its rank for sure; an unseen one has each rank with the share of the
    unseen cards of its colour that have it. From these follow, for each pair of cards, the chances
    that the suits differ and the first beats the second or the second the first, and that the suits
    differ at all (two cards of one colour that are not both known: 1/2, in Minimal 0).

    Has no weights: all of it is in a token observation, but sums of products are hard to learn.

    Attributes:
        size: M, how many numbers there are.
    """

    size: Final = (2 * _HAND + 1) * _RANKS + 3 * (_HAND + 1) ** 2
    features: Tensor
    beats: Tensor

    def __init__(self) -> None:
        super().__init__()
        encoding = ENGINES["strategic-war"].layout
        self._unseen_at = encoding.index("unseen_red_0")
        self._minimal_at = encoding.index("minimal")
        self.register_buffer("features", torch.tensor(encoding.features), persistent=False)
        beats = torch.from_numpy(np.tri(_RANKS, k=-1, dtype=np.float32))
        self.register_buffer("beats", beats, persistent=False)

    def forward(self, header: Tensor, cards: Tensor) -> Tensor:
        """The chances, float32 (B, M).

        Args:
            header: uint8 (B, H), the header of token observations.
            cards: integers (B, 13), tokens: the first five cards of the own hand and its last, the
                table's last, and the same six of the other's hand.
        """
        features = nn.functional.embedding(cards.int(), self.features)
        ranks, suits = features[..., RANKS_AT], features[..., SUITS_AT]
        colours = features[..., COLOURS_AT]
        known = ranks.sum(dim=2, keepdim=True)
        unseen = header[:, self._unseen_at : self._unseen_at + 2 * _RANKS].float()
        unseen = unseen.view(-1, 2, _RANKS)
        shares = unseen / unseen.sum(dim=2, keepdim=True).clamp_min(1.0)
        chances = ranks + ((1.0 - known) * colours) @ shares
        guess = 0.5 + 0.5 * header[:, self._minimal_at].float()
        alike = _pairs(colours, colours) * guess[:, None, None]
        differ = 1.0 - torch.lerp(alike, _pairs(suits, suits), _pairs(known, known))
        below = chances @ self.beats.T  # of each rank: the chance that the card is lower
        wins = _pairs(chances, below) * differ
        losses = _pairs(below, chances) * differ
        return torch.cat([part.flatten(1) for part in (chances, wins, losses, differ)], dim=1)


def _pairs(one: Tensor, other: Tensor) -> Tensor:
    """Products of each own card (or the table's) of ``one`` with the table's and each of theirs."""
    return one[:, : _HAND + 1] @ other[:, _HAND:].transpose(1, 2)
