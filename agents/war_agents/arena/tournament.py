"""Every agent against every other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from war_agents.arena.plan import Plan
from war_agents.arena.players import Given
from war_agents.arena.results import TournamentResult
from war_agents.arena.run import Progress, Run
from war_envs.variant import Variant


class Tournament(Plan):
    """A tournament, to be run.

    Args:
        agents: at least two of different names: names and paths as `war_agents.make` takes them,
            ``"module:factory"``, or agents.
        game: ``"attack-defence"`` or ``"strategic-war"``.
        variants: one or several, by name or as variants; ``"all"`` is every mode.
        deals: for each pair in each variant, 1 to 10,000,000; each is played from both seats, in
            Strategic War with both first attackers too. With ``until_separated`` the most there may
            be.
        seed: 0 to 2**63 - 1.
        until_separated: play on until the order of all agents by their mean scores is decided, at
            this family-wise confidence, such as 0.95; see `war_agents.arena.stats.separation`.
        deterministic: trained agents take their likeliest actions, and do not sample.
        time_limit: seconds that an agent may take for a choice, 1,000 choices of one call for twice
            as long, and so on; whoever takes longer loses the game. Agents of this package are not
            held to it.
        strict: the first game that an agent loses by failing ends the tournament with an error; the
            games before it are kept, and it can be resumed, strict or not.
        workers: processes that play, each with one thread. None: one a core, or this process alone
            for few games of this package's agents; 0: this process alone, where an agent that hangs
            or exits takes all with it.
        ray: the address of a Ray cluster to play on (``"auto"``, or as `ray.init` takes it), in the
            place of processes on this machine.

    Raises:
        ValueError: an argument that is not allowed; nothing has been played then.
    """

    def run(
        self,
        out: str | Path | None = None,
        *,
        resume: bool = False,
        progress: Progress | None = None,
        rated: Progress | None = None,
    ) -> TournamentResult:
        """Plays all games.

        Args:
            out: the folder for settings.json, games.jsonl (every game, as soon as it is played),
                results.json, report.md and report.html. Finished results of the same settings and
                players that lie there are replaced; others are refused.
            resume: play only what is missing there. The games are the same as without a break.
            progress: called with the number of games played so far and of all that there may be;
                what it raises ends the tournament.
            rated: called, when all games are played, with the intervals of ratings found so far and
                how many there are: of tens of agents they take seconds.

        Raises:
            ValueError: ``out`` holds something else, and nothing has been played then; an agent is
                no longer what it was, or has failed in a strict tournament.
            OSError: ``out`` cannot be written; it can be resumed.
        """
        run = Run(self, progress or _quiet, rated or _quiet)
        return run.run(None if out is None else Path(out), resume)


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
    """Plays a `Tournament` of one variant; ``options`` are further arguments of that."""
    tournament = Tournament(agents, game=game, variants=variant, deals=deals, seed=seed, **options)
    return tournament.run(out, progress=progress)


def _quiet(done: int, total: int) -> None:
    """Shows nothing."""
