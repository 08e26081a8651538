"""PettingZoo's conversions and wrappers, around these environments."""

from typing import Any, cast

import numpy as np
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import (
    aec_to_parallel,
    parallel_to_aec,
    turn_based_aec_to_parallel,
)

from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.testing.drivers import AECDriver, ParallelDriver, frozen, record

AGENTS = ["player_0", "player_1"]
FEW: dict[str, Any] = {"minimal": True, "num_ranks": 5}


@pytest.mark.field_case("A08")
def test_aec_and_parallel_and_their_conversions_give_the_same_games() -> None:
    kinds: list[Any] = [
        lambda: AECDriver(attack_defence_v0.env(**FEW)),
        lambda: AECDriver(parallel_to_aec(cast("Any", attack_defence_v0.parallel_env(**FEW)))),
        lambda: ParallelDriver(attack_defence_v0.parallel_env(**FEW)),
        lambda: ParallelDriver(aec_to_parallel(attack_defence_v0.env(**FEW))),
    ]
    for seed in range(10):
        games = []
        for kind in kinds:
            driver = kind()
            driver.reset(seed)
            shown: dict[str, list[Any]] = {agent: [] for agent in AGENTS}
            # One generator a seat, so that the order of choosing does not matter.
            rngs = {agent: np.random.default_rng([seed, i]) for i, agent in enumerate(AGENTS)}
            while not driver.over:
                turn = driver.turn()
                for agent, seen in turn.items():
                    shown[agent].append(frozen(seen))
                driver.act(
                    {a: None if s.over else int(rngs[a].integers(2)) for a, s in turn.items()}
                )
            for agent, seen in driver.turn().items():
                shown[agent].append(frozen(seen))
            games.append({a: [(x[0], *x[2:]) for x in seen] for a, seen in shown.items()})
        assert games[0] == games[1] == games[2] == games[3]


@pytest.mark.field_case("A07")
def test_strategic_war_is_played_in_turns_only() -> None:
    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(strategic_war_v0.env())
    parallel: Any = turn_based_aec_to_parallel(cast("Any", strategic_war_v0.env(**FEW)))
    env = strategic_war_v0.env(**FEW)
    observations, _ = parallel.reset(seed=4)
    env.reset(seed=4)
    to_play = iter(np.random.default_rng(4).integers(2, size=1000).tolist())
    while parallel.agents:
        mover = env.agent_selection
        other = AGENTS[1 - AGENTS.index(mover)]
        assert frozen(observations) == frozen({agent: env.observe(agent) for agent in AGENTS})
        legal = np.flatnonzero(observations[mover]["action_mask"])
        action = int(legal[next(to_play) % len(legal)])
        # The action of who does not move is ignored, even an illegal one.
        observations, rewards, terminations, *_ = parallel.step({mover: action, other: 3})
        env.step(action)
        assert (rewards, terminations) == (env.rewards, env.terminations)
    assert all(env.terminations.values())


@pytest.mark.parametrize("module", [attack_defence_v0, strategic_war_v0])
@pytest.mark.parametrize(
    "wrap",
    [
        wrappers.BaseWrapper,
        wrappers.OrderEnforcingWrapper,
        wrappers.AssertOutOfBoundsWrapper,
        lambda env: wrappers.TerminateIllegalWrapper(env, illegal_reward=-1),
        lambda env: wrappers.MultiEpisodeEnv(env, num_episodes=1),
    ],
)
def test_pettingzoos_wrappers_change_nothing(module: Any, wrap: Any) -> None:
    plain, wrapped = AECDriver(module.env(**FEW)), AECDriver(wrap(module.env(**FEW)))
    for driver in (plain, wrapped):
        driver.reset(5)
    assert record(wrapped, 5) == record(plain, 5)
    assert wrapped.env.hands == plain.env.hands
