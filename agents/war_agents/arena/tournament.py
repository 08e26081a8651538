"""Every agent against every other: `play`, and `Tournament` for those who look before they play."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from war_agents.arena.lineup import Lineup
from war_agents.arena.players import Given, Player
from war_agents.arena.results import TournamentResult
from war_agents.arena.run import Progress, Run
from war_agents.arena.settings import Settings
from war_envs.variant import Variant


def play(
    settings: Settings,
    out: str | Path | None = None,
    *,
    resume: bool = False,
    progress: Progress | None = None,
    rated: Progress | None = None,
) -> TournamentResult:
    """Plays a tournament.

    Args:
        settings: what is played by whom.
        out: the folder for settings.json, games.jsonl (every game, as soon as it is played),
            results.json, report.md and report.html. Finished results of the same settings and
            players that lie there are replaced; others are refused.
        resume: play only what is missing there. The games are the same as without a break.
        progress: called with the number of games played so far and of all that there may be;
            what it raises ends the tournament.
        rated: called, when all games are played, with the intervals of ratings found so far and
            how many there are: of tens of agents they take seconds.

    Raises:
        ValueError: there is no such agent, or ``out`` holds something else, and nothing has been
            played then; an agent is no longer what it was, or has failed in a strict tournament.
        OSError: ``out`` cannot be written; it can be resumed.
    """
    return _play(settings, Lineup.of(settings), out, resume, progress, rated)


@dataclass(frozen=True)
class Tournament(Settings):
    """A tournament whose agents have been made, to be played by `run`.

    Its arguments are those of `Settings`, ``agents`` first.

    Raises:
        ValueError: an argument that is not allowed, or no such agent.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self._lineup  # noqa: B018 - makes the agents

    @cached_property
    def _lineup(self) -> Lineup:
        return Lineup.of(self)

    @property
    def players(self) -> tuple[Player, ...]:
        """Who takes part, in the order of ``agents``."""
        return self._lineup.players

    @property
    def warnings(self) -> tuple[str, ...]:
        """Which agents a later run could not tell from others, and why."""
        return self._lineup.warnings

    def run(
        self,
        out: str | Path | None = None,
        *,
        resume: bool = False,
        progress: Progress | None = None,
        rated: Progress | None = None,
    ) -> TournamentResult:
        """Plays all games; arguments, errors and what comes back are those of `play`."""
        return _play(self, self._lineup, out, resume, progress, rated)


def run_tournament(
    agents: Sequence[Given],
    *,
    game: str,
    variant: str | Variant = "standard",
    deals: int,
    seed: int,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> TournamentResult:
    """Plays a tournament of one variant; ``options`` are further fields of `Settings`."""
    settings = Settings(agents, game=game, variants=variant, deals=deals, seed=seed, **options)
    return play(settings, out, progress=progress)


def _play(
    settings: Settings,
    lineup: Lineup,
    out: str | Path | None,
    resume: bool,
    progress: Progress | None,
    rated: Progress | None,
) -> TournamentResult:
    run = Run(settings, lineup, progress or _quiet, rated or _quiet)
    return run.run(None if out is None else Path(out), resume)


def _quiet(done: int, total: int) -> None:
    """Shows nothing."""
