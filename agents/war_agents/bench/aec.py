"""The PettingZoo environments, in full games at random play."""

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from war_agents.bench.choose import Chooser
from war_agents.bench.measure import REPEATS, Measurement, rate
from war_envs.games import SPECS
from war_envs.variant import GAMES

LOOP: Final = "full games through reset, agent_iter, last and step, the random legal choice too"
_WRAPPERS: Final = "TerminateIllegal, AssertOutOfBounds and OrderEnforcing wrappers"


class TrivialAEC(AECEnv[str, dict[str, Any], Any]):
    """Two agents choose in turn, a fixed number of times, to no effect."""

    metadata: dict[str, Any] = {"name": "trivial", "render_modes": [], "is_parallelizable": False}
    length = 600

    def __init__(self) -> None:
        self.possible_agents = ["player_0", "player_1"]
        self._seen = {"observation": np.zeros(1, np.int8), "action_mask": np.ones(2, np.int8)}
        self._space = spaces.Dict(
            {"observation": spaces.MultiBinary(1), "action_mask": spaces.MultiBinary(2)}
        )
        self._actions = spaces.Discrete(2)
        self.render_mode = None

    def observation_space(self, agent: str) -> Any:
        """The same for both."""
        return self._space

    def action_space(self, agent: str) -> Any:
        """The same for both."""
        return self._actions

    def observe(self, agent: str) -> dict[str, Any]:
        """Always the same."""
        return self._seen

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins."""
        self.agents = [*self.possible_agents]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._left = self.length

    def step(self, action: Any) -> None:
        """Counts."""
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._left -= 1
        self.agent_selection = self.agents[self._left & 1]
        if not self._left:
            self.terminations = dict.fromkeys(self.agents, True)


def wrapped_trivial() -> AECEnv[str, dict[str, Any], Any]:
    """`TrivialAEC` in the wrappers that PettingZoo's own games use."""
    env: Any = wrappers.TerminateIllegalWrapper(TrivialAEC(), illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)


class RandomGames:
    """Full games in one environment."""

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        self._env = env
        self._choose = Chooser()
        env.reset(seed=1)

    def work(self) -> int:
        """One game; the number of choices in it."""
        env, choose = self._env, self._choose
        env.reset()
        choices = 0
        for _ in env.agent_iter():
            seen, _, terminated, truncated, _ = env.last()
            observation: Any = seen
            if terminated or truncated:
                env.step(None)
            else:
                env.step(choose(observation["action_mask"]))
                choices += 1
        return choices


def run(seconds: float = 1.5) -> Iterator[Measurement]:
    """`raw_env` and `env` of each game, and what PettingZoo's wrappers cost around nothing."""
    makers: dict[str, Callable[[], Any]] = {}
    for game in GAMES:
        makers[f"aec/{game}/raw"] = SPECS[game].environments.raw_env
        makers[f"aec/{game}/env"] = SPECS[game].environments.env
    makers["aec/trivial/raw"] = TrivialAEC
    makers["aec/trivial/env"] = wrapped_trivial
    rates: dict[str, list[float]] = {name: [] for name in makers}
    games = {name: RandomGames(make()) for name, make in makers.items()}
    for played in games.values():
        played.work()
    for _ in range(REPEATS):  # in turn, so that a slow moment of the machine meets them all
        for name, played in games.items():
            rates[name].append(rate(played.work, seconds / REPEATS))
    for name, values in rates.items():
        yield _measurement(name, values, "agent-steps/s", _includes(name))
    for kind in (*GAMES, "trivial"):
        pairs = zip(rates[f"aec/{kind}/env"], rates[f"aec/{kind}/raw"], strict=True)
        costs = [1e6 / env - 1e6 / raw for env, raw in pairs]
        whose = f"PettingZoo's {_WRAPPERS} add" if kind == "trivial" else "our wrappers add"
        includes = f"what {whose} to a choice: aec/{kind}/env less aec/{kind}/raw, in time"
        yield _measurement(f"aec/{kind}/wrappers", costs, "µs/agent-step", includes)


def _includes(name: str) -> str:
    if name.startswith("aec/trivial"):
        inside = "an environment that does nothing"
        return f"{LOOP}; {inside}" + (f", in PettingZoo's {_WRAPPERS}" if "env" in name else "")
    return f"{LOOP}; vector observations" + ("" if "raw" in name else "; our wrappers")


def _measurement(name: str, values: list[float], unit: str, includes: str) -> Measurement:
    game = name.split("/")[1]
    variant = "none" if game == "trivial" else "standard"
    return Measurement.of(
        values,
        name=name,
        game=game,
        variant=variant,
        batch=1,
        threads=1,
        unit=unit,
        includes=includes,
    )
