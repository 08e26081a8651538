"""Many networks asked at once give what each gives alone."""

import copy

import numpy as np
import pytest
import torch

from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_agents.networks.frozen import FrozenNetworks
from war_agents.networks.policy import TorchPolicy
from war_envs.batch import Batch
from war_envs.cards import GameName
from war_envs.variant import VARIANT_NAMES, make_variant


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_each_position_is_read_by_its_own_network(game: GameName) -> None:
    wide = make_variant(game)
    networks = {}
    for number in (11, 3, 40):
        networks[number] = CardNetwork(wide, NetworkShape(16, 8))
        networks[number].initialise(torch.Generator().manual_seed(number))
        with torch.no_grad():
            networks[number].policy.get_parameter("2.weight").mul_(300)
        networks[number].eval()
    frozen = FrozenNetworks(networks, "perfect")
    rng = np.random.default_rng(0)
    for names in (VARIANT_NAMES, ("minimal",)):
        batch = Batch([make_variant(game, name) for name in names], 200)
        batch.reset(1)
        for step in range(60):
            rows, seats = np.arange(200), rng.integers(0, 2, 200)
            if game == "strategic-war":
                seats = batch.mover
            observation, mask = batch.observe(rows, seats)
            numbers = rng.choice([3, 11, 40] if step % 2 else [3, 40], 200)
            seeds = rng.integers(0, 2**63, 200).astype(np.uint64)
            actions, state = frozen.players(numbers).act(observation, mask, seeds)
            assert state is None
            expected = np.empty(200, np.int64)
            for number, network in networks.items():
                own = TorchPolicy(network, name="own")
                theirs = numbers == number
                expected[theirs] = own.act(observation[theirs], mask[theirs], seeds[theirs])[0]
            # A draw may fall between two sums that differ in their last bits.
            assert (actions == expected).mean() >= 0.99
            logits = frozen.logits(torch.from_numpy(observation), np.zeros(200, np.int64))
            alone = networks[3].logits(torch.from_numpy(observation))
            torch.testing.assert_close(logits, alone, atol=1e-3, rtol=1e-4)
            batch.step(
                np.stack([actions, actions], axis=1)
                if game == "strategic-war"
                else rng.integers(0, 2, (200, 2))
            )


def test_a_network_in_use_goes_by_the_weights_that_it_has_now() -> None:
    """What is kept of the weights to answer sooner is never that of earlier ones."""
    variant = make_variant("attack-defence", num_ranks=5)
    network, other = (CardNetwork(variant, NetworkShape(16, 16)) for _ in range(2))
    for number, one in enumerate((network, other)):
        one.initialise(torch.Generator().manual_seed(number))
        one.eval()
    batch = Batch(variant, 8)
    batch.reset(1)
    tokens = torch.from_numpy(batch.observe()[0][:, 0].copy())
    with torch.no_grad():
        before, wanted = network.logits(tokens), other.logits(tokens)
        assert not torch.equal(before, wanted)
        network.load_state_dict(other.state_dict())
        assert torch.equal(network.logits(tokens), wanted)
        network.slots.mul_(2)
        changed = network.logits(tokens)
        assert not torch.equal(changed, wanted)
        assert torch.equal(copy.deepcopy(network).logits(tokens), changed)
        network.slots = torch.nn.Parameter(other.slots.clone())
        assert torch.equal(network.logits(tokens), wanted)
