"""Games of several variants in one batch are those of batches of one variant."""

import numpy as np
import pytest
import torch

from war_agents.networks.card_network import CardNetwork, NetworkShape
from war_envs.batch import Batch
from war_envs.cards import GameName
from war_envs.engine.engine import ENGINES
from war_envs.variant import VARIANT_NAMES, Variant, make_variant, widest


def several(game: GameName) -> list[Variant]:
    return [make_variant(game, name) for name in VARIANT_NAMES] + [
        make_variant(game, "minimal", num_ranks=5)
    ]


@pytest.mark.parametrize("encoding", ["tokens", "vector"])
@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_game_i_is_that_of_a_batch_of_its_variant(game: GameName, encoding: str) -> None:
    variants, number = several(game), 45
    mixed = Batch(variants, number, encoding=encoding)
    alone = [Batch(variant, number, encoding=encoding) for variant in variants]
    for batch in (mixed, *alone):
        batch.reset(3)
    layout = ENGINES[game].layout
    header = len(layout.header)
    width = layout.features.shape[1] if encoding == "vector" else 1
    rng = np.random.default_rng(0)
    for _ in range(150):
        observation, mask = mixed.observe()
        actions = (rng.random(mask.shape) * mask).argmax(axis=-1)
        for kind, (variant, batch) in enumerate(zip(variants, alone, strict=True)):
            rows = np.flatnonzero(mixed.kinds == kind)
            expected, expected_mask = batch.observe()
            assert (mask[rows] == expected_mask[rows]).all()
            given, own = observation[rows], expected[rows]
            assert (given[..., :header] == own[..., :header]).all()
            shape = (*given.shape[:-1], layout.slots_per_card, -1, width)
            slots = given[..., header:].reshape(shape)
            own_slots = own[..., header:].reshape(shape)
            size = variant.deck_size
            assert (slots[..., :size, :] == own_slots).all()
            assert not slots[..., size:, :].any(), "slots that the deck does not fill are empty"
            seats = np.zeros(len(rows), np.int64)
            narrow, _ = mixed.observe(rows, seats, deck_size=size)
            assert (narrow == batch.observe(rows, seats)[0]).all()
        step = mixed.step(actions)
        for kind, batch in enumerate(alone):
            rows = mixed.kinds == kind
            chosen = np.where(rows.reshape(-1, *[1] * (actions.ndim - 1)), actions, 0)
            own_mask = batch.observe()[1]
            chosen = np.where(
                np.take_along_axis(own_mask, chosen[..., None], -1)[..., 0] == 1,
                chosen,
                own_mask.argmax(axis=-1),
            )
            expected_step = batch.step(chosen)
            assert (step.reward[rows] == expected_step.reward[rows]).all()
            assert (step.truncated[rows] == expected_step.truncated[rows]).all()


@pytest.mark.parametrize("game", ["attack-defence", "strategic-war"])
def test_a_network_reads_a_smaller_deck_with_or_without_the_empty_slots(game: GameName) -> None:
    variants = several(game)
    network = CardNetwork(widest(variants), NetworkShape(16, 8))
    network.initialise(torch.Generator().manual_seed(1))
    batch = Batch(variants, 90)
    batch.reset(5)
    for kind, variant in enumerate(variants):
        rows = np.flatnonzero(batch.kinds == kind)
        seats = np.zeros(len(rows), np.int64)
        wide, _ = batch.observe(rows, seats)
        narrow, _ = batch.observe(rows, seats, deck_size=variant.deck_size)
        for found, same in zip(
            network(torch.from_numpy(wide)), network(torch.from_numpy(narrow)), strict=True
        ):
            torch.testing.assert_close(found, same, atol=1e-5, rtol=1e-5)


def test_slots_for_fewer_cards_than_the_deck_has_are_refused() -> None:
    batch = Batch(several("attack-defence"), 18)
    batch.reset(1)
    rows = np.array([0, 8])
    for deck_size in (51, 53, True, 26.0):
        with pytest.raises(ValueError, match="deck_size"):
            batch.observe(rows, np.zeros(2, int), deck_size=deck_size)  # type: ignore[arg-type]
    assert batch.observe(rows[1:], np.zeros(1, int), deck_size=10)[0].shape == (1, 31 + 20)


def test_variants_of_one_game_are_wanted() -> None:
    for wrong in ([], [make_variant("attack-defence"), make_variant("strategic-war")]):
        with pytest.raises(ValueError, match="variants"):
            Batch(wrong, 4)
