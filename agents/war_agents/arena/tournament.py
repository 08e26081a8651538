"""Every agent against every other."""

import importlib.metadata
import json
import os
import platform
import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.arena import files, report
from war_agents.arena.match import MAX_DEALS, Entrant, MatchResult, games_per_deal, play_entrants
from war_agents.arena.ratings import rate
from war_agents.arena.results import PairResult, Rating, TournamentResult, score_matrix, settings
from war_agents.arena.tallies import PairGames
from war_agents.card import parse_json
from war_envs import seeding
from war_envs.messages import shown
from war_envs.variant import Variant, integer, make_variant

RESULTS_FILE: Final = "results.json"
REPORT_FILE: Final = "report.md"


def run_tournament(
    agents: Sequence[str | Path | Agent],
    *,
    game: str,
    variant: str | Variant = "standard",
    deals: int,
    seed: int,
    out: str | Path | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> TournamentResult:
    """Plays every agent against every other, all on the same deals.

    Args:
        agents: at least two of different names: agents, or what `war_agents.make` makes them from.
        game: ``"attack-defence"`` or ``"strategic-war"``.
        variant: by name or as a variant.
        deals: for each pair, 1 to 10,000,000; each is played from both seats (see `play_match`).
        seed: 0 to 2**63 - 1.
        out: the folder for results.json and report.md, which are written at the end. Results of the
            same settings that lie there are replaced; those of others are refused.
        progress: called with the number of games played so far and in all; what it raises ends the
            tournament.

    Raises:
        ValueError: an argument that is not allowed, before anything is played; or an agent that
            plays wrongly.
        OSError: ``out`` cannot be written.
    """
    chosen = make_variant(game, variant)
    deals = integer("deals", deals, 1, MAX_DEALS)
    seed = integer("seed", seed, 0, seeding.MAX_SEED)
    entrants = _entrants(agents, chosen)
    names = tuple(entrant.name for entrant in entrants)
    folder = None if out is None else Path(out)
    if folder is not None:
        _refuse_others(folder / RESULTS_FILE, settings(names, chosen, deals, seed))
        files.make_writable_folder(folder)

    pairs = list(combinations(entrants, 2))
    total = len(pairs) * deals * games_per_deal(game)
    done = 0

    def count(games: int) -> None:
        nonlocal done
        done += games
        if progress is not None:
            progress(done, total)

    matches = [
        play_entrants(pair, chosen, deals=deals, seed=seed, progress=count) for pair in pairs
    ]
    rows = tuple(PairResult.of(match) for match in matches)
    ratings = _ratings(names, matches, score_matrix(names, rows))
    result = TournamentResult(names, chosen, deals, seed, rows, ratings, _versions())
    if folder is not None:
        _write(folder, result)
    return result


def _entrants(agents: Sequence[str | Path | Agent], variant: Variant) -> list[Entrant]:
    if isinstance(agents, str | Path) or len(agents) < 2:
        raise ValueError(f"agents={shown(agents)} is not allowed; give at least two")
    entrants = [Entrant.of(agent, variant) for agent in agents]
    seen = set()
    for entrant in entrants:
        name = os.path.normpath(entrant.name)
        if name in seen:
            raise ValueError(f"agents holds {entrant.name!r} twice; names must be different")
        seen.add(name)
    return entrants


def _ratings(
    names: Sequence[str], matches: Sequence[MatchResult], scores: NDArray[np.float64]
) -> tuple[Rating, ...]:
    first = np.array([1, -1] if matches[0].results.shape[1] == 2 else [1, -1, -1, 1], np.int8)
    games = [
        PairGames(names.index(match.a), names.index(match.b), match.results, first)
        for match in matches
    ]
    elo = rate(len(names), games).elo
    means = np.nanmean(scores, axis=1)
    ratings = [Rating(*row) for row in zip(names, elo.tolist(), means.tolist(), strict=True)]
    # Rounded: agents of equal strength stand in the order given, whatever the last bits say.
    return tuple(sorted(ratings, key=lambda rating: -round(rating.elo, 6)))


def _versions() -> dict[str, str]:
    packages = ["war-envs", "numpy", "numba", "scipy"]
    if "torch" in sys.modules:  # a network has played
        packages.append("torch")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # used without an install
            versions[package] = "unknown"
    return versions


def _refuse_others(file: Path, wanted: dict[str, Any]) -> None:
    """Refuses to replace a file that is not the result of a tournament with these settings."""
    if not file.exists():
        return
    try:
        found = parse_json(file.read_bytes())
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("settings") != wanted:
        raise ValueError(
            f"out={str(file.parent)!r} holds {RESULTS_FILE} of something else; "
            "choose another folder, or remove it"
        )


def _write(folder: Path, result: TournamentResult) -> None:
    files.write_text(folder / REPORT_FILE, report.markdown(result))
    # Last, so that where it lies all lies.
    files.write_text(folder / RESULTS_FILE, json.dumps(result.to_json(), indent=2) + "\n")
