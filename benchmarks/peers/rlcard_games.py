"""RLCard's games, full games at random play."""

import rlcard
from common import Chooser, measure


class Games:
    """Full games in one environment."""

    def __init__(self, game):
        self._env = rlcard.make(game, config={"seed": 1})
        self._choose = Chooser()

    def work(self):
        """One game; the number of choices in it."""
        env, choices = self._env, 0
        state, _ = env.reset()
        while not env.is_over():
            state, _ = env.step(self._choose(list(state["legal_actions"])))
            choices += 1
        env.get_payoffs()
        return choices


for game in ("leduc-holdem", "uno", "limit-holdem"):
    measure(
        f"rlcard/{game}",
        Games(game).work,
        includes="full games through reset, step and get_payoffs, with observations and legal "
        "actions, the random legal choice too",
        packages=("rlcard", "numpy"),
    )
