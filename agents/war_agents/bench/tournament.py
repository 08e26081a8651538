"""Tournaments of the scripted agents."""

from collections.abc import Iterator
from itertools import product
from typing import Final

from war_agents import scripted
from war_agents.arena.places import games_per_deal
from war_agents.arena.tournament import run_tournament
from war_agents.bench.measure import REPEATS, Measurement, rate
from war_envs.variant import GAMES, make_variant

DEALS: Final = 1000


def run(
    seconds: float = 5.0, *, deals: int = DEALS, repeats: int = REPEATS
) -> Iterator[Measurement]:
    """Every registered agent of each game against every other.

    Args:
        seconds: about how long each is timed, at least one tournament per repeat.
        deals: deals per pair.
        repeats: how often each is timed.
    """
    for game, variant in product(GAMES, ("standard", "minimal")):
        played = _Tournaments(game, variant, deals)
        played.work()
        rates = [rate(played.work, seconds / repeats) for _ in range(repeats)]
        yield Measurement.of(
            rates,
            name="tournament/scripted",
            game=game,
            variant=variant,
            batch=deals * games_per_deal(game),
            threads=1,
            unit="games/s",
            includes=(
                f"all pairs of {', '.join(scripted.names(game))} on {deals} deals from both "
                "seats, to the end of every game, the agents' choices, intervals and ratings"
            ),
        )


class _Tournaments:
    """One tournament after the other, each on deals of its own."""

    def __init__(self, game: str, variant: str, deals: int) -> None:
        self._game = game
        self._variant = make_variant(game, variant)
        self._deals = deals
        self._seed = 0

    def work(self) -> int:
        """One tournament; the games in it."""
        self._seed += 1
        result = run_tournament(
            scripted.names(self._game),
            game=self._game,
            variant=self._variant,
            deals=self._deals,
            seed=self._seed,
        )
        return sum(pair.games for pair in result.pairs)
