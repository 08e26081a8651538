"""The same game through every view: rewards, ends and limits are one."""

from typing import Any

import numpy as np
import pytest

import war_agents
from war_agents import scripted
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.batch import make_batch
from war_envs.engine.kernels import TERMINATED, TRUNCATED
from war_envs.variant import GAMES

AGENTS = ["player_0", "player_1"]
FEW: dict[str, Any] = {"minimal": True, "num_ranks": 7, "max_turns": 60}


def score(winner: int) -> list[float]:
    """What a winner's seat says that both players should have got."""
    return [0.0, 0.0] if winner < 0 else [1.0 - 2 * winner, 2 * winner - 1.0]


def play_aec(env: Any, seed: int) -> tuple[list[int], list[list[float]]]:
    """The choices of a random game, and three counts of each player's reward."""
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    choices: list[int] = []
    lasts, entries = [0.0, 0.0], [0.0, 0.0]
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        lasts[AGENTS.index(agent)] += reward
        action = None
        if not (terminated or truncated):
            action = int(rng.choice(np.flatnonzero(observation["action_mask"])))
            choices.append(action)
        env.step(action)
        for other, entry in env.rewards.items():
            entries[AGENTS.index(other)] += entry
    game = env.unwrapped._position.games[0]
    assert game["status"] in (TERMINATED, TRUNCATED)
    return choices, [lasts, entries, score(int(game["winner"]))]


def play_batch(game: str, choices: list[int], seed: int) -> list[float]:
    batch = make_batch(game, 1, **FEW)
    batch.reset(seed=seed)
    total = np.zeros(2)
    width = 2 if game == "attack-defence" else 1
    for at in range(0, len(choices), width):
        actions = [choices[at : at + 2]] if width == 2 else [choices[at]]
        total += batch.step(actions, autoreset=False).reward[0]
    assert not batch.acting.any()
    return [float(reward) for reward in total]


@pytest.mark.field_case("A04")
def test_attack_and_defence_pays_the_same_in_aec_parallel_and_batch() -> None:
    outcomes = set()
    for seed in range(250):
        choices, counts = play_aec(attack_defence_v0.env(**FEW), seed)
        env = attack_defence_v0.parallel_env(**FEW)
        env.reset(seed=seed)
        paid = [0.0, 0.0]
        for at in range(0, len(choices), 2):
            assert env.agents == AGENTS
            _, rewards, *_ = env.step(dict(zip(AGENTS, choices[at : at + 2], strict=True)))
            paid = [paid[seat] + rewards[agent] for seat, agent in enumerate(AGENTS)]
        assert env.agents == []
        counts += [paid, play_batch("attack-defence", choices, seed)]
        assert all(count == counts[0] for count in counts), (seed, counts)
        assert sum(paid) == 0
        outcomes.add(paid[0])
    assert outcomes == {1.0, 0.0, -1.0}


@pytest.mark.field_case("A04")
def test_strategic_war_pays_the_same_in_aec_and_batch() -> None:
    outcomes = set()
    for seed in range(250):
        choices, counts = play_aec(strategic_war_v0.env(**FEW), seed)
        counts.append(play_batch("strategic-war", choices, seed))
        assert all(count == counts[0] for count in counts), (seed, counts)
        assert sum(counts[0]) == 0
        outcomes.add(counts[0][0])
    assert {1.0, -1.0} <= outcomes


# Every game ends.


def actions_of(agent: Any, batch: Any, counter: int) -> Any:
    """What one agent chooses for all seats that act; 0 elsewhere."""
    rows, seats = np.nonzero(batch.acting)
    chosen = np.zeros((batch.num_games, 2), np.int64)
    if len(rows):
        observation, mask = batch.observe(rows, seats)
        seeds = np.uint64(counter * 10_000_000) + np.arange(len(rows), dtype=np.uint64)
        chosen[rows, seats], _ = agent.act(observation, mask, seeds)
    return chosen


@pytest.mark.slow
@pytest.mark.field_case("A12")
@pytest.mark.parametrize(
    ("game", "name"), [(game, name) for game in GAMES for name in scripted.names(game)]
)
def test_every_game_of_every_scripted_agent_against_itself_ends(game: str, name: str) -> None:
    agent = war_agents.make(name, game=game, variant="minimal+fair")
    number = 10_000 if name == "random" else 2000
    batch = make_batch(game, number, "minimal+fair", encoding=agent.encoding, memory=agent.memory)
    batch.reset(seed=3)
    limit = batch.variant.turn_limit
    turns = 0
    while batch.acting.any():
        step = batch.step(actions_of(agent, batch, turns), autoreset=False)
        turns += 1
        assert turns <= 12 * limit  # a round of Strategic War may hold a war
        assert not (step.terminated & step.truncated).any()
        assert (step.reward.sum(axis=1) == 0).all()
    status, turn = batch.games["status"], batch.games["turn"]
    assert set(np.unique(status)) <= {TERMINATED, TRUNCATED}
    assert (turn[status == TRUNCATED] == limit).all()
    assert (turn <= limit).all()
    if name == "random":
        assert np.median(turn) < limit / 5
    if name == "defend":  # for ever
        assert (status == TRUNCATED).all()


def natural_game(module: Any, seed: int) -> tuple[int, list[int], list[float]]:
    """Turns that a random game needs to its real end, its choices and what it pays."""
    env = module.env(minimal=True, num_ranks=5, max_turns=10_000)
    choices, counts = play_aec(env, seed)
    game = env.unwrapped._position.games[0]
    assert game["status"] == TERMINATED
    unfinished = module is strategic_war_v0 and game["table_size"] > 0  # it ended within a war
    return int(game["turn"]) + unfinished, choices, counts[0]


@pytest.mark.field_case("A12")
@pytest.mark.parametrize("module", [attack_defence_v0, strategic_war_v0])
@pytest.mark.parametrize("seed", range(5))
def test_the_limit_counts_exactly_and_a_real_end_on_the_last_turn_is_real(
    module: Any, seed: int
) -> None:
    length, choices, paid = natural_game(module, seed)
    for limit in (1, 2, 3, length - 1, length, length + 1):
        if limit < 1:
            continue
        env = module.env(minimal=True, num_ranks=5, max_turns=limit)
        env.reset(seed=seed)
        for choice in choices:
            env.step(choice)
            if any(env.terminations.values()) or any(env.truncations.values()):
                break
        real = limit >= length
        assert env.terminations == dict.fromkeys(AGENTS, real)
        assert env.truncations == dict.fromkeys(AGENTS, not real)
        if not real:
            assert env.unwrapped._position.games[0]["turn"] == limit
        assert list(env.rewards.values()) == (paid if real else [0.0, 0.0])
        assert ("truncated after" in env.unwrapped.outcome) is not real


@pytest.mark.field_case("A12")
def test_two_that_always_attack_in_fair_mode_go_round_for_ever() -> None:
    batch = make_batch("attack-defence", 50, "minimal+fair")
    batch.reset(seed=1)
    while batch.acting.any():
        step = batch.step(np.zeros((50, 2), int), autoreset=False)
    assert step.truncated.all()
    assert not step.reward.any()
