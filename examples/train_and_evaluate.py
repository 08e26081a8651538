"""Self-play training from Python, then matches of the result against the scripted agents."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import war_agents
from war_agents.arena import play_match
from war_train.config import TrainConfig
from war_train.ppo import train


def main(steps: int) -> None:
    """Trains for ``steps`` decisions on Minimal and prints the scores."""
    with TemporaryDirectory() as folder:
        run = train(
            TrainConfig(
                game="attack-defence",
                minimal=True,
                steps=steps,
                out=Path(folder) / "run",
                seed=1,
            )
        )
        game, variant = "attack-defence", "minimal"
        trained = war_agents.make(run, game=game, variant=variant)
        for name in war_agents.names(game):
            opponent = war_agents.make(name, game=game, variant=variant)
            result = play_match(trained, opponent, game=game, variant=variant, deals=200, seed=1)
            print(f"{name:8} {result.score:.3f} [{result.low:.3f}, {result.high:.3f}]")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
