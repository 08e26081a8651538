"""What users of the AEC environments rely on, beyond the exported checks."""

import pickle
from typing import Any

import numpy as np
import pytest

from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.envs.table import IllegalActionError
from war_envs.info import Ending
from war_envs.testing.drivers import frozen

BOTH = pytest.mark.parametrize("module", [attack_defence_v0, strategic_war_v0])
AGENTS = ["player_0", "player_1"]
FEW: dict[str, Any] = {"minimal": True, "num_ranks": 5}


def deep_state(env: Any) -> bytes:
    """All that the environment is, whatever wraps it."""
    return bytes(env.unwrapped.get_state())


def to_the_end(env: Any, seed: int = 0) -> None:
    """Plays until the game is over, but before the agents have taken their last step."""
    rng = np.random.default_rng(seed)
    while not any(env.terminations.values()) and not any(env.truncations.values()):
        mask = env.observe(env.agent_selection)["action_mask"]
        env.step(int(rng.choice(np.flatnonzero(mask))))


def illegal_action(env: Any) -> int:
    """Plays on until some action is illegal, and gives it."""
    while (mask := env.observe(env.agent_selection)["action_mask"]).all():
        env.step(0)
    return int(np.argmin(mask))


# The mover, and who is at fault.


@pytest.mark.field_case("A01")
def test_wrapper_and_game_agree_on_the_mover_in_games_that_follow_an_illegal_action() -> None:
    env = strategic_war_v0.env(**FEW)
    raw = env.unwrapped
    for game in range(3):
        env.reset(seed=5, options={"first_attacker": game % 2})
        assert env.agent_selection == raw.agent_selection == AGENTS[game % 2]
        env.step(0)
        assert env.agent_selection == raw.agent_selection == AGENTS[1 - game % 2]
        offender = env.agent_selection
        env.step(illegal_action(env))
        assert env.rewards == {offender: -1.0, AGENTS[game % 2]: 1.0}
        while env.agents:
            assert env.agent_selection == raw.agent_selection
            _, reward, terminated, truncated, info = env.last()
            assert (terminated, truncated) == (True, False)
            assert reward == (-1.0 if env.agent_selection == offender else 1.0)
            assert info["illegal"] == AGENTS.index(offender)
            env.step(None)


@pytest.mark.field_case("A14")
@pytest.mark.parametrize("kind", [int, np.int8, np.int64, np.uint8, np.array, "torch"])
def test_an_illegal_action_loses_whatever_integer_names_it(kind: Any) -> None:
    if kind == "torch":
        kind = pytest.importorskip("torch").tensor
    env = strategic_war_v0.env()
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(kind(2))
    assert env.rewards[offender] == -1.0
    assert all(env.terminations.values())


@pytest.mark.field_case("A14")
def test_an_illegal_action_raises_without_wrappers_and_changes_nothing() -> None:
    env = strategic_war_v0.raw_env()
    env.reset(seed=1)
    before = env.get_state()
    mover = env.agent_selection
    with pytest.raises(
        IllegalActionError, match=r"action=2 \(FIGHT\) of player_.*legal are 0"
    ) as raised:
        env.step(2)
    assert env.get_state() == before
    assert (raised.value.agent, raised.value.action) == (mover, 2)
    # Errors come back from worker processes by pickle.
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.agent, again.action) == (str(raised.value), mover, 2)


# The end of a game.


@pytest.mark.field_case("A03")
@BOTH
def test_agents_stay_until_each_has_been_shown_its_end(module: Any) -> None:
    env = module.env(**FEW)
    env.reset(seed=3)
    to_the_end(env)
    assert env.agents == AGENTS
    shown = {}
    for agent in env.agent_iter():
        _, reward, terminated, truncated, info = env.last()
        assert terminated
        assert not truncated
        assert info["ending"] == Ending.WON
        assert env.unwrapped.outcome
        with pytest.raises(ValueError, match=f"the game of {agent} is over, step with None"):
            env.step(0)
        shown[agent] = reward
        env.step(None)
    assert env.agents == []
    assert sorted(shown.values()) == [-1.0, 1.0]
    for action in (0, None):
        with pytest.raises(ValueError, match="no agent is left; call reset"):
            env.step(action)
    with pytest.raises(ValueError, match="no agent is left; call reset"):
        env.last()
    env.reset()
    with pytest.raises(ValueError, match="action=None of player_"):
        env.step(None)


@pytest.mark.field_case("A03")
@BOTH
def test_agent_iter_stops_by_itself_after_max_iter_and_may_be_begun_again(module: Any) -> None:
    env = module.env()
    env.reset(seed=1)
    for _ in range(2):
        seen = 0
        for agent in env.agent_iter(max_iter=6):
            env.step(int(np.argmax(env.observe(agent)["action_mask"])))
            seen += 1
        assert seen == 6
    with pytest.raises(AssertionError, match=r"need to call step\(\) or reset\(\)"):
        list(env.agent_iter(max_iter=2))


