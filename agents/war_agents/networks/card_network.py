"""The network that reads token observations: plain torch, without any training library."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from war_agents.networks.meetings import FIRST_PLACES, Meetings
from war_agents.networks.row_sums import row_sums
from war_envs.engine.engine import ENGINES
from war_envs.engine.layout import RANK_FEATURES, SUIT_FEATURES
from war_envs.variant import Variant, integer

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
    with a row for each token and slot, and a position costs only one row per card. The last card of
    each zone (hands, table) is read once more, in a slot of its own, as its place varies. ReLU
    follows, and a hidden layer each for the policy and the value.

    It reads observations of any deck that has no more cards than its own; the slots that they do
    not have count as empty. The header tells which variant is played.

    In evaluation mode the table is kept, and made anew when the weights have changed.

    Args:
        variant: the game and the largest deck; the modes do not matter.
        shape: how large.

    Attributes:
        variant, shape: as given.
        header_size: H, the entries of an observation before its cards.
        meetings: what makes further inputs in Strategic War, else None.

    The weights are uninitialised: `initialise` them, or load a state dict. No generator is used.
    """

    scales: Tensor
    features: Tensor
    numbers: Tensor
    places: Tensor
    zones: Tensor
    sizes_at: Tensor

    def __init__(self, variant: Variant, shape: NetworkShape) -> None:
        super().__init__()
        engine = ENGINES[variant.game]
        encoding = engine.layout
        self.variant = variant
        self.shape = shape
        self.header_size: Final = len(encoding.header)
        self._deck_size = variant.deck_size
        self._later_modes = variant.num_later_modes
        self._layout = encoding
        self._ready: tuple[Tensor, nn.Parameter, int] | None = None  # see `_ready_table`
        zones = encoding.slots_per_card
        slots = encoding.num_slots(variant.deck_size) + zones
        possible = _possible_tokens(encoding.features, variant.deck)
        numbers = np.zeros(len(encoding.features), np.int32)
        numbers[possible] = np.arange(len(possible))
        self._constant("zones", torch.arange(zones))
        sizes_at = [encoding.index(f"{zone}_size") for zone in _ZONES[:zones]]
        self._constant("sizes_at", torch.tensor(sizes_at))
        self._constant("scales", torch.tensor(encoding.scales))
        self._constant("features", torch.tensor(encoding.features[possible]))
        self._constant("numbers", torch.from_numpy(numbers * slots))
        self._constant("places", torch.arange(slots, dtype=torch.int32))
        self.slots = nn.Parameter(torch.empty(self.features.shape[1], slots, shape.embedding))
        self.meetings = Meetings() if variant.game == "strategic-war" else None
        more = self.meetings.size if self.meetings is not None else 0
        self.header = _linear(self.header_size + self._later_modes + more, shape.embedding)
        self.policy = _head(shape, engine.num_actions)
        self.value = _head(shape, 1)

    def deck_size_of(self, width: int) -> int:
        """The cards of the deck whose observations have ``width`` entries.

        Raises:
            ValueError: there is none, or it is larger than the network's own.
        """
        # While torch traces, a size is a tensor.
        entries, zones = int(width), len(self.zones)
        size = self._layout.deck_size(entries)
        later_modes = entries - self.header_size - zones * size
        if not 0 < size <= self._deck_size or not 0 <= later_modes <= self._later_modes:
            raise ValueError(
                f"observation has {width} entries; the network reads {self.header_size} and "
                f"{zones} for each card of a deck of up to {self._deck_size}"
            )
        return size

    def _constant(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value, persistent=False)

    def initialise(self, generator: torch.Generator) -> None:
        """Samples the weights that training starts from, with ``generator`` only."""
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
        table = self.table() if self.training else self._ready_table()
        rows, inputs = self.read(tokens)
        return torch.relu(row_sums(rows, table) + self.header(inputs))

    def read(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """What the first layer takes: rows of `table` to add up, and numbers.

        Returns:
            int32 (B, K), and float32 (B, H + M): the header, later modes, and in Strategic War
            `Meetings`.
        """
        deck_size = self.deck_size_of(tokens.shape[1])
        header, cards, modes = tokens.tensor_split(
            (self.header_size, self.header_size + len(self.zones) * deck_size), dim=1
        )
        sizes = tokens.index_select(1, self.sizes_at).long()
        ends = self.zones * deck_size + (sizes - 1).clamp_min(0)
        last = cards.gather(1, ends)
        inputs = header / self.scales
        if self._later_modes:  # those that the observation does not tell of are off
            missing = self._later_modes - modes.shape[1]
            inputs = torch.cat([inputs, functional.pad(modes.float(), (0, missing))], dim=1)
        if self.meetings is not None:
            own, other = cards[:, :FIRST_PLACES], cards[:, deck_size : deck_size + FIRST_PLACES]
            meeting = [own, last[:, :1], last[:, 2:], other, last[:, 1:2]]
            chances = self.meetings(header, torch.cat(meeting, dim=1))
            inputs = torch.cat([inputs, chances], dim=1)
        return self._rows(torch.cat([cards, last], dim=1), deck_size), inputs

    def _rows(self, cards: Tensor, deck_size: int) -> Tensor:
        # Many times as fast as indexing, and a plain Gather in ONNX.
        numbers = self.numbers.index_select(0, cards.flatten().int())
        cards = numbers.view(-1, cards.shape[1])
        # Empty slots (token 0) have no features: all of them read row 0, which is zero.
        return (cards + self._places_of(deck_size)) * (cards != 0)

    def _places_of(self, deck_size: int) -> Tensor:
        """The slots of a deck of ``deck_size`` cards, int32 (K,), the zones' last cards behind."""
        if deck_size == self._deck_size:
            return self.places
        zones = self.places[: -len(self.zones)].view(len(self.zones), -1)
        return torch.cat([zones[:, :deck_size].flatten(), self.places[-len(self.zones) :]])

    def narrowed(self, variant: Variant) -> "CardNetwork":
        """The same network for one of its variants alone: less of slots and inputs.

        Raises:
            RuntimeError: it knows no such variant.
        """
        narrow = CardNetwork(variant, self.shape)
        weights = self.state_dict()
        weights["slots"] = weights["slots"][:, self._places_of(variant.deck_size)]
        first, _, more = weights["header.weight"].tensor_split(
            (self.header_size + narrow._later_modes, self.header_size + self._later_modes), dim=1
        )
        weights["header.weight"] = torch.cat([first, more], dim=1)
        narrow.load_state_dict(weights)
        return narrow

    def table(self) -> Tensor:
        """What each token adds in each slot, float32 (tokens * slots, embedding)."""
        table = self.features @ self.slots.flatten(1)
        return table.view(-1, self.shape.embedding)

    def _ready_table(self) -> Tensor:
        """`table` of the weights as they are, made anew only where somebody has written to them."""
        # torch counts what is written to a tensor in place, as by an optimiser or load_state_dict.
        weights, version = self.slots, self.slots._version
        if self._ready is None or self._ready[1] is not weights or self._ready[2] != version:
            with torch.no_grad():
                self._ready = self.table(), weights, version
        return self._ready[0]

    def train(self, mode: bool = True) -> Self:
        """Training mode, or evaluation mode with the table made ready."""
        super().train(mode)
        if mode:
            self._ready = None  # it would be of no use, and large
        else:
            self._ready_table()
        return self


def _possible_tokens(features: NDArray[np.float32], deck: tuple[int, ...]) -> NDArray[np.int64]:
    """The tokens that show a card of ``deck`` or none; the last features are rank and suit."""
    ranks, suits = features[:, RANK_FEATURES], features[:, SUIT_FEATURES]
    cards = 4 * ranks.argmax(axis=1) + suits.argmax(axis=1)
    return np.flatnonzero(~ranks.any(axis=1) | np.isin(cards, deck))


def _linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer with uninitialised weights, so that no global generator moves."""
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
