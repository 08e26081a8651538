"""Two agents against each other, every deal from both seats.

>>> from war_agents.arena import play_match
>>> result = play_match("random", "attack", game="attack-defence", deals=10, seed=1)
>>> result.games, result.results.shape
(20, (10, 2))

*Deals.* Deal d is lane d of the evaluation domain of `war_envs.engine.seeding`: the same for every
pair, and never one that training sees. In Attack and Defence it is played twice, once from each
seat; in Strategic War four times, with each first attacker too.

*Randomness.* An agent's draws follow from the seed, the deal, the first attacker and the seat that
it sits in, and from nothing else: not from its name, nor from who is named first, nor from other
games. The two seats of a game draw from different streams, and so does an agent in the two games of
a deal. An agent against its own copy scores exactly one half in every deal.

*Batches.* The games of a match run side by side, `CHUNK_GAMES` at a time; an agent is asked only
about running games in which its seat chooses. Results are the same for any size of a chunk, as far
as the agents give the same answer for a position in any batch.

*Failures.* `play_match` raises what is wrong with an agent, which is what its author wants to see.
In a `war_agents.arena.Tournament` only the games in which an agent fails are lost to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.arena.places import first_attacker, games_per_deal, seat_of_first
from war_agents.arena.players import Given, is_deterministic, make_agents
from war_agents.arena.playing.games import Games, Watch, chunks, play_games
from war_agents.arena.stats.intervals import Interval, deal_interval
from war_envs.batch import MAX_GAMES
from war_envs.engine import seeding
from war_envs.variant import Variant, integer, make_variant

CHUNK_GAMES: Final = 4096
MAX_DEALS: Final = 10_000_000


@dataclass(frozen=True)
class Forfeit:
    """A game that an agent has lost by failing.

    Attributes:
        deal: the number of the deal.
        place: which game of the deal.
        side: 0 if ``a`` failed, 1 if ``b`` did.
        reason: what it did.
    """

    deal: int
    place: int
    side: int
    reason: str


@dataclass(frozen=True, eq=False)
class MatchResult:
    """How a match went; G is the games a deal: 2 in Attack and Defence, 4 in Strategic War.

    In game g of a deal the first agent sits in seat ``g % 2``; in Strategic War seat ``g // 2``
    attacks first.

    Attributes:
        a, b: the names of the two agents.
        variant: what they played.
        seed: what deals and draws came from.
        results: int8 (deals, G): +1 where ``a`` won, -1 where ``b`` won, 0 for a tie or a game cut
            off.
        lengths: int64 (deals, G): turns of Attack and Defence, choices of Strategic War.
        truncated: bool (deals, G): the games cut off at ``variant.max_turns``.
        deterministic: for each of the two, does it take its likeliest action (True) or sample
            (False)? None for agents that are not trained.
        forfeits: the games lost by failing, in order; each has length 0.
    """

    a: str
    b: str
    variant: Variant
    seed: int
    results: NDArray[np.int8] = field(repr=False)
    lengths: NDArray[np.int64] = field(repr=False)
    truncated: NDArray[np.bool_] = field(repr=False)
    deterministic: tuple[bool | None, bool | None] = (None, None)
    forfeits: tuple[Forfeit, ...] = field(default=(), repr=False)

    @classmethod
    def of(
        cls, pair: Sequence[tuple[str, Agent]], variant: Variant, seed: int, games: Games
    ) -> "MatchResult":
        """A match of two agents, each with its name, from all its games, deal by deal."""
        per_deal = games_per_deal(variant.game)
        for array in (games.results, games.lengths, games.truncated):
            array.flags.writeable = False
        return cls(
            pair[0][0],
            pair[1][0],
            variant,
            seed,
            games.results.reshape(-1, per_deal),
            games.lengths.reshape(-1, per_deal),
            games.truncated.reshape(-1, per_deal),
            deterministic=(is_deterministic(pair[0][1]), is_deterministic(pair[1][1])),
            forfeits=tuple(
                Forfeit(*divmod(row, per_deal), *forfeit)
                for row, forfeit in sorted(games.forfeits.items())
            ),
        )

    @property
    def game(self) -> str:
        """``"attack-defence"`` or ``"strategic-war"``."""
        return self.variant.game

    @property
    def deals(self) -> int:
        """Deals played."""
        return len(self.results)

    @property
    def games(self) -> int:
        """Games played."""
        return self.results.size

    @property
    def wins(self) -> int:
        """Games that ``a`` won."""
        return int((self.results == 1).sum())

    @property
    def draws(self) -> int:
        """Ties and games cut off."""
        return int((self.results == 0).sum())

    @property
    def losses(self) -> int:
        """Games that ``b`` won."""
        return int((self.results == -1).sum())

    @property
    def deal_scores(self) -> NDArray[np.float64]:
        """The mean of the games of each deal, a draw being half a win: float64 (deals,)."""
        means: NDArray[np.float64] = self.results.mean(axis=1)
        return (1 + means) / 2

    @cached_property
    def interval(self) -> Interval:
        """The score of ``a`` with its 95 % interval over deals."""
        return deal_interval(self.deal_scores)

    def table(self) -> dict[str, NDArray[Any]]:
        """A column each of all games, for ``pandas.DataFrame(match.table())``."""
        deals, places = np.divmod(np.arange(self.games), self.results.shape[1])
        columns: dict[str, NDArray[Any]] = {"deal": deals, "seat": seat_of_first(places)}
        leads = first_attacker(self.game, places)
        if leads is not None:
            columns["first_attacker"] = leads
        return columns | {
            "result": self.results.ravel(),
            "length": self.lengths.ravel(),
            "truncated": self.truncated.ravel(),
        }

    @property
    def score(self) -> float:
        """Points of ``a`` a game, 0 to 1."""
        return self.interval.score

    @property
    def low(self) -> float:
        """The lower end of the 95 % interval of ``score``."""
        return self.interval.low

    @property
    def high(self) -> float:
        """The upper end of the 95 % interval of ``score``."""
        return self.interval.high


def play_match(
    a: Given,
    b: Given,
    *,
    game: str,
    variant: str | Variant = "standard",
    deals: int,
    seed: int,
    deterministic: bool = False,
    chunk_games: int = CHUNK_GAMES,
    progress: Callable[[int], object] | None = None,
) -> MatchResult:
    """Plays ``a`` against ``b``, every deal from both seats.

    Args:
        a, b: agents, what `war_agents.make` makes them from, or ``"module:factory"``.
        game: ``"attack-defence"`` or ``"strategic-war"``.
        variant: by name or as a variant.
        deals: 1 to 10,000,000.
        seed: 0 to 2**63 - 1.
        deterministic: trained agents take their likeliest actions, and do not sample.
        chunk_games: about how many games run side by side, which bounds the memory used.
        progress: called after every step with the number of games that have just ended; what it
            raises ends the match.

    Raises:
        ValueError: an argument that is not allowed, or an agent that answers with anything but one
            legal action a position; it is named.
    """
    chosen = make_variant(game, variant)
    pair = [_named(given, chosen, deterministic=deterministic) for given in (a, b)]
    deals = integer("deals", deals, 1, MAX_DEALS)
    seed = integer("seed", seed, 0, seeding.MAX_SEED)
    chunk_games = integer("chunk_games", chunk_games, 1, MAX_GAMES)
    watch = Watch() if progress is None else _Progress(progress)
    parts = [
        play_games(pair, chosen, seed, chunk, watch=watch)
        for chunk in chunks(game, 0, deals, chunk_games)
    ]
    return MatchResult.of(pair, chosen, seed, Games.joined(parts))


def _named(given: Given, variant: Variant, *, deterministic: bool) -> tuple[str, Agent]:
    name, (agent,) = make_agents(given, [variant], deterministic=deterministic)
    return name, agent


class _Progress(Watch):
    def __init__(self, tell: Callable[[int], object]) -> None:
        self._tell = tell

    def ended(self, games: int) -> None:
        self._tell(games)
