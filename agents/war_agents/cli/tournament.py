"""``war tournament``."""

import os
import sys
from pathlib import Path
from typing import Annotated, Final, Literal

import tyro

from war_agents.arena.folder import HTML_FILE, RESULTS_FILE
from war_agents.arena.players import is_code
from war_agents.arena.report import print_report
from war_agents.arena.tournament import Tournament
from war_agents.cli.bars import bars
from war_agents.cli.ending import fail
from war_agents.module_path import add_user_folder
from war_envs.chosen import ChosenVariants

_ALL_FAILED: Final = 3


def run(
    *,
    agents: tuple[str, ...],
    game: Literal["attack-defence", "strategic-war"],
    variant: Annotated[ChosenVariants, tyro.conf.OmitArgPrefixes] = ChosenVariants(),  # noqa: B008
    deals: int = 1000,
    seed: int = 0,
    until_separated: float | None = None,
    deterministic: bool = False,
    time_limit: float = 10.0,
    strict: bool = False,
    workers: int | None = None,
    ray: str | None = None,
    out: Path | None = None,
    resume: bool = False,
) -> None:
    """Plays every agent against every other, each deal from both seats.

    Games in which an agent of yours fails are lost to it; the exit code is 3 where an agent failed
    in every game.

    Args:
        agents: At least two: names such as random and memory, run folders, model files, or
            module:factory for your own code.
        game: What is played.
        variant: What is played. Of several variants each is reported, and their mean.
        deals: Deals per pair. Each is played twice, in Strategic War four times (both first
            attackers). With --until-separated, the most there may be.
        seed: The same seed gives the same deals, and all that the agents sample.
        until_separated: Play on until the order of all agents by their mean scores is decided, at
            this family-wise confidence, such as 0.95.
        deterministic: Trained agents take their likeliest actions; by default they sample.
        time_limit: Seconds that an agent of yours may take for a choice; a game in which it takes
            longer is lost.
        strict: End with an error at the first game that an agent loses by failing.
        workers: Processes that play; by default one per core. 0 plays in this one.
        ray: Address of a Ray cluster to play on, such as auto (needs the extra "ray").
        out: Folder for the games, results.json, report.md and report.html; without it there is only
            the table.
        resume: Go on with the tournament in the folder of --out, which must have the same settings.
    """
    if resume and out is None:
        raise ValueError("resume=True is not allowed without out, the folder to go on with")
    if any(map(is_code, agents)):
        add_user_folder(os.getcwd())
    tournament = Tournament(
        agents,
        game=game,
        variants=variant.made(game),
        deals=deals,
        seed=seed,
        until_separated=until_separated,
        deterministic=deterministic,
        time_limit=time_limit,
        strict=strict,
        workers=workers,
        ray=ray,
    )
    try:
        with bars() as bar:
            progress, rated = bar("games"), bar("ratings")
            result = tournament.run(out, resume=resume, progress=progress, rated=rated)
    except KeyboardInterrupt as error:
        error.args = (
            ("interrupted",)
            if out is None
            else (f"interrupted; the same command with --resume goes on in {out}",)
        )
        raise
    print_report(result)
    if out is not None:
        print(f"The report is in {out / HTML_FILE}, the numbers are in {out / RESULTS_FILE}")
    if result.failed:
        sys.stdout.flush()
        broken = ", ".join(map(repr, result.failed))
        fail(f"failed in every game: {broken}; see the forfeits above", _ALL_FAILED)
