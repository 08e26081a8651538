"""Every agent against every other."""

import contextlib
import dataclasses
import importlib.metadata
import math
import os
import platform
import sys
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from war_agents import OWN_NAMES
from war_agents.arena import analysis
from war_agents.arena.blocks import Block, Setup, dumps
from war_agents.arena.folder import TournamentFolder
from war_agents.arena.games import Games, games_per_deal
from war_agents.arena.match import MAX_DEALS, MatchResult
from war_agents.arena.notable import notable_games
from war_agents.arena.players import Entrant, Given, Player
from war_agents.arena.pool import InProcess, Pool, Processes, num_cores
from war_agents.arena.results import TournamentResult
from war_agents.arena.schedule import rounds
from war_agents.arena.separation import SeparationTest
from war_envs import seeding
from war_envs.messages import one_line, shown
from war_envs.variant import VARIANT_NAMES, Variant, integer, make_variant

ALL: Final = "all"
FEW_GAMES: Final = 50_000  # of scripted agents; fewer are over before worker processes pay off
SLOWNESS: Final = 10  # of a game in which a network plays
Progress = Callable[[int, int], object]


class Tournament:
    """A tournament, and all that decides its games.

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
            this family-wise confidence, such as 0.95; see `war_agents.arena.separation`.
        deterministic: trained agents take their likeliest actions, and do not sample.
        time_limit: seconds that an agent may take for a choice, 1,000 choices of one call for twice
            as long, and so on; whoever takes longer loses the game. Agents of this package are not
            held to it.
        workers: processes that play, each with one thread. None: one a core, or this process alone
            for few games of this package's agents; 0: this process alone, where an agent that hangs
            or exits takes all with it.
        ray: the address of a Ray cluster to play on (``"auto"``, or as `ray.init` takes it), in the
            place of processes on this machine.

    Raises:
        ValueError: an argument that is not allowed; nothing has been played then.
    """

    def __init__(
        self,
        agents: Sequence[Given],
        *,
        game: str,
        variants: str | Variant | Sequence[str | Variant] = "standard",
        deals: int,
        seed: int,
        until_separated: float | None = None,
        deterministic: bool = False,
        time_limit: float = 10.0,
        workers: int | None = None,
        ray: str | None = None,
    ) -> None:
        self.variants = _variants(game, variants)
        self.deals = integer("deals", deals, 1, MAX_DEALS)
        self.seed = integer("seed", seed, 0, seeding.MAX_SEED)
        self.until_separated = (
            None
            if until_separated is None
            else _between("until_separated", until_separated, 0.5, 1)
        )
        self.deterministic = deterministic
        self.time_limit = _between("time_limit", time_limit, 0, math.inf)
        self._workers = None if workers is None else integer("workers", workers, 0, 1000)
        self._ray = ray
        if ray is not None and workers is not None:
            raise ValueError(f"workers={workers} is not allowed with ray; the cluster has its own")
        if isinstance(agents, str | Path) or len(agents) < 2:
            raise ValueError(f"agents={shown(agents)} is not allowed; give at least two")
        self._given = [str(given) if isinstance(given, Path) else given for given in agents]
        self._entrants = [
            [Entrant.of(given, variant, deterministic=deterministic) for variant in self.variants]
            for given in self._given
        ]
        self.players = tuple(
            Player.of(given, entrants[0], game)
            for given, entrants in zip(self._given, self._entrants, strict=True)
        )
        _refuse_doubles([player.name for player in self.players])

    @property
    def game(self) -> str:
        """``"attack-defence"`` or ``"strategic-war"``."""
        return self.variants[0].game

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides the games, but for who plays, as results.json has it."""
        return {
            "agents": [player.name for player in self.players],
            "game": self.game,
            "variants": [
                {"variant": variant.name, "options": variant.options} for variant in self.variants
            ],
            "deals": self.deals,
            "games_per_deal": games_per_deal(self.game),
            "seed": self.seed,
            "until_separated": self.until_separated,
            "deterministic": self.deterministic,
            "time_limit": self.time_limit,
        }

    @property
    def versions(self) -> dict[str, str]:
        """The versions of what plays and of what computes the results."""
        # Of torch only where a network plays, whatever else this process may have loaded.
        networks = any(
            entrants[0].trusted and entrants[0].deterministic is not None
            for entrants in self._entrants
        )
        return _versions(["war-envs", "numpy", "numba", "scipy", *(["torch"] if networks else [])])

    def describe(self) -> dict[str, Any]:
        """What must be the same for a tournament to be resumed: settings, players, versions."""
        return {
            "settings": self.settings,
            "players": [dataclasses.asdict(player) for player in self.players],
            "versions": self.versions,
        }

    def match(self, variant: int, a: int, b: int, games: Games) -> MatchResult:
        """All games of a pair in a variant as a match."""
        pair = (self._entrants[a][variant], self._entrants[b][variant])
        return MatchResult.of(pair, self.variants[variant], self.seed, games)

    def pool(self, num_games: int) -> Pool:
        """Who plays the games.

        Raises:
            ValueError: an agent cannot be sent to other processes.
            ImportError: Ray is asked for and missing.
        """
        trusted = all(entrants[0].trusted for entrants in self._entrants)
        networks = any(entrants[0].deterministic is not None for entrants in self._entrants)
        few = num_games * (SLOWNESS if networks else 1) <= FEW_GAMES
        if self._workers == 0 or (self._workers is None and self._ray is None and trusted and few):
            made = [tuple(entrant.agent for entrant in entrants) for entrants in self._entrants]
            return InProcess(self._setup(made))
        setup = self._setup([self._portable(i) for i in range(len(self.players))])
        if self._ray is not None:
            from war_agents.arena.ray_pool import RayPool  # needs ray, which few have

            return RayPool(setup, self._ray)
        return Processes(setup, self._workers or num_cores())

    def _setup(self, players: Sequence[str | tuple[Given, ...]]) -> Setup:
        return Setup(
            players=tuple(players),
            names=tuple(player.name for player in self.players),
            variants=self.variants,
            seed=self.seed,
            deterministic=self.deterministic,
            limited=tuple(not entrants[0].trusted for entrants in self._entrants),
            time_limit=self.time_limit,
            path=tuple(entry or os.getcwd() for entry in sys.path),
        )

    def _portable(self, i: int) -> str | tuple[Given, ...]:
        """What another process can make the agent from."""
        given, entrants, player = self._given[i], self._entrants[i], self.players[i]
        # What somebody has registered here is unknown to other processes.
        if isinstance(given, str) and (
            player.kind != "registered" or given in OWN_NAMES[self.game]
        ):
            return given
        agents = tuple(entrant.agent for entrant in entrants)
        try:
            dumps(agents)
        except Exception as error:
            raise ValueError(
                f"agent {player.name!r} cannot be sent to other processes ({one_line(error)}); "
                "give it as module:factory, or play with workers=0"
            ) from error
        return agents

    def run(
        self,
        out: str | Path | None = None,
        *,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> TournamentResult:
        """Plays all games.

        Args:
            out: the folder for settings.json, games.jsonl (every game, as soon as it is played),
                results.json, report.md and report.html. Finished results of the same settings and
                players that lie there are replaced; others are refused.
            resume: play only what is missing there. The games are the same as without a break.
            progress: called with the number of games played so far and of all that there may be;
                what it raises ends the tournament.

        Raises:
            ValueError: ``out`` holds something else; nothing has been played then.
            OSError: ``out`` cannot be written; it can be resumed.
        """
        return _Run(self, progress or _quiet).run(None if out is None else Path(out), resume)


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


class _Run:
    """One run of a tournament: what is to be played, what has been, and how far it is."""

    def __init__(self, tournament: Tournament, progress: Progress) -> None:
        self._tournament = tournament
        self._names = [player.name for player in tournament.players]
        self._rounds = list(
            rounds(
                tournament.game,
                len(tournament.variants),
                len(self._names),
                tournament.deals,
                in_steps=tournament.until_separated is not None,
            )
        )
        self._blocks = [block for blocks in self._rounds for block in blocks]
        self._total = sum(block.games for block in self._blocks)
        self._played: dict[int, Games] = {}  # by the places of blocks
        self._progress = progress
        self._shown = 0

    def run(self, out: Path | None, resume: bool) -> TournamentResult:
        """See `Tournament.run`."""
        tournament = self._tournament
        if out is None:
            return self._play(lambda block, games: None)
        folder = TournamentFolder(out, tournament.describe(), resume=resume)
        variants = [variant.name for variant in tournament.variants]
        with folder.opened(self._blocks, variants, self._names) as (stream, found):
            self._played = found
            result = self._play(stream.append)
            folder.write(result)
        return result

    def _play(self, keep: Callable[[Block, Games], None]) -> TournamentResult:
        """Plays what is missing, and gives each block to ``keep`` as soon as it is played."""
        confidence = self._tournament.until_separated
        test = None if confidence is None else SeparationTest(len(self._names), confidence)
        deals = start = 0
        with contextlib.closing(self._tournament.pool(self._total)) as pool:
            for blocks in self._rounds:
                self._play_round(pool, range(start, start + len(blocks)), keep)
                start += len(blocks)
                before, deals = (
                    deals,
                    blocks[-1].numbers.stop // games_per_deal(self._tournament.game),
                )
                if test is not None:
                    matches = self._matches(start)
                    scores = analysis.pair_scores(self._names, matches)
                    test.update(analysis.mean_scores(len(self._names), scores)[before:])
                    if test.separated:
                        break
            return self._result(pool, self._matches(start), deals, test)

    def _play_round(self, pool: Pool, places: range, keep: Callable[[Block, Games], None]) -> None:
        missing = [place for place in places if place not in self._played]
        done = sum(len(games.results) for games in self._played.values())

        def tell(running: int) -> None:
            self._shown = max(self._shown, done + running)
            self._progress(self._shown, self._total)

        tell(0)
        for i, games in pool.play([self._blocks[place] for place in missing], tell):
            keep(self._blocks[missing[i]], games)
            self._played[missing[i]] = games
            done += len(games.results)
            tell(0)

    def _matches(self, number: int) -> list[MatchResult]:
        """The matches of all variants and pairs so far, from the first ``number`` blocks."""
        parts: dict[tuple[int, int, int], list[Games]] = {}
        for place, block in enumerate(self._blocks[:number]):
            parts.setdefault((block.variant, block.a, block.b), []).append(self._played[place])
        return [
            self._tournament.match(*key, Games.joined(games))
            for key, games in sorted(parts.items())
        ]

    def _result(
        self, pool: Pool, matches: list[MatchResult], deals: int, test: SeparationTest | None
    ) -> TournamentResult:
        tournament = self._tournament
        groups = [
            analysis.deal_groups(variant, tournament.seed, deals) for variant in tournament.variants
        ]
        number = len(matches) // len(groups)
        by_variant = [matches[i : i + number] for i in range(0, len(matches), number)]
        standings = [
            analysis.standing(self._names, *each) for each in zip(by_variant, groups, strict=True)
        ]
        if len(standings) > 1:
            standings.append(analysis.standing(self._names, matches, analysis.joint(groups)))
        elo = {each.variant: {r.agent: r.elo for r in each.ratings} for each in standings}
        return TournamentResult(
            players=tournament.players,
            variants=tournament.variants,
            deals=deals,
            settings=tournament.settings,
            matches=tuple(matches),
            pairs=tuple(
                analysis.pair_result(match, groups[i // number]) for i, match in enumerate(matches)
            ),
            standings=tuple(standings),
            separation=(
                None
                if test is None or tournament.until_separated is None
                else analysis.separation(self._names, test, tournament.until_separated)
            ),
            forfeits=analysis.forfeits(matches),
            notable=notable_games(matches, elo, lambda *game: self._replay(pool, matches, *game)),
            versions=tournament.versions,
        )

    def _replay(
        self, pool: Pool, matches: list[MatchResult], match: int, deal: int, place: int
    ) -> list[list[int]] | None:
        """The choices in a game that has been played; None if it goes another way now."""
        expected = matches[match].results[deal, place], matches[match].lengths[deal, place]
        number = deal * games_per_deal(self._tournament.game) + place
        variant, pair = divmod(match, len(matches) // len(self._tournament.variants))
        a, b = list(combinations(range(len(self._names)), 2))[pair]
        (block,) = (
            block
            for block in self._blocks
            if (block.variant, block.a, block.b) == (variant, a, b) and number in block.numbers
        )
        row = number - block.numbers.start
        # A network's game may need the whole batch that it was played in.
        for part, at in ((block.one(row), 0), (block, row)):
            replayed = pool.record(part, at)
            if replayed is not None:
                games, recording = replayed
                if (games.results[at], games.lengths[at]) == expected:
                    return recording.moves
        return None


def _variants(game: str, given: str | Variant | Sequence[str | Variant]) -> tuple[Variant, ...]:
    if given == ALL:
        given = VARIANT_NAMES
    several = [given] if isinstance(given, str) or not isinstance(given, Sequence) else given
    if not several:
        raise ValueError(f"variants={shown(given)} is not allowed; give at least one")
    variants = tuple(make_variant(game, each) for each in several)
    _refuse_doubles([variant.name for variant in variants], "variants")
    return variants


def _between(name: str, value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low < value < high:
        raise ValueError(
            f"{name}={shown(value)} is not allowed; give a number above {low}"
            + (f" and below {high}" if high < math.inf else "")
        )
    return float(value)


def _refuse_doubles(names: Sequence[str], what: str = "agents") -> None:
    seen = set()
    for name in names:
        normal = os.path.normpath(name)
        if normal in seen:
            raise ValueError(f"{what} holds {shown(name)} twice; names must be different")
        seen.add(normal)


def _quiet(done: int, total: int) -> None:
    """Shows nothing."""


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # used without an install
            found[package] = "unknown"
    return found
