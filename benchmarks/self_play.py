"""What makes self-play strong: the same budget, with one thing changed at a time.

    python benchmarks/self_play.py runs/self-play > self-play.jsonl

Attack and Defence Minimal. Runs that are in the folder already are not repeated, and those that
were interrupted go on. Prints a line of JSON a run, with the score against ``memory``; how far the
runs can be exploited is for ``benchmarks/exploit.py`` to say.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from war_agents.arena import play_match
from war_agents.files import json_text
from war_train.config import TrainConfig
from war_train.ppo import resume, train

GAME: Final = "attack-defence"
STEPS: Final = 6_000_000
DEALS: Final = 1000
_PLAIN: Final = {
    "floor": 0.0,
    "opponents": {"self": 0.3, "past": 0.15, "memory": 0.5, "random": 0.05},
}
_EXPLOITERS: Final = {"self": 0.25, "past": 0.15, "exploiter": 0.1, "memory": 0.45, "random": 0.05}
AIDS: Final[dict[str, dict[str, Any]]] = {
    "entropy falls": {},
    "entropy held": {"entropy_end": 0.03},
    "magnet": {"magnet": 0.05, "average": 500_000},
    "floor": {"floor": 0.01},
    "floor, averaged weights": {"floor": 0.01, "average": 500_000},
    "floor, exploiters": {"floor": 0.01, "opponents": _EXPLOITERS},
}


def main() -> None:
    """Runs what is missing, and prints what has come of all."""
    folder = Path(sys.argv[1])
    for name, changes in AIDS.items():
        run = folder / name.replace(", ", "-").replace(" ", "-")
        _train(run, {**_PLAIN, **changes})
        match = play_match(run, "memory", game=GAME, variant="minimal", deals=DEALS, seed=1)
        row = {"aid": name, "steps": STEPS, "score": match.score, "low": match.low}
        row["high"] = match.high
        print(json_text(row), flush=True)


def _train(run: Path, changes: dict[str, Any]) -> None:
    if not (run / "config.json").exists():
        options = {"minimal": True, "steps": STEPS, "seed": 1, "final_deals": 200, **changes}
        train(TrainConfig(game=GAME, out=run, **options))
    elif json.loads((run / "model.json").read_text())["steps"] < STEPS:
        resume(run)


if __name__ == "__main__":
    main()
