"""One run of a tournament: its games, as they are played, and its result."""

import contextlib
import dataclasses
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

from war_agents.arena import analysis
from war_agents.arena.failures import Failures
from war_agents.arena.folder import TournamentFolder
from war_agents.arena.lineup import Lineup
from war_agents.arena.match import MatchResult
from war_agents.arena.notable import notable_games
from war_agents.arena.places import games_per_deal
from war_agents.arena.playing.blocks import Block
from war_agents.arena.playing.games import Games
from war_agents.arena.playing.pool import Pool
from war_agents.arena.playing.pools import make_pool
from war_agents.arena.playing.trials import Trials
from war_agents.arena.results import Standing, TournamentResult
from war_agents.arena.schedule import rounds
from war_agents.arena.settings import Settings
from war_agents.arena.stats.separation import SeparationTest

Progress = Callable[[int, int], object]


class Run:
    """One run of a tournament: what is to be played, what has been, and how far it is."""

    def __init__(
        self, settings: Settings, lineup: Lineup, progress: Progress, rated: Progress
    ) -> None:
        self._settings = settings
        self._lineup = lineup
        self._names = lineup.names
        self._rounds = list(
            rounds(
                settings.game,
                len(settings.played),
                len(self._names),
                settings.deals,
                in_steps=settings.until_separated is not None,
            )
        )
        self._blocks = [block for blocks in self._rounds for block in blocks]
        self._total = sum(block.games for block in self._blocks)
        self._played: dict[int, Games] = {}  # by the places of blocks
        self._trials = Trials(self._blocks, lineup.limited)
        self._progress = progress
        self._rated = rated
        self._shown = 0

    def run(self, out: Path | None, resume: bool) -> TournamentResult:
        """See `war_agents.arena.play`."""
        settings = self._settings
        variants = [variant.name for variant in settings.played]
        failures = Failures(out, settings.game, variants, self._names, strict=settings.strict)
        if out is None:
            return self._play(failures.note)
        folder = TournamentFolder(out, self._described(), resume=resume)
        with folder.opened(self._blocks, variants, self._names) as (stream, found):
            if not found:
                failures.forget()
            for place, games in sorted(found.items()):
                failures.note(self._blocks[place], games)
                self._trials.note(self._blocks[place], games)
            self._played = found

            def keep(block: Block, games: Games) -> None:
                failures.note(block, games)
                stream.append(block, games)

            result = self._play(keep)
            folder.write(result)
        return result

    def _play(self, keep: Callable[[Block, Games], None]) -> TournamentResult:
        """Plays what is missing, and gives each block to ``keep`` as soon as it is played."""
        settings = self._settings
        confidence = settings.until_separated
        test = None if confidence is None else SeparationTest(len(self._names), confidence)
        deals = start = 0
        with contextlib.closing(make_pool(settings, self._lineup, self._blocks)) as pool:
            for blocks in self._rounds:
                self._play_round(pool, range(start, start + len(blocks)), keep)
                start += len(blocks)
                before = deals
                deals = blocks[-1].numbers.stop // games_per_deal(settings.game)
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
        known = {self._blocks[place] for place in self._played}
        waiting: dict[int, Games] = {}
        blocks = [self._blocks[place] for place in missing]
        for i, games in pool.play(blocks, tell, self._trials.given_up):
            waiting[missing[i]] = games
            for place in sorted(waiting):
                block = self._blocks[place]
                if self._trials.before(block) <= known:
                    self._played[place] = self._trials.given_up(block) or waiting[place]
                    del waiting[place]
                    keep(block, self._played[place])
                    self._trials.note(block, self._played[place])
                    known.add(block)
            done += len(games.results)
            tell(0)

    def _matches(self, number: int) -> list[MatchResult]:
        """The matches of all variants and pairs so far, from the first ``number`` blocks."""
        parts: dict[tuple[int, int, int], list[Games]] = {}
        for place, block in enumerate(self._blocks[:number]):
            parts.setdefault((block.variant, block.a, block.b), []).append(self._played[place])
        return [self._match(*key, Games.joined(games)) for key, games in sorted(parts.items())]

    def _match(self, variant: int, a: int, b: int, games: Games) -> MatchResult:
        """All games of a pair in a variant."""
        entrants = self._lineup.entrants
        pair = [(self._names[side], entrants[side].agents[variant]) for side in (a, b)]
        return MatchResult.of(pair, self._settings.played[variant], self._settings.seed, games)

    def _described(self) -> dict[str, Any]:
        """What must be the same for a tournament to be resumed: settings, players, versions."""
        return {
            "settings": self._settings.to_json(self._names),
            "players": [dataclasses.asdict(player) for player in self._lineup.players],
            "versions": self._lineup.versions,
        }

    def _result(
        self, pool: Pool, matches: list[MatchResult], deals: int, test: SeparationTest | None
    ) -> TournamentResult:
        settings, lineup = self._settings, self._lineup
        groups = [
            analysis.deal_groups(variant, settings.seed, deals) for variant in settings.played
        ]
        number = len(matches) // len(groups)
        by_variant = [matches[i : i + number] for i in range(0, len(matches), number)]
        parts = list(zip(by_variant, groups, strict=True))
        if len(parts) > 1:
            parts.append((matches, analysis.joint(groups)))

        def standing(place: int) -> Standing:
            def tell(done: int, of: int) -> None:
                self._rated(place * of + done, len(parts) * of)

            return analysis.standing(self._names, *parts[place], progress=tell)

        standings = [standing(place) for place in range(len(parts))]
        elo = {each.variant: {r.agent: r.elo for r in each.ratings} for each in standings}
        notable, warnings = notable_games(
            matches, elo, lambda *game: self._replay(pool, matches, *game)
        )
        pairs = [
            analysis.pair_result(match, groups[i // number]) for i, match in enumerate(matches)
        ]
        return TournamentResult(
            players=lineup.players,
            variants=settings.played,
            deals=deals,
            settings=settings.to_json(self._names),
            matches=tuple(matches),
            pairs=tuple(pairs),
            standings=tuple(standings),
            separation=(
                None
                if test is None or settings.until_separated is None
                else analysis.separation(self._names, test, settings.until_separated)
            ),
            forfeits=analysis.forfeits(matches),
            failed=analysis.failed(self._names, pairs),
            notable=notable,
            warnings=(*lineup.warnings, *warnings),
            versions=lineup.versions,
        )

    def _replay(
        self, pool: Pool, matches: list[MatchResult], match: int, deal: int, place: int
    ) -> list[list[int]] | None:
        """The choices in a game that has been played; None if it goes another way now."""
        expected = matches[match].results[deal, place], matches[match].lengths[deal, place]
        number = deal * games_per_deal(self._settings.game) + place
        variant, pair = divmod(match, len(matches) // len(self._settings.played))
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
