"""What a training run with PPO is asked to do, and what that comes to."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from war_envs.variant import LATER_MODES
from war_train.league.config import LeagueConfig, LeagueSettings
from war_train.ppo.config import PPOConfig, PPOSettings
from war_train.run.config import RunConfig, RunSettings


@dataclass(frozen=True)
class TrainSettings:
    """A `TrainConfig`, checked and complete, by the parts of a run.

    Attributes:
        run: what is played, how long, and what is kept of it.
        league: who plays against the learner.
        ppo: how it learns.
    """

    run: RunSettings
    league: LeagueSettings
    ppo: PPOSettings

    def to_json(self) -> dict[str, Any]:
        """All settings but ``out``, as JSON has them and as `TrainConfig` takes them."""
        values = {
            part.name: getattr(settings, part.name)
            for settings in (self.run, self.league, self.ppo)
            for part in fields(settings)
        }
        for name in ("out", *(mode for mode in LATER_MODES if not values[mode])):
            # A file that travels says nothing of the machine it was made on, nor does a run of
            # modes that came after it.
            del values[name]
        return {**values, "variants": list(self.run.variants)}


@dataclass(frozen=True, kw_only=True)
class TrainConfig(PPOConfig, LeagueConfig, RunConfig):
    """Trains an agent by self-play with MaskablePPO. "war train --resume FOLDER" goes on with a run
    that ended early.

    Raises:
        ValueError: a value that is not allowed, naming it.
    """

    def __post_init__(self) -> None:
        self.settings  # noqa: B018 - what is not allowed is refused here

    @cached_property
    def settings(self) -> TrainSettings:
        """What this comes to. Without a seed it is sampled, once."""
        run = RunSettings.of(self)
        return TrainSettings(run, LeagueSettings.of(self), PPOSettings.of(self, run))
