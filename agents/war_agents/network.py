"""The network that reads token observations: plain torch, without any training library."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from war_envs.engine import ENGINES
from war_envs.variant import Variant, integer

try:
    import torch
    from torch import Tensor, nn

    from war_agents.row_sums import row_sums
except ImportError as error:
    raise ImportError(
        'trained networks need torch, which is missing: pip install "war-envs[train]"'
    ) from error

MAX_UNITS: Final = 4096
_ZONES: Final = ("own", "other", "table")
# Standard deviations of the weights at the start: of a top card's, falling with the square of the
# place, and of the last cards'.
_TOP_STD: Final = 0.6
_LAST_STD: Final = 0.12


@dataclass(frozen=True)
class NetworkShape:
    """How large a `CardNetwork` is.

    Attributes:
        embedding: units that each card slot and the header are added up into.
        hidden: units of the layer behind it, one for the policy and one for the value.
    """

    embedding: int = 128
    hidden: int = 128

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            object.__setattr__(self, name, integer(name, value, 1, MAX_UNITS))


class CardNetwork(nn.Module):
    """Tokens in, a logit for each action and a value out.

    A token stands for a few features (known? to the other? rank, suit: the columns of a vector
    observation). Each slot has weights for each feature, so the first layer is that of a dense
    network on the vector observation; but the features of a token are summed up once, in a table
    with a row for each token and slot, and a position costs only one row a card. The last card of
    each zone (hands, table) is read once more, in a slot of its own, as its place varies. ReLU
    follows, and a hidden layer each for the policy and the value.

    In evaluation mode the table is made once, by ``eval()``: call it again after changing weights.

    Args:
        variant: the game and its deck; the modes do not matter.
        shape: how large.

    The weights are uninitialised: `initialise` them, or load a state dict. No generator is used.
    """

    scales: Tensor
    features: Tensor
    numbers: Tensor
    places: Tensor
    zones: Tensor

    def __init__(self, variant: Variant, shape: NetworkShape) -> None:
        super().__init__()
        engine = ENGINES[variant.game]
        encoding = engine.encoding
        self.shape = shape
        self._header_size = len(encoding.header)
        self._deck_size = variant.deck_size
        self._table: Tensor | None = None
        zones = encoding.slots_per_card
        slots = encoding.num_slots(variant.deck_size) + zones
        self._sizes_at = [encoding.index(f"{zone}_size") for zone in _ZONES[:zones]]
        possible = _possible_tokens(encoding.features, variant.deck)
        numbers = np.zeros(len(encoding.features), np.int32)
        numbers[possible] = np.arange(len(possible))
        self._constant("zones", torch.arange(zones) * variant.deck_size)
        self._constant("scales", torch.tensor(encoding.scales))
        self._constant("features", torch.tensor(encoding.features[possible]))
        self._constant("numbers", torch.from_numpy(numbers * slots))
        self._constant("places", torch.arange(slots, dtype=torch.int32))
        self.slots = nn.Parameter(torch.empty(self.features.shape[1], slots, shape.embedding))
        self.header = _linear(self._header_size, shape.embedding)
        self.policy = _head(shape, engine.num_actions)
        self.value = _head(shape, 1)

    @property
    def width(self) -> int:
        """F: entries of an observation."""
        return self._header_size + len(self.zones) * self._deck_size

    def _constant(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value, persistent=False)

    def initialise(self, generator: torch.Generator) -> None:
        """Sets all weights to where training starts, drawing from ``generator`` only."""
        # The cards that meet next matter most. With equal weights they would be lost among all
        # others, and learning what beats what takes ten times as long.
        places = self.places[: -len(self.zones)] % self._deck_size
        last = torch.full(self.zones.shape, _LAST_STD)
        std = torch.cat([_TOP_STD / (1.0 + places) ** 2, last])
        with torch.no_grad():
            self.slots.normal_(generator=generator).mul_(std[:, None])
        _set_up(self.header, 1.0, generator)
        for head, gain in ((self.policy, 0.01), (self.value, 1.0)):
            _set_up(head[0], math.sqrt(2.0), generator)
            _set_up(head[2], gain, generator)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values.

        Args:
            tokens: uint8 (B, F), token observations.

        Returns:
            Logits, float32 (B, A), of all actions, legal or not; and values (B,), the expected
            reward of the viewer.
        """
        units = self.embed(tokens)
        return self.policy(units), self.value(units).squeeze(-1)

    def values(self, tokens: Tensor) -> Tensor:
        """Just the values of `forward`."""
        values: Tensor = self.value(self.embed(tokens)).squeeze(-1)
        return values

    def logits(self, tokens: Tensor) -> Tensor:
        """Just the logits of `forward`."""
        logits: Tensor = self.policy(self.embed(tokens))
        return logits

    def embed(self, tokens: Tensor) -> Tensor:
        """The first layer: float32 (B, embedding), after ReLU."""
        table = self._make_table() if self._table is None else self._table
        header = tokens[:, : self._header_size] / self.scales
        cards = self.numbers[tokens[:, self._header_size :].int()]
        ends = self.zones + (tokens[:, self._sizes_at].long() - 1).clamp_min(0)
        cards = torch.cat([cards, cards.gather(1, ends)], dim=1)
        # Empty slots (token 0) have no features: all of them read row 0, which is zero.
        rows = (cards + self.places) * (cards != 0)
        return torch.relu(row_sums(rows, table) + self.header(header))

    def _make_table(self) -> Tensor:
        table = self.features @ self.slots.flatten(1)
        return table.view(-1, self.shape.embedding)

    def train(self, mode: bool = True) -> Self:
        """Training mode, or evaluation mode with the table made ready."""
        super().train(mode)
        self._table = None
        if not mode:
            with torch.no_grad():
                self._table = self._make_table()
        return self


def _possible_tokens(features: NDArray[np.float32], deck: tuple[int, ...]) -> NDArray[np.int64]:
    """The tokens that show a card of ``deck`` or none; the last 17 features are rank and suit."""
    ranks, suits = features[:, -17:-4], features[:, -4:]
    cards = 4 * ranks.argmax(axis=1) + suits.argmax(axis=1)
    return np.flatnonzero(~ranks.any(axis=1) | np.isin(cards, deck))


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer whose weights are not drawn, so that no global generator moves."""
    return nn.utils.skip_init(nn.Linear, inputs, outputs)  # type: ignore[no-any-return, no-untyped-call]


def _set_up(layer: Any, gain: float, generator: torch.Generator) -> None:
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    nn.init.zeros_(layer.bias)


def _head(shape: NetworkShape, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        _linear(shape.embedding, shape.hidden), nn.ReLU(), _linear(shape.hidden, outputs)
    )


def masked_log_probabilities(logits: Tensor, action_mask: Any) -> Tensor:
    """The logarithms of the probabilities of actions, -1e8 or so for illegal ones.

    Args:
        logits: float (B, A).
        action_mask: (B, A), nonzero for legal actions; an array or a tensor.
    """
    legal = torch.as_tensor(action_mask, device=logits.device).bool()
    return torch.log_softmax(logits.masked_fill(~legal, -1e8), dim=-1)


def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """``array`` as a tensor that shares its memory, also if it is read-only: it is only read."""
    return torch.from_numpy(array if array.flags.writeable else array.copy())
