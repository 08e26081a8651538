"""OpenSpiel's games, full games at random play."""

import pyspiel
from common import Chooser, measure

BATCH = 1024


class Games:
    """Full games, a Python loop over OpenSpiel's states."""

    def __init__(self, game):
        self._game = pyspiel.load_game(game)
        self._tensor_of = (
            "observation_tensor"
            if self._game.get_type().provides_observation_tensor
            else "information_state_tensor"
        )
        self._choose = Chooser()

    def work(self):
        """One game; the number of choices in it."""
        state, choose, choices = self._game.new_initial_state(), self._choose, 0
        tensor = getattr(state, self._tensor_of)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(choose([action for action, _ in state.chance_outcomes()]))
            elif state.is_simultaneous_node():
                players = range(self._game.num_players())
                for player in players:
                    tensor(player)
                state.apply_actions([choose(state.legal_actions(p)) for p in players])
                choices += len(players)
            else:
                player = state.current_player()
                tensor(player)
                state.apply_action(choose(state.legal_actions(player)))
                choices += 1
        state.returns()
        return choices


class Trajectories:
    """Whole games, many at once, played in C++ with uniform policies."""

    def __init__(self, game):
        self._game = pyspiel.load_game(game)
        policy = pyspiel.UniformRandomPolicy(self._game)
        self._policies = [policy] * self._game.num_players()
        self._index = {state: i for i, state in enumerate(policy.policy_table())}
        self._seed = 0

    def work(self):
        """`BATCH` games; the number of choices in them."""
        self._seed += 1
        batch = pyspiel.record_batched_trajectories(
            self._game, self._policies, self._index, BATCH, True, self._seed, -1
        )
        return int(sum(map(sum, batch.valid)))


for game in ("goofspiel", "leduc_poker", "connect_four"):
    measure(
        f"openspiel/{game}/python",
        Games(game).work,
        includes="full games from new_initial_state to returns: each chooser's observation tensor "
        "as a list and legal actions, chance and the random legal choice too",
        packages=("open_spiel",),
    )

for game in ("kuhn_poker", "leduc_poker"):
    measure(
        f"openspiel/{game}/trajectories",
        Trajectories(game).work,
        includes="record_batched_trajectories: full games in C++, observations, legal actions, "
        "policies and rewards, which stay in C++; the choices are counted in Python",
        packages=("open_spiel",),
        batch=BATCH,
    )
