"""A few games to look at: the longest, and the biggest upset, with their deal and moves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from war_agents.arena.match import MatchResult
from war_agents.arena.places import first_attacker, seat_of_first
from war_agents.arena.results import NotableGame
from war_envs.batch import Batch
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.state import State

Replay = Callable[[int, int, int], list[list[int]] | None]


class _Found(NamedTuple):
    """A game: its match, and its deal and place there."""

    match: int
    deal: int
    place: int


def notable_games(
    matches: Sequence[MatchResult], elo: Mapping[str, Mapping[str, float]], replay: Replay
) -> tuple[tuple[NotableGame, ...], tuple[str, ...]]:
    """The longest game, and the biggest upset if there was any.

    Games that go another way when they are played again are left out, with a warning.

    Args:
        matches: all games.
        elo: the ratings of all agents in each variant.
        replay: the choices in game ``(match, deal, place)``, step by step; None if it goes another
            way when it is played again.
    """
    chosen = [("longest", _longest(matches), None), *_upset(matches, elo)]
    games, warnings = [], []
    for why, found, gap in chosen:
        if found is None:
            continue
        moves = replay(*found)
        match = matches[found.match]
        if moves is None:
            warnings.append(
                f"the {why} game, of {match.a} and {match.b} in {match.variant.name}, went another "
                "way when it was played again; do both follow the seeds that they are given?"
            )
        else:
            games.append(_told(why, match, found, gap, moves))
    return tuple(games), tuple(warnings)


def _longest(matches: Sequence[MatchResult]) -> _Found | None:
    """The longest game that came to an end; if none did, the first that was cut off."""
    best, longest = None, (False, 0)
    for number, match in enumerate(matches):
        for cut_off in (False, True):
            lengths = np.where(match.truncated == cut_off, match.lengths, 0)
            at = np.unravel_index(int(lengths.argmax()), lengths.shape)
            if lengths[at] > 0 and (not cut_off, int(lengths[at])) > longest:
                best = _Found(number, int(at[0]), int(at[1]))
                longest = (not cut_off, int(lengths[at]))
    return best


def _upset(
    matches: Sequence[MatchResult], elo: Mapping[str, Mapping[str, float]]
) -> Iterator[tuple[str, _Found, float]]:
    """The game that was won against the widest gap; the shortest of several."""
    upsets = []
    for number, match in enumerate(matches):
        ratings = elo[match.variant.name]
        gap = ratings[match.b] - ratings[match.a]
        won = (match.results == np.sign(gap)) & (match.lengths > 0)
        if gap and won.any():
            lengths = np.where(won, match.lengths, np.iinfo(np.int64).max)
            at = np.unravel_index(int(lengths.argmin()), lengths.shape)
            upsets.append((abs(gap), -number, _Found(number, int(at[0]), int(at[1]))))
    if upsets:
        gap, _, found = max(upsets)
        yield "biggest upset", found, gap


def _told(
    why: str, match: MatchResult, found: _Found, gap: float | None, moves: list[list[int]]
) -> NotableGame:
    _, deal, place = found
    seat = seat_of_first(place)
    names = (match.a, match.b)
    result = int(match.results[deal, place])
    leads = first_attacker(match.game, place)
    start = _start(match, deal, leads)
    return NotableGame(
        why=why,
        variant=match.variant.name,
        deal=deal,
        players=(names[seat], names[1 - seat]),
        first_attacker=leads,
        winner=None if result == 0 else names[0 if result > 0 else 1],
        truncated=bool(match.truncated[deal, place]),
        length=int(match.lengths[deal, place]),
        elo_gap=gap,
        hands=(tuple(start.hands[0]), tuple(start.hands[1])),
        moves=tuple(_events(start, moves)),
    )


def _start(match: MatchResult, deal: int, leads: int | None) -> State:
    """The game of a deal before its first move."""
    batch = Batch(match.variant, 1)
    first = None if leads is None else [leads]
    batch.reset(match.seed, domain=seeding.EVALUATION, lanes=[deal], first_attacker=first)
    engine = ENGINES[match.variant.game]
    hands = [engine.card_names(engine.hand(batch.games[0], seat)) for seat in (0, 1)]
    return State.from_hands(match.variant, hands, first_attacker=leads)


def _events(start: State, moves: list[list[int]]) -> Iterator[str]:
    """What happened at each step, in words."""
    state = start.clone()
    for step in moves:
        state.apply(step)
        yield state.event
