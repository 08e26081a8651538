"""An agent of your own in the league: the learner trains against it and against itself."""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from war_agents import register
from war_envs.attack_defence.observation import LAYOUT
from war_train.config import TrainConfig
from war_train.ppo import train


class TitForTat:
    """Attacks at first, and then does what the other player did last."""

    name = "tit-for-tat"
    encoding = "tokens"
    memory = "table"

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: NDArray[np.uint64],
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], Any]:
        """Chooses for many positions at once: a row of ``observation`` is a position."""
        last = observation[:, LAYOUT.index("last_other_action")]  # 0 none, 1 attack, 2 defend
        return np.where(last == 2, 1, 0), None


register("tit-for-tat", lambda variant: TitForTat(), games=("attack-defence",))


def main(steps: int) -> None:
    """Trains for ``steps`` decisions and prints how the learner fared, update by update."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        train(
            TrainConfig(
                game="attack-defence",
                minimal=True,
                num_ranks=5,
                steps=steps,
                opponents={"self": 0.5, "tit-for-tat": 0.5},
                final_deals=200,
                out=out,
                seed=1,
            )
        )
        rows = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    for row in rows:
        games, score = row["games"], row["score"]
        met = "  ".join(
            f"{games[name]:5} games against {name}: {score[name]:.3f}" for name in games
        )
        print(f"{row['steps']:6} steps  {met}")
    final = rows[-1]["evaluation"]["tit-for-tat"]
    print(f"tit-for-tat {final['score']:.3f} [{final['low']:.3f}, {final['high']:.3f}]")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