@pytest.mark.field_case("M01")
@BOTH
def test_observations_after_the_end_allow_no_action(module: Any) -> None:
    env = module.env(**FEW)
    env.reset(seed=3)
    to_the_end(env)
    for _ in range(3):
        for agent in AGENTS:
            mask = env.observe(agent)["action_mask"]
            assert mask.dtype == np.int8
            assert not mask.any()
        if env.agents:
            env.step(None)


@pytest.mark.field_case("M01")
def test_who_does_not_move_in_strategic_war_has_an_empty_mask() -> None:
    env: Any = strategic_war_v0.env()
    env.reset(seed=2)
    for agent in env.agent_iter(200):
        other = AGENTS[1 - AGENTS.index(agent)]
        assert not env.observe(other)["action_mask"].any()
        env.step(int(np.argmax(env.observe(agent)["action_mask"])))


# Before the first reset.


@pytest.mark.field_case("A05")
@pytest.mark.parametrize(
    "make",
    [
        attack_defence_v0.env,
        attack_defence_v0.raw_env,
        attack_defence_v0.parallel_env,
        strategic_war_v0.env,
        strategic_war_v0.raw_env,
    ],
)
def test_before_reset_there_is_a_value_or_an_error_that_names_reset(make: Any) -> None:
    env = make()
    for name in ("hands", "num_agents", "agents", "rewards", "terminations", "infos"):
        with pytest.raises((AttributeError, RuntimeError), match=r"reset"):
            getattr(env, name)
    for name, *arguments in (
        ("known", "player_0"),
        ("observe", "player_0"),
        ("is_legal", "player_0", 0),
        ("get_state",),
        ("render",),
    ):
        with pytest.raises((RuntimeError, AssertionError), match=r"reset\(\)"):
            getattr(env, name)(*arguments)
    env.close()
    assert env.possible_agents == AGENTS
    assert env.max_num_agents == 2
    assert list(env.observation_spaces) == list(env.action_spaces) == AGENTS
    for agent in AGENTS:
        assert env.observation_space(agent) is env.observation_spaces[agent]
        assert env.action_space(agent) is env.action_spaces[agent]
    assert str(env) == env.metadata["name"]
    # A refused first reset leaves it so.
    with pytest.raises(ValueError, match="seed=-1"):
        env.reset(seed=-1)
    with pytest.raises(AttributeError, match="reset"):
        _ = env.agents


@BOTH
def test_attributes_of_the_game_are_reached_through_the_wrappers(module: Any) -> None:
    env = module.env(**FEW)
    env.reset(seed=1)
    assert env.hands == env.unwrapped.hands
    assert env.known("player_1") == env.unwrapped.known("player_1")
    assert env.variant == env.unwrapped.variant
    assert type(env.clone()) is type(env.unwrapped)
    with pytest.raises(AttributeError, match="_position"):
        _ = env._position
    with pytest.raises(AttributeError, match="no attribute 'board'"):
        _ = env.board
    with pytest.raises(ValueError, match="agent='nobody' is unknown; choose from player_0"):
        env.observe("nobody")


# States.


@BOTH
def test_a_state_can_be_set_in_a_new_environment_without_a_reset(module: Any) -> None:
    env = module.env()
    env.reset(seed=1)
    env.step(0)
    new = module.env()
    new.unwrapped.set_state(env.unwrapped.get_state())
    assert new.agents == AGENTS
    assert new.agent_selection == env.agent_selection
    assert frozen(new.last()) == frozen(env.last())
    for agent in new.agent_iter(4):
        new.step(int(np.argmax(new.observe(agent)["action_mask"])))


# Options and positions.


@pytest.mark.parametrize("name", ["player_0", "player_1"])
def test_the_first_attacker_may_be_given_by_name(name: str) -> None:
    env = strategic_war_v0.env()
    env.reset(options={"first_attacker": name})
    assert env.agent_selection == name


@pytest.mark.parametrize("limit", [2080, 32_768, 50_000, 1_000_000, 1_000_000_000])
def test_the_turn_that_is_drawn_is_the_turn(limit: int) -> None:
    env = attack_defence_v0.env(max_turns=limit, render_mode="ansi")
    env.reset(seed=1)
    for turn in range(8):
        drawn = env.render()
        assert isinstance(drawn, str)
        assert f"turn {turn} of {limit}," in drawn
        env.step(1)
        env.step(1)


@BOTH
def test_drawing_without_a_render_mode_warns_and_gives_nothing(module: Any) -> None:
    env = module.env()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
