"""The chances that a network of Strategic War is given, counted card by card."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch

from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.meetings import FIRST_PLACES
from war_envs.batch import make_batch
from war_envs.engine.engine import ENGINES
from war_envs.variant import make_variant

ENCODING = ENGINES["strategic-war"].layout
HEADER = len(ENCODING.header)
Card = dict[int, Fraction]  # the chance of each rank


def meeting(tokens: list[int], deck_size: int) -> list[int]:
    """The cards that meet: own ones, the table's last, and the other's."""
    zones = [tokens[HEADER + zone * deck_size :][:deck_size] for zone in range(3)]
    sizes = [tokens[ENCODING.index(f"{zone}_size")] for zone in ("own", "other", "table")]
    own, other, table = (
        [*z[:FIRST_PLACES], z[max(n - 1, 0)]] for z, n in zip(zones, sizes, strict=True)
    )
    return [*own, table[-1], *other]


def ranks(token: int, tokens: list[int]) -> Card:
    if token >= 4:
        return {(token - 4) // 4: Fraction(1)}
    if token == 0:
        return {}
    at = ENCODING.index("unseen_red_0" if token == 2 else "unseen_black_0")
    unseen = tokens[at : at + 13]
    return {r: Fraction(n, sum(unseen)) for r, n in enumerate(unseen) if n}


def differ(one: int, other: int, minimal: bool) -> Fraction:
    """The chance that two cards that are there have different suits."""
    if one >= 4 and other >= 4:
        return Fraction((one - 4) % 4 != (other - 4) % 4)
    if one % 2 != other % 2:
        return Fraction(1)
    return Fraction(0) if minimal else Fraction(1, 2)


@pytest.mark.parametrize("variant", ["standard", "minimal", "fair+open-card"])
def test_chances_are_those_that_counting_gives(variant: str) -> None:
    rules = make_variant("strategic-war", variant, num_ranks=7)
    network = CardNetwork(rules, NetworkShape(4, 4))
    batch = make_batch("strategic-war", 40, rules)
    batch.reset(2)
    rng = np.random.default_rng(0)
    seen = 0
    for step in range(40):
        observation, mask = batch.observe()
        if step % 4 == 0:
            with torch.no_grad():
                _, inputs = network.read(torch.from_numpy(observation))
            found = inputs[:, HEADER:].double().numpy()
            for row, tokens in enumerate(observation.tolist()[:10]):
                cards = meeting(tokens, rules.deck_size)
                laid = [ranks(card, tokens) for card in cards]
                chances = [[float(card.get(r, 0)) for r in range(13)] for card in laid]
                np.testing.assert_allclose(found[row, :169], np.ravel(chances), atol=1e-6)
                pairs = found[row, 169:].reshape(3, 7, 7)
                for (i, one), (j, other) in product(enumerate(laid[:7]), enumerate(laid[6:])):
                    if not one or not other:
                        continue
                    apart = differ(cards[i], cards[6 + j], rules.minimal)
                    both = list(product(one.items(), other.items()))
                    wins = sum(p * q for (r, p), (s, q) in both if r > s) * apart
                    losses = sum(p * q for (r, p), (s, q) in both if r < s) * apart
                    expected = [float(wins), float(losses), float(apart)]
                    np.testing.assert_allclose(pairs[:, i, j], expected, atol=1e-5)
                    seen += 1
        batch.step((rng.random(mask.shape) * mask).argmax(axis=1))
    assert seen > 1000
