"""What an environment hands out is the caller's: to write into it reaches no game."""

import random
from typing import Any

import numpy as np
import pytest
from pettingzoo.utils import wrappers
from pettingzoo.utils.wrappers import BaseWrapper

from tests.support.envs import AGENTS
from tests.support.positions import GAME_KINDS, all_of, is_parallel, legal_choice, make
from war_envs.batch import make_batch
from war_envs.variant import GAMES

FEW: dict[str, Any] = {"minimal": True, "num_ranks": 5}
BOOKS = ("rewards", "terminations", "truncations", "infos", "agents")


def scribble(value: Any) -> None:
    """Writes all over a value and what it holds."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            value[...] = 1
    elif isinstance(value, dict):
        for inner in value.values():
            scribble(inner)
        value.clear()
        value["scribble"] = True
    elif isinstance(value, list | tuple):
        for inner in value:
            scribble(inner)
        if isinstance(value, list):
            value[:] = ["scribble"]


def all_handed_out(env: Any) -> list[Any]:
    raw = env.unwrapped
    names = (*BOOKS, "possible_agents", "observation_spaces", "action_spaces", "metadata", "hands")
    found = [getattr(raw, name) for name in names]
    found += [raw.known(agent) for agent in AGENTS] + [env.observe(agent) for agent in AGENTS]
    found += [env.state(), type(raw).metadata, raw.variant.options]
    if not is_parallel(env):
        found.append(raw._cumulative_rewards)
        if raw.get_state().count(b'"left": 2') == 0:
            found.append(env.last())
    return found


def step(env: Any, action: Any) -> Any:
    result = env.step(action)
    scribble(result)
    return result


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_writing_into_what_is_handed_out_reaches_no_game(game: Any, kind: str, text: bool) -> None:
    options = {**FEW, "info_text": text, "render_mode": "ansi"}
    env, twin = make(game, kind, **options), make(game, kind, **options)
    spare = make(game, kind, **options)
    rng = random.Random(1)
    for given in (7, None, None):
        scribble(env.reset(seed=given))
        twin.reset(seed=given)
        while twin.agents:
            for value in all_handed_out(env):
                scribble(value)
            state = env.unwrapped.get_state()
            assert state == twin.unwrapped.get_state()
            spare.unwrapped.set_state(state)
            assert all_of(spare) == all_of(twin)
            scribble(all_handed_out(spare))
            if is_parallel(twin):
                choices = {agent: legal_choice(twin, agent, rng) for agent in AGENTS}
                twin.step(choices)
                step(env, choices)
                continue
            agent = twin.agent_selection
            over = twin.terminations[agent] or twin.truncations[agent]
            action = None if over else legal_choice(twin, agent, rng)
            assert env.agent_selection == agent
            # What the agent is shown is the truth, whatever has been written elsewhere.
            for mine, right in zip(env.last()[1:], twin.last()[1:], strict=True):
                assert mine == right
            twin.step(action)
            step(env, action)
            assert all_of(env) == all_of(twin)
        assert env.unwrapped.get_state() == twin.unwrapped.get_state()
    for value in all_handed_out(env):
        scribble(value)
    assert env.possible_agents == list(AGENTS)
    assert env.metadata == twin.metadata == type(env.unwrapped).metadata
    assert env.metadata["name"] == str(env) == str(twin)
    for agent in AGENTS:
        assert env.observation_space(agent) is env.observation_spaces[agent]
        assert env.action_space(agent) is env.action_spaces[agent]


@pytest.mark.parametrize(("game", "kind"), GAME_KINDS)
def test_what_is_assigned_is_given_back(game: Any, kind: str) -> None:
    raw = make(game, kind, **FEW).unwrapped
    raw.reset(seed=1)
    for name in (*BOOKS, "possible_agents", "observation_spaces", "action_spaces", "metadata"):
        value: Any = ["somebody"] if "agents" in name else {"player_0": 1}
        setattr(raw, name, value)
        assert getattr(raw, name) == value
    raw.reset(seed=1)
    assert raw.agents == list(AGENTS)
    assert raw.rewards == dict.fromkeys(AGENTS, 0.0)
    assert raw.infos["player_0"]["ending"] == 0


def test_pettingzoos_illegal_action_wrapper_ends_games_of_the_raw_environment() -> None:
    raw = make("strategic-war", "raw_env", **FEW)
    env: Any = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    for seed in range(3):
        env.reset(seed=seed)
        offender = env.agent_selection
        env.step(2)
        assert env.rewards[offender] == -1.0
        shown = {}
        for agent in env.agent_iter():
            _, reward, terminated, truncated, _ = env.last()
            assert terminated
            assert truncated
            shown[agent] = reward
            env.step(None)
        assert shown == {offender: -1.0, AGENTS[1 - AGENTS.index(offender)]: 0.0}
        assert env.agents == []


class _Shaped(BaseWrapper[Any, Any, Any]):
    """Ends games after some choices, and pays whoever waits for each choice of the other."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        super().reset(seed=seed, options=options)
        self.choices = 0

    def step(self, action: Any) -> None:
        raw: Any = self.unwrapped
        dead = raw.truncations[raw.agent_selection] or raw.terminations[raw.agent_selection]
        chooser = raw.agent_selection
        super().step(action)
        if dead:
            return
        self.choices += 1
        raw.rewards = {agent: float(agent != chooser) for agent in raw.agents}
        raw._accumulate_rewards()
        if self.choices == 10:
            raw.truncations = dict.fromkeys(raw.agents, True)


@pytest.mark.parametrize("game", GAMES)
def test_a_wrapper_may_assign_rewards_and_end_a_game(game: Any) -> None:
    env: Any = _Shaped(make(game, "raw_env"))
    for seed in (1, 2):
        env.reset(seed=seed)
        received, chosen = dict.fromkeys(AGENTS, 0.0), dict.fromkeys(AGENTS, 0)
        for agent in env.agent_iter():
            seen, reward, _, truncated, _ = env.last()
            received[agent] += reward
            assert truncated is (env.choices == 10)
            if not truncated:
                chosen[agent] += 1
            env.step(None if truncated else int(np.argmax(seen["action_mask"])))
        assert env.agents == []
        first, second = AGENTS
        assert received == {first: chosen[second], second: chosen[first]}
        assert sum(received.values()) == 10
        with pytest.raises(ValueError, match="no agent is left"):
            env.unwrapped.step(None)


def test_rewards_that_a_wrapper_adds_come_with_the_result() -> None:
    env: Any = make("attack-defence", "raw_env", max_turns=2)
    env.reset(seed=1)
    for _ in range(4):
        env.step(0)
        env.rewards = dict.fromkeys(AGENTS, 0.25)
        env._accumulate_rewards()
    assert env.truncations == dict.fromkeys(AGENTS, True)
    # player_0 chose last before the last two steps, player_1 before the last one.
    assert env.last()[1] == 0.5
    env.step(None)
    assert env.last()[1] == 0.25
    env.step(None)
    assert env.agents == []
    assert b'"left": 2' in env.get_state()


def test_the_kinds_of_a_batch_cannot_be_written_to() -> None:
    batch = make_batch("attack-defence", 3)
    with pytest.raises(ValueError, match="read-only"):
        batch.kinds[:] = 1
