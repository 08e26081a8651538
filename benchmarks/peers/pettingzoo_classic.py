"""PettingZoo's own classic games, full games at random play."""

from common import Chooser, measure
from pettingzoo.classic import connect_four_v3, leduc_holdem_v4, rps_v2

LOOP = "full games through reset, agent_iter, last and step, the random {choice}; {env}"


class Games:
    """Full games in one environment."""

    def __init__(self, env):
        self._env = env
        self._choose = Chooser()
        self._legal = {}
        env.reset(seed=1)

    def work(self):
        """One game; the number of choices in it."""
        env, choices = self._env, 0
        env.reset()
        for agent in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
            else:
                env.step(self._choose(self._actions(agent, observation)))
                choices += 1
        return choices

    def _actions(self, agent, observation):
        if not isinstance(observation, dict):  # no mask
            return range(self._env.action_space(agent).n)
        mask = observation["action_mask"]
        key = mask.tobytes()
        if key not in self._legal:
            self._legal[key] = mask.nonzero()[0].tolist()
        return self._legal[key]


for module, masked in ((connect_four_v3, True), (leduc_holdem_v4, True), (rps_v2, False)):
    name = module.__name__.rpartition(".")[2].rpartition("_v")[0]
    for kind, make in (("raw", module.raw_env), ("env", module.env)):
        measure(
            f"pettingzoo/{name}/{kind}",
            Games(make()).work,
            includes=LOOP.format(
                choice="legal choice too" if masked else "choice too, without masks",
                env="without wrappers" if kind == "raw" else "PettingZoo's wrappers",
            ),
            packages=("pettingzoo", "gymnasium", "numpy"),
        )
