"""A seed fixes all that follows, in every interface, and nothing else does."""

import copy
import json
import multiprocessing
import pickle
import random
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import war_agents
from war_agents import scripted
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.batch import make_batch
from war_envs.engine import seeding
from war_envs.testing.drivers import AECDriver, Driver, ParallelDriver, frozen, record, turns
from war_envs.variant import GAMES, make_variant

MODULES = {"attack-defence": attack_defence_v0, "strategic-war": strategic_war_v0}
BOTH = pytest.mark.parametrize("game", GAMES)
FEW: dict[str, Any] = {"minimal": True, "num_ranks": 7}


def deal(hands: Any) -> tuple[str, ...]:
    """One deal as something to compare."""
    first, second = hands
    return (*first, "|", *second)


def deals(batch: Any) -> list[bytes]:
    """The deal of each game of a batch that has just been reset."""
    return [row.tobytes() for row in batch.games["hands"]]


def long_run(driver: Driver, seed: int) -> list[Any]:
    """At least 300 turns of whole games, resets between."""
    games: list[Any] = []
    driver.reset(seed)
    while sum(map(len, games)) < 300:
        games.append(record(driver, len(games)))
        driver.reset()
    return games


@pytest.mark.field_case("S01")
def test_parallel_games_are_the_same_for_300_turns_with_resets() -> None:
    make = attack_defence_v0.parallel_env
    first = long_run(ParallelDriver(make(**FEW)), 7)
    assert len(first) > 2
    assert long_run(ParallelDriver(make(**FEW)), 7) == first
    assert long_run(ParallelDriver(make(**FEW)), 8) != first


@BOTH
def test_a_seed_gives_the_same_deals_in_every_interface(game: str) -> None:
    batch = make_batch(game, 1)
    for seed in (0, 7, 2**63 - 1, np.int32(5), np.uint64(2**63 - 1), np.array(3)):
        kinds = [MODULES[game].env(), MODULES[game].raw_env()]
        if game == "attack-defence":
            kinds.append(attack_defence_v0.parallel_env())
        batch.reset(seed=seed)  # type: ignore[arg-type]
        dealt = set()
        for env in kinds:
            env.reset(seed=seed)
            dealt.add(deal(env.hands))
            assert env.unwrapped._position.games["hands"].tobytes() == deals(batch)[0]
        assert len(dealt) == 1


@pytest.mark.field_case("A09", "S09")
@BOTH
def test_copies_and_states_go_on_dealing_where_the_original_stands(game: str) -> None:
    env: Any = MODULES[game].raw_env()
    env.reset(seed=5)
    for _ in range(10):
        env.reset()
    copies = [pickle.loads(pickle.dumps(env)), env.clone(), MODULES[game].raw_env()]
    copies[-1].set_state(env.get_state())
    batch = make_batch(game, 3, num_threads=2)
    batch.reset(seed=5)
    batch.observe()
    batch_copies = [pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)]
    following = []
    for one in (env, *copies):
        dealt = []
        for _ in range(10):
            one.reset()
            dealt.append(deal(one.hands))
        following.append(dealt)
    assert all(dealt == following[0] for dealt in following)
    env.reset(seed=5)
    assert deal(env.hands) not in following[0]
    rng = np.random.default_rng(1)
    for _ in range(200):
        _, mask = batch.observe()
        actions = np.where(mask == 1, rng.random(mask.shape), -1.0).argmax(axis=-1)
        for one in (batch, *batch_copies):
            one.step(actions)
    for one in batch_copies:
        assert (one.games == batch.games).all()
        assert not np.shares_memory(one.games, batch.games)


# Other code and the global generators.


def global_states() -> Any:
    torch = pytest.importorskip("torch")
    numpy_state = np.random.get_state(legacy=False)  # noqa: NPY002
    return random.getstate(), repr(numpy_state), torch.get_rng_state().numpy().tobytes()


def disturb(seed: int) -> None:
    """What other code does to the global generators."""
    torch = pytest.importorskip("torch")
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    torch.manual_seed(seed)
    random.random()
    np.random.random()  # noqa: NPY002
    torch.rand(1)


