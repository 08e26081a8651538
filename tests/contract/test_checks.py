"""The exported checks find what they are for: each fault here must be named in one line."""

import doctest
import random
from typing import Any

import gymnasium
import numpy as np
import pytest
from pettingzoo.utils.wrappers import BaseWrapper

import war_envs.testing
from war_envs import attack_defence_v0, strategic_war_v0
from war_envs.attack_defence.env import AttackDefenceParallel
from war_envs.strategic_war.env import StrategicWarAEC
from war_envs.testing import check_aec, check_gymnasium, check_parallel, check_turn_limit
from war_envs.variant import AttackDefenceVariant, StrategicWarVariant

SMALL = StrategicWarVariant(minimal=True, num_ranks=5, max_turns=30)


def strategic_war(cls: type[Any]) -> Any:
    return cls(SMALL, "tokens", "perfect", "ansi", "player_0")


class GlobalDeal(StrategicWarAEC):
    """Deals from the global generator."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed=seed)
        super().reset(seed=random.getrandbits(32))


class SameDeal(StrategicWarAEC):
    """Deals the same game each time."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed=1 if seed is None else seed)


class ForgetfulCopy(StrategicWarAEC):
    """A copy is a new game."""

    def __deepcopy__(self, memo: Any) -> Any:
        other = strategic_war(type(self))
        other.reset(seed=0)
        return other


class BoolMask(StrategicWarAEC):
    """The mask is no int8."""

    def observe(self, agent: str, **rest: Any) -> Any:
        seen = super().observe(agent, **rest)
        return seen | {"action_mask": seen["action_mask"].astype(bool)}


class OneBuffer(StrategicWarAEC):
    """Each observation is the same array."""

    _buffer: Any = None

    def observe(self, agent: str, **rest: Any) -> Any:
        seen = super().observe(agent, **rest)
        if self._buffer is None:
            self._buffer = seen["observation"]
        self._buffer[:] = seen["observation"]
        return seen | {"observation": self._buffer}


class NumpyReward(StrategicWarAEC):
    """Rewards are NumPy's."""

    def last(self, observe: bool = True) -> Any:
        observation, reward, *rest = super().last(observe)
        return observation, np.float64(reward), *rest


class LoserForgotten(StrategicWarAEC):
    """The loser is not told."""

    def _result(self, seat: int) -> float:
        return max(super()._result(seat), 0.0)


class LateInfo(StrategicWarAEC):
    """An info has an entry at the end only."""

    def _info(self, agent: str) -> dict[str, Any]:
        return super()._info(agent) | ({"said": 1} if self.outcome else {})


class AnySeed(StrategicWarAEC):
    """Any seed will do."""

    def reset(self, seed: Any = None, options: Any = None) -> None:
        super().reset(seed=abs(hash(seed)) % 2**32 if isinstance(seed, str | float) else seed)


class Drowsy(StrategicWarAEC):
    """A dead agent's action is swallowed."""

    def step(self, action: int | None) -> None:
        dead = self.has_reset and self.agents and self.terminations[self.agent_selection]
        super().step(None if dead else action)


