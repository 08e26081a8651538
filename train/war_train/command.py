"""``war train``: a run from the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import tyro

from war_agents.models.model_card import read_card
from war_agents.models.show import score_lines
from war_envs.messages import printable
from war_train.config import TrainConfig
from war_train.league.config import LeagueConfig
from war_train.ppo.config import PPOConfig
from war_train.run.config import RunConfig
from war_train.run.stopping import StopRequest

_TYRO: Final = (tyro.conf.FlagCreatePairsOff,)


def run(arguments: list[str]) -> None:
    """Trains as the ``arguments`` of ``war train`` say, and prints what that has come to.

    Raises:
        ValueError, OSError, TrainingStoppedError: see `war_train.ppo.train`.
    """
    asked = _resumed if any(arg.split("=")[0] == "--resume" for arg in arguments) else _started
    trains = tyro.cli(asked, prog="war train", args=arguments, config=_TYRO)
    # From here on signals are only noted: the run ends at the first one by itself, and those that
    # come after it, while things are saved and told, change nothing.
    StopRequest().catch()
    file = trains()
    for line in score_lines(read_card(file)):
        print(printable(line))
    print(f"The model is in {file}")


def _started(
    run: Annotated[RunConfig, tyro.conf.OmitArgPrefixes],
    league: Annotated[LeagueConfig, tyro.conf.OmitArgPrefixes],
    ppo: Annotated[PPOConfig, tyro.conf.OmitArgPrefixes],
) -> Callable[[], Path]:
    """Trains an agent by self-play with MaskablePPO. "war train --resume FOLDER" goes on with a run
    that ended early.

    Args:
        run: What is played, how long, and what is kept of it.
        league: Who plays against the learner.
        ppo: How it learns.
    """
    config = TrainConfig(**vars(run), **vars(league), **vars(ppo))
    # Not before, so that a wrong argument is told at once.
    from war_train.ppo import train

    return lambda: train(config)


def _resumed(*, resume: Path, progress: bool = True) -> Callable[[], Path]:
    """Goes on with a run that ended early, with the settings that it was started with.

    Args:
        resume: The run's folder.
        progress: Shows a progress bar, if standard error is a terminal.
    """
    from war_train.ppo import resume as go_on

    return lambda: go_on(resume, progress=progress)