@pytest.mark.field_case("S12")
def test_two_games_played_in_turn_beside_other_code_are_as_played_alone() -> None:
    alone = []
    for game in GAMES:
        driver = AECDriver(MODULES[game].env(**FEW))
        driver.reset(9)
        alone.append(record(driver, 9))
    games = []
    for game in GAMES:
        disturb(1)
        driver = AECDriver(MODULES[game].env(**FEW))
        driver.reset(9)
        games.append(turns(driver, np.random.default_rng(9)))
    mixed: list[list[Any]] = [[], []]
    for count, both in enumerate(zip_longest(*games)):
        disturb(count)
        for turn, shown in zip(both, mixed, strict=True):
            if turn is not None:
                shown.append(frozen(turn))
    assert [tuple(shown) for shown in mixed] == alone


@pytest.mark.field_case("S12")
@BOTH
def test_environments_batches_and_agents_leave_the_global_generators_alone(game: str) -> None:
    before = global_states()
    env: Any = MODULES[game].env(**FEW)
    env.reset()
    record(AECDriver(env), 1)
    for name in scripted.names(game):
        agent = war_agents.make(name, game=game, variant="minimal")
        batch = make_batch(game, 8, "minimal", encoding=agent.encoding, memory=agent.memory)
        batch.reset()
        for counter in range(100):
            rows, seats = np.nonzero(batch.acting)
            observation, mask = batch.observe(rows, seats)
            seeds = seeding.action_seeds(np.arange(len(rows), dtype=np.uint64), counter)
            chosen = np.zeros((8, 2), np.int64)
            chosen[rows, seats], _ = agent.act(observation, mask, seeds)
            batch.step(chosen)
    assert global_states() == before


@pytest.mark.field_case("S12")
def test_games_in_four_threads_are_the_games_of_one() -> None:
    def play(job: int) -> Any:
        game = GAMES[job % 2]
        driver = AECDriver(MODULES[game].env(**FEW))
        driver.reset(job)
        return record(driver, job)

    alone = [play(job) for job in range(16)]
    barrier = threading.Barrier(4)

    def start_together(job: int) -> Any:
        if job < 4:
            barrier.wait(timeout=30)
        return play(job)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(start_together, range(16))) == alone


@pytest.mark.field_case("M01", "S10")
def test_loading_a_trained_network_leaves_the_global_generators_alone(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    safetensors = pytest.importorskip("safetensors.torch")
    from war_agents.models.model_card import FORMAT, VERSION, card_file
    from war_agents.networks.card_network import CardNetwork, NetworkShape

    variant = make_variant("attack-defence", "minimal")
    network = CardNetwork(variant, NetworkShape())
    network.initialise(torch.Generator().manual_seed(1))
    file = tmp_path / "model.safetensors"
    safetensors.save_file(network.state_dict(), file)
    card = {
        "format": FORMAT,
        "version": VERSION,
        "game": variant.game,
        "variants": [variant.options],
        "encoding": "tokens",
        "memory": "perfect",
        "network": vars(network.shape),
        "deterministic": False,
    }
    card_file(file).write_text(json.dumps(card))
    before = global_states()
    agent = war_agents.make(tmp_path, game=variant.game, variant=variant)
    batch = make_batch(variant.game, 4, variant)
    batch.reset(seed=1)
    observation, mask = batch.observe(np.arange(4), np.zeros(4, int))
    seeds = np.arange(4, dtype=np.uint64)
    first, _ = agent.act(observation, mask, seeds)
    assert global_states() == before
    disturb(3)
    assert (agent.act(observation, mask, seeds)[0] == first).all()
    # A trained network refuses an empty mask as the scripted agents do.
    mask[2] = 0
    with pytest.raises(ValueError, match=r"action_mask: row 2 has no legal action"):
        agent.act(observation, mask, seeds)


@pytest.mark.process
@pytest.mark.usefixtures("threads_for_a_row")
def test_a_batch_with_threads_goes_on_in_a_forked_process_and_after_close() -> None:
    batch = make_batch("attack-defence", 100, num_threads=2)
    batch.reset(seed=1)
    actions = np.zeros((100, 2), int)
    batch.step(actions)
    expected = copy.copy(batch)
    expected.step(actions)
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)

    def child() -> None:
        batch.step(actions)
        send.send(batch.games.tobytes())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of threads and fork
        process = context.Process(target=child)
        process.start()
    assert receive.poll(60), "the child hangs"
    assert receive.recv() == expected.games.tobytes()
    process.join()
    batch.close()
    batch.close()
    batch.step(actions)
    assert (batch.games == expected.games).all()
