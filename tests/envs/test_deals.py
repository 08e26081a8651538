"""Where deals come from: seeds, domains and lanes, and nothing else."""

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest

from tests.reference.cards import Game
from tests.support.batches import choices_at, legal_actions
from tests.support.decks import GAMES
from tests.support.drive import Snapshot, names_of
from tests.support.envs import raw_env
from war_envs.batch import Batch, make_batch
from war_envs.engine import seeding


def deals(batch: Batch) -> list[str]:
    """Each game's hands and first attacker."""
    rows = [
        str(names_of(batch.variant.game, r)) for r in Snapshot(batch.variant.game, batch.games).rows
    ]
    if batch.variant.game == "attack-defence":
        return rows
    return [f"{row} {mover}" for row, mover in zip(rows, batch.mover.tolist(), strict=True)]


@pytest.mark.field_case("S06")
@pytest.mark.parametrize("game", GAMES)
def test_64_lanes_have_64_deals(game: Game) -> None:
    batch = make_batch(game, 64, num_ranks=9, max_turns=1)
    batch.reset(seed=3)
    first = deals(batch)
    found = set(first)
    number = len(first)
    for step in range(60):
        result = batch.step(legal_actions(batch, choices_at(np.arange(64), step)))
        dealt = deals(batch)
        found |= {dealt[row] for row in result.final_rows}
        number += len(result.final_rows)
    assert len(found) == number > 4 * 64
    batch.reset(seed=3)
    assert deals(batch) == first
    batch.reset(seed=3, lanes=np.arange(64)[::-1].copy())
    assert deals(batch) == first[::-1]
    fresh = []
    for _ in range(2):  # without a seed
        batch.reset()
        fresh += deals(batch)
    assert len(set(fresh) | set(first)) == 3 * 64


@pytest.mark.field_case("S07")
@pytest.mark.parametrize("game", GAMES)
def test_seeds_domains_and_lanes_never_share_a_deal(game: Game) -> None:
    batch = make_batch(game, 64)
    domains = (seeding.TRAINING, seeding.EVALUATION, seeding.AGENTS, seeding.SEATS)
    assert len(set(domains)) == 4
    found = []
    lanes = np.concatenate([np.arange(60), [2**31, 2**32, 2**32 + 1, 2**62]])
    seeds = (0, 1, 2, 3, 2**32, 2**32 + 1, 2**63 - 1)
    for seed, domain in product(seeds, domains):
        batch.reset(seed=seed, domain=domain, lanes=lanes)
        found += deals(batch)
    assert len(set(found)) == len(found) == 64 * len(seeds) * 4


@pytest.mark.field_case("S04")
@pytest.mark.parametrize("game", GAMES)
def test_one_seed_gives_a_reproducible_run_of_deals(game: Game) -> None:
    runs = []
    for _ in range(2):
        env = raw_env(game)
        env.reset(seed=42)
        run = [env.hands]
        for _ in range(3):
            env.reset()
            run.append(env.hands)
        runs.append(run)
    assert runs[0] == runs[1]
    assert len({str(hands) for hands in runs[0]}) == 4


@pytest.mark.field_case("S12")
@pytest.mark.usefixtures("threads_for_a_row")
def test_no_global_generator_is_read_or_written() -> None:
    def play() -> bytes:
        batch = make_batch("strategic-war", 8, num_ranks=3, num_threads=2)
        batch.reset(seed=5)
        for step in range(40):
            random.seed(step)
            np.random.seed(step)  # noqa: NPY002
            states = random.getstate(), str(np.random.get_state())  # noqa: NPY002
            batch.step(legal_actions(batch, choices_at(np.arange(8), step)))
            assert states == (random.getstate(), str(np.random.get_state()))  # noqa: NPY002
        return batch.games.tobytes()

    assert play() == play()


@pytest.mark.slow
@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("game", GAMES)
def test_every_deal_is_equally_likely(game: Game, fair: bool) -> None:
    """Chi-squared over all deals of six cards: 720, 3! * 3!, or 3! in a Fair deal."""
    number = 36_000
    batch = make_batch(game, number, minimal=True, fair=fair, num_ranks=3)
    batch.reset(seed=17)
    counts = Counter(deals(batch))
    ways = 6 if fair else (720 if game == "attack-defence" else 36)
    if game == "strategic-war":
        ways *= 2  # first attackers
    assert len(counts) == ways
    expected = number / ways
    chi2 = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = ways - 1
    assert abs(chi2 - freedom) < 4 * (2 * freedom) ** 0.5
