"""Trained networks as agents: a safetensors file of weights, and beside it a JSON card.

Both are data: nothing in them is ever run. The card of ``model.safetensors`` is ``model.json``
(see `war_agents.models.model_card.card_file`)::

    {"format": "war-envs policy", "version": 2, "game": "attack-defence",
     "variants": [{"minimal": true, ...}], "encoding": "tokens", "memory": "perfect",
     "network": {"embedding": 256, "hidden": 128}, "deterministic": false, ...}

Further entries (how it was trained, what it scored) are for people.
"""

import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load

from war_agents.given import checked_positions, checked_seeds
from war_agents.models.model_card import ENCODING, Card, card_file, model_name
from war_agents.models.stored import StoredModel, read_model
from war_agents.models.tensors import MAX_TOLD
from war_agents.networks.card_network import CardNetwork, NetworkShape, from_numpy
from war_envs.engine.engine import ENGINES
from war_envs.engine.seeding import action_seeds
from war_envs.messages import one_line, shown
from war_envs.variant import Variant, widest


class TorchPolicy:
    """A network that plays.

    Actions are sampled from the probabilities of the legal ones, each with its position's own seed;
    if ``deterministic``, the most probable is taken. The same positions in a batch of another size
    may give probabilities that differ in their last bits.

    Attributes:
        network: the network, in evaluation mode.
        deterministic: whether it always takes its most probable action.
        card: what the model file's card says; empty for a network that has no file.
        threads: how many threads torch may use for it; None leaves torch's own setting.
    """

    kind = "trained"
    encoding = ENCODING

    def __init__(
        self,
        network: CardNetwork,
        *,
        name: str,
        memory: str = "perfect",
        deterministic: bool = False,
        card: Mapping[str, Any] | None = None,
        threads: int | None = None,
    ) -> None:
        self.network = network
        self.name = name
        self.memory = memory
        self.deterministic = deterministic
        self.card = dict(card or {})
        self.threads = threads
        self._num_actions = ENGINES[network.variant.game].num_actions

    def probabilities(
        self, observation: NDArray[np.uint8], action_mask: NDArray[np.int8]
    ) -> NDArray[np.float64]:
        """The probabilities of actions, (B, A), exactly 0 for illegal ones.

        Raises:
            ValueError: a position without a legal action, observations of another shape, or a
                network that gives no finite numbers.
        """
        tokens, legal = checked_positions(
            self.name,
            observation,
            action_mask,
            dtype=np.dtype(np.uint8),
            size=None,  # the network tells
            num_actions=self._num_actions,
        )
        with torch.no_grad(), torch_threads(self.threads):
            logits = self.network.logits(from_numpy(tokens)).double().numpy()
        if not np.isfinite(logits).all():
            raise ValueError(f"{self.name} gives numbers that are not finite: the model is broken")
        return legal_probabilities(logits, legal)

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """See `war_agents.agent.Agent`."""
        probabilities = self.probabilities(observation, action_mask)
        numbers = checked_seeds(self.name, len(probabilities), seeds, state, starts)
        if self.deterministic:
            return probabilities.argmax(axis=1), None
        return drawn(probabilities, numbers), None


def legal_probabilities(
    logits: NDArray[np.float64], legal: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """The probabilities of actions, (B, A), exactly 0 for illegal ones, from finite logits."""
    logits = np.where(legal, logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), np.float64)


