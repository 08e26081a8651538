"""A network as a few arrays, from which a graph of everyday operations computes the same.

The graph, for tokens (B, F) and the arrays of `plain_arrays`::

    cards  = tokens behind the header
    cards  = cards, and of each zone the card at zone_starts + max(tokens[sizes_at] - 1, 0)
    inputs = header; in Strategic War also `Meetings` of the header and the cards at meeting_at
    units  = relu(sum of table[cards * places + place] + inputs @ inputs_weight + inputs_bias)
    logits = relu(units @ hidden_weight + hidden_bias) @ policy_weight + policy_bias
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from war_agents.networks.card_network import CardNetwork
from war_agents.networks.meetings import FIRST_PLACES
from war_envs.engine.engine import ENGINES
from war_envs.variant import Variant

_ZONES = ("own", "other", "table")


def plain_arrays(network: CardNetwork, variant: Variant) -> dict[str, NDArray[Any]]:
    """What the network computes with, for the deck of ``variant``, its own or a smaller one.

    Returns:
        ``sizes_at`` and ``zone_starts``, int64 (Z,): where the zones' sizes stand in the header,
        and where the zones begin among the cards; ``places``, int64 (P,): 0 to P - 1 for the cards
        and the zones' last ones; ``table``, float32 (tokens * P, E): what a token adds at a place;
        weights (inputs, outputs) and biases of the inputs, the hidden layer and the policy; and in
        Strategic War ``meeting_at``, int64 (13,), the cards that `Meetings` takes.
    """
    encoding = ENGINES[variant.game].layout
    zones, deck = encoding.slots_per_card, variant.deck_size
    weights = {key: value.detach().double() for key, value in network.state_dict().items()}
    slots = weights["slots"]  # (features, the cards of each zone and then the zones' last ones, E)
    wide = slots.shape[1] // zones - 1
    used = [zone * wide + place for zone in range(zones) for place in range(deck)]
    used += range(zones * wide, zones * (wide + 1))
    # Double precision, rounded once. The token of an empty slot has no features, so adds nothing.
    features = torch.tensor(encoding.features, dtype=torch.float64)
    table = (features @ slots[:, used].flatten(1)).view(-1, slots.shape[2])
    inputs_weight = weights["header.weight"].T
    inputs_weight[: network.header_size] /= torch.tensor(encoding.scales)[:, None]
    floats = {
        "table": table,
        "inputs_weight": inputs_weight,
        "inputs_bias": weights["header.bias"],
        "hidden_weight": weights["policy.0.weight"].T,
        "hidden_bias": weights["policy.0.bias"],
        "policy_weight": weights["policy.2.weight"].T,
        "policy_bias": weights["policy.2.bias"],
    }
    arrays = {
        "sizes_at": np.array([encoding.index(f"{zone}_size") for zone in _ZONES[:zones]]),
        "zone_starts": np.arange(zones) * deck,
        "places": np.arange(len(used)),
        **{name: value.float().contiguous().numpy() for name, value in floats.items()},
    }
    if network.meetings is not None:
        first, lasts = range(FIRST_PLACES), zones * deck  # the zones: own, other, table
        own, other = [*first, lasts], [*(deck + place for place in first), lasts + 1]
        arrays["meeting_at"] = np.array([*own, lasts + 2, *other])
    return arrays
