"""An agent of your own: written, registered, and played against the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_agents import register
from war_agents.arena import Tournament
from war_envs.attack_defence.observation import LAYOUT


class FirstStrike:
    """Attacks while it holds at least half of the cards, defends otherwise."""

    name = "first-strike"
    encoding = "tokens"
    memory = "perfect"

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """Chooses for many positions at once: a row of ``observation`` is a position."""
        own = observation[:, LAYOUT.index("own_size")]
        other = observation[:, LAYOUT.index("other_size")]
        return np.where(own >= other, 0, 1), None


register("first-strike", lambda variant: FirstStrike(), games=("attack-defence",))

names = ["first-strike", "random", "attack", "defend", "memory"]
tournament = Tournament(names, game="attack-defence", variants="minimal", deals=200, seed=1)
result = tournament.run()
for rating in result.ratings:
    print(f"{rating.agent:12} {rating.elo:+5.0f}  Nash share {rating.nash_share:.2f}")
for pair in result.pairs:
    if pair.a == "first-strike":
        print(f"against {pair.b:8} {pair.score:.3f} [{pair.low:.3f}, {pair.high:.3f}]")