def drawn(probabilities: NDArray[np.float64], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Samples an action per position, int64 (B,), from probabilities (B, A) and seeds (B,)."""
    # 53 random bits: below 1, so always below the last sum, and never on an illegal action.
    uniform = (action_seeds(seeds, 0) >> np.uint64(11)) * 2.0**-53
    sums = probabilities.cumsum(axis=1)
    chosen: NDArray[np.int64] = (sums > (uniform * sums[:, -1])[:, None]).argmax(axis=1)
    return chosen


@contextlib.contextmanager
def torch_threads(number: int | None) -> Iterator[None]:
    """Sets the number of torch threads within; None changes nothing."""
    before = torch.get_num_threads()
    if number is not None:
        torch.set_num_threads(number)
    try:
        yield
    finally:
        if number is not None:
            torch.set_num_threads(before)


def load_policy(file: str | Path, variant: Variant, *, name: str | None = None) -> TorchPolicy:
    """A trained network as an agent.

    It loads and runs on one torch thread, whatever OMP_NUM_THREADS says: processes with several
    threads each slow one another down, and one forked after torch has started threads, as vector
    environments fork, would deadlock. Set ``threads`` of the agent for more.

    Args:
        file: the safetensors file; its card lies beside it.
        variant: what it will play. The network must be for this game and deck (``minimal`` and
            ``num_ranks``); it may have learned with other modes and limits.
        name: what reports call it; by default the folder, or the file if it has a name of its own.

    Raises:
        ValueError: the model or its card is missing, damaged or for something else.
    """
    return policies_of(read_model(Path(file)), [variant], name=name)[0]


def policies_of(
    stored: StoredModel, variants: Sequence[Variant], *, name: str | None = None
) -> list[TorchPolicy]:
    """What `load_policy` gives for each of ``variants``, with one network, read before.

    Raises:
        ValueError: see `load_policy`.
    """
    file, card = stored.file, stored.card
    try:
        shape = _shape(card)
    except ValueError as error:
        raise ValueError(f"{card_file(file)} is damaged: {one_line(error)}") from error
    for variant in variants:
        _require_known(variant, stored)
    with torch_threads(1):
        network = CardNetwork(widest(card.variants), shape)
        network.load_state_dict(_checked_weights(stored, network))
        network.eval()
    if name is None:
        name = model_name(file)
        if name == "model" and file.parent.name:
            name = file.parent.name
    policy = TorchPolicy(
        network,
        name=name,
        memory=card.memory,
        deterministic=card.deterministic,
        card=card.entries,
        threads=1,
    )
    return [copy.copy(policy) for _ in variants]


def _require_known(variant: Variant, stored: StoredModel) -> None:
    file, known = stored.file, stored.card.variants
    decks = {(each.game, each.deck): _deck(each) for each in reversed(known)}
    if (variant.game, variant.deck) not in decks:
        plays = " and ".join(decks.values())
        raise ValueError(f"{file} plays {plays}; it cannot play {_deck(variant)}: the decks differ")
    if variant.num_later_modes > widest(known).num_later_modes:
        raise ValueError(f"{file} cannot play {_deck(variant)}: it came before one of its modes")


def _shape(card: Card) -> NetworkShape:
    allowed = [field.name for field in fields(NetworkShape)]
    for name in allowed:
        if name not in card.network:
            raise ValueError(f"network has no {name}")
    for name in card.network:
        if name not in allowed:
            raise ValueError(f"network has {shown(name)}; it has {' and '.join(allowed)} only")
    return NetworkShape(**card.network)


def _deck(variant: Variant) -> str:
    return f"{variant.game} {variant.name} with num_ranks={variant.num_ranks}"


def _checked_weights(stored: StoredModel, network: CardNetwork) -> dict[str, torch.Tensor]:
    """The tensors of a model, if they are just what ``network`` has."""
    expected = network.state_dict()
    try:
        weights = load(stored.weights)
        if set(weights) != set(expected):
            raise ValueError("its tensors are not those of the network in its card")
        for key, value in expected.items():
            found = weights[key]
            if found.dtype != torch.float32 or found.shape != value.shape:
                raise ValueError(
                    f"{key} is {found.dtype} {list(found.shape)}, "
                    f"its card says {torch.float32} {list(value.shape)}"
                )
    except (ValueError, KeyError, SafetensorError) as error:  # KeyError: a dtype torch has not
        raise ValueError(
            f"{stored.file} is not a model that can be read: {one_line(error)[:MAX_TOLD]}"
        ) from error
    for key, value in weights.items():
        if not bool(torch.isfinite(value).all()):
            raise ValueError(f"{stored.file} is damaged: {key} holds numbers that are not finite")
    return weights