class Noisy(StrategicWarAEC):
    """Draws from the global generator, for nothing."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        random.random()
        super().reset(seed=seed)


class DrawingPlays(StrategicWarAEC):
    """Drawing counts turns."""

    def render(self) -> str | None:
        drawn = super().render()
        self._position.games["max_turns"] -= 1
        return drawn


class MuteBeforeReset(StrategicWarAEC):
    """Fails before the first reset, and does not say why."""

    def observe(self, agent: str, **rest: Any) -> Any:
        if not self.has_reset:
            raise AttributeError("no attribute '_board'")
        return super().observe(agent, **rest)


@pytest.mark.parametrize(
    ("cls", "reason"),
    [
        (Noisy, "global generators are left alone: a global generator was drawn from"),
        (DrawingPlays, "rendering changes nothing: drawing changes the game"),
        (MuteBeforeReset, "before reset aec: observe before reset(): "),
        (GlobalDeal, "pettingzoo aec tests: Incorrect "),
        (SameDeal, "deals differ: resets that follow a seeded one give only 2 different"),
        (ForgetfulCopy, "copies go on alike: copy.deepcopy at turn 1 plays on differently"),
        (BoolMask, "pettingzoo aec tests: "),
        (OneBuffer, "what is shown belongs to the caller: two turns share an array"),
        (NumpyReward, "rewards and flags are plain python: a reward is a float64"),
        (LateInfo, "infos keep their form: the info of player_"),
        (LoserForgotten, "rewards sum to zero: the rewards of a game sum to "),
        (AnySeed, "refused seeds: seed=0.5 is not refused"),
        (Drowsy, "wrong steps aec: an action of an agent whose game is over is not refused"),
    ],
)
def test_a_faulty_aec_environment_is_found(cls: type[Any], reason: str) -> None:
    with pytest.raises(AssertionError) as raised:
        check_aec(lambda: strategic_war(cls))
    assert str(raised.value).startswith(reason)
    assert "\n" not in str(raised.value)


class SilentIllegal(BaseWrapper[str, Any, Any]):
    """Plays something else instead of an illegal action."""

    def step(self, action: Any) -> None:
        if self.agents and action in (0, 1, 2, 3):
            seen: Any = self.observe(self.agent_selection)
            if seen["action_mask"].any():
                action = int(np.flatnonzero(seen["action_mask"])[action % 2 - 1])
        super().step(action)


class Warns(BaseWrapper[str, Any, Any]):
    """Warns of something."""

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        import warnings

        warnings.warn("too hot", UserWarning, stacklevel=2)
        super().reset(seed=seed)


@pytest.mark.parametrize(
    ("wrapper", "reason"),
    [
        (SilentIllegal, "illegal actions: "),
        (Warns, "pettingzoo aec tests: UserWarning: too hot"),
    ],
)
def test_a_faulty_wrapper_is_found(wrapper: type[Any], reason: str) -> None:
    with pytest.raises(AssertionError) as raised:
        check_aec(lambda: wrapper(strategic_war_v0.raw_env(minimal=True, num_ranks=5)))
    assert str(raised.value).startswith(reason)


class Lenient(AttackDefenceParallel):
    """Fills in what is missing."""

    def step(self, actions: dict[str, int]) -> Any:
        return super().step(dict.fromkeys(self.possible_agents, 0) | actions)


class LaterDrift(AttackDefenceParallel):
    """Differs from itself, but only after some turns, where a stock test has stopped looking."""

    def step(self, actions: dict[str, int]) -> Any:
        result = super().step(actions)
        if self._position.games[0]["turn"] > 5:
            result[4]["player_0"]["noise"] = random.random()
        return result


@pytest.mark.field_case("S01")
@pytest.mark.parametrize(
    ("cls", "reason"),
    [
        (Lenient, "wrong steps parallel: step({}) is not refused"),
        (LaterDrift, "same seed gives same games: "),
    ],
)
def test_a_faulty_parallel_environment_is_found(cls: type[Any], reason: str) -> None:
    variant = AttackDefenceVariant(minimal=True, num_ranks=5)
    with pytest.raises(AssertionError) as raised:
        check_parallel(lambda: cls(variant, "tokens", "perfect", None, "player_0"))
    assert str(raised.value).startswith(reason)


class NumpyFlag(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The flags are NumPy's."""

    def step(self, action: Any) -> Any:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, np.bool_(terminated), truncated, info


def test_a_faulty_gymnasium_environment_is_found() -> None:
    with pytest.raises(AssertionError):
        check_gymnasium(lambda: NumpyFlag(gymnasium.make("war_envs/AttackDefence-v0", num_ranks=3)))


def test_a_turn_limit_that_is_off_by_one_is_found() -> None:
    with pytest.raises(AssertionError, match="the turn limit"):
        check_turn_limit(
            lambda limit: attack_defence_v0.env(max_turns=limit + 1),
            lambda limit: attack_defence_v0.parallel_env(max_turns=limit + 1),
        )


def test_the_example_in_the_documentation_runs() -> None:
    assert doctest.testmod(war_envs.testing) == doctest.TestResults(failed=0, attempted=5)
