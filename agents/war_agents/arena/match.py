"""Two agents against each other, every deal from both seats.

>>> from war_agents.arena import play_match
>>> result = play_match("random", "attack", game="attack-defence", deals=10, seed=1)
>>> result.games, result.results.shape
(20, (10, 2))

*Deals.* Deal d is lane d of the evaluation domain of `war_envs.seeding`: the same for every pair,
and never one that training sees. In Attack and Defence it is played twice, once from each seat; in
Strategic War four times, with each first attacker too.

*Randomness.* An agent's draws follow from the seed, the deal, the first attacker and the seat that
it sits in, and from nothing else: not from its name, nor from who is named first, nor from other
games. The two seats of a game draw from different streams, and so does an agent in the two games of
a deal. An agent against its own copy scores exactly one half in every deal.

*Batches.* The games of a match run side by side, `CHUNK_GAMES` at a time; an agent is asked only
about running games in which its seat chooses. Results are the same for any size of a chunk, as far
as the agents give the same answer for a position in any batch.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent, make
from war_agents.arena.intervals import Interval, deal_interval
from war_agents.arena.memory import Memory
from war_envs import seeding
from war_envs.batch import MAX_GAMES, Batch
from war_envs.encoding import ENCODINGS, MEMORIES, checked_choice
from war_envs.messages import shown
from war_envs.variant import Variant, integer, make_variant

CHUNK_GAMES: Final = 4096
MAX_DEALS: Final = 10_000_000


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
    """

    a: str
    b: str
    variant: Variant
    seed: int
    results: NDArray[np.int8]
    lengths: NDArray[np.int64]
    truncated: NDArray[np.bool_]

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


class Entrant(NamedTuple):
    """An agent under the name by which it was asked for."""

    name: str
    agent: Agent

    @classmethod
    def of(cls, given: str | Path | Agent, variant: Variant) -> "Entrant":
        """An agent under its own name, or made by `war_agents.make` under the given one.

        Raises:
            ValueError: there is no such agent, or it wants observations that do not exist.
        """
        if isinstance(given, str | Path):
            entrant = cls(str(given), make(given, game=variant.game, variant=variant))
        elif isinstance(given, Agent):
            entrant = cls(given.name, given)
        else:
            raise ValueError(f"agent={shown(given)} is not allowed; give a name or an Agent")
        checked_choice(f"encoding of agent {entrant.name!r}", entrant.agent.encoding, ENCODINGS)
        checked_choice(f"memory of agent {entrant.name!r}", entrant.agent.memory, MEMORIES)
        return entrant


def games_per_deal(game: str) -> int:
    """How often a deal is played: 2 times in Attack and Defence, 4 times in Strategic War."""
    return 2 if game == "attack-defence" else 4


def play_match(
    a: str | Path | Agent,
    b: str | Path | Agent,
    *,
    game: str,
    variant: str | Variant = "standard",
    deals: int,
    seed: int,
    chunk_games: int = CHUNK_GAMES,
    progress: Callable[[int], object] | None = None,
) -> MatchResult:
    """Plays ``a`` against ``b``, every deal from both seats.

    Args:
        a, b: agents, or what `war_agents.make` makes them from.
        game: ``"attack-defence"`` or ``"strategic-war"``.
        variant: by name or as a variant.
        deals: 1 to 10,000,000.
        seed: 0 to 2**63 - 1.
        chunk_games: about how many games run side by side, which bounds the memory used.
        progress: called after every step with the number of games that have just ended; what it
            raises ends the match.

    Raises:
        ValueError: an argument that is not allowed, or an agent that answers with anything but one
            legal action a position; it is named.
    """
    chosen = make_variant(game, variant)
    return play_entrants(
        (Entrant.of(a, chosen), Entrant.of(b, chosen)),
        chosen,
        deals=integer("deals", deals, 1, MAX_DEALS),
        seed=integer("seed", seed, 0, seeding.MAX_SEED),
        chunk_games=integer("chunk_games", chunk_games, 1, MAX_GAMES),
        progress=progress,
    )


def play_entrants(
    pair: tuple[Entrant, Entrant],
    variant: Variant,
    *,
    deals: int,
    seed: int,
    chunk_games: int = CHUNK_GAMES,
    progress: Callable[[int], object] | None = None,
) -> MatchResult:
    """`play_match` with arguments that are known to be right."""
    shape = (deals, games_per_deal(variant.game))
    result = MatchResult(
        pair[0].name,
        pair[1].name,
        variant,
        seed,
        results=np.empty(shape, np.int8),
        lengths=np.empty(shape, np.int64),
        truncated=np.empty(shape, np.bool_),
    )
    stride = max(1, chunk_games // shape[1])
    for first in range(0, deals, stride):
        _play_deals(pair, result, range(first, min(first + stride, deals)), progress)
    for array in (result.results, result.lengths, result.truncated):
        array.flags.writeable = False
    return result


def _play_deals(
    pair: tuple[Entrant, Entrant],
    result: MatchResult,
    deals: range,
    progress: Callable[[int], object] | None,
) -> None:
    """Plays the games of ``deals`` side by side and enters them into ``result``."""
    per_deal = result.results.shape[1]
    lanes, places = np.divmod(np.arange(deals.start * per_deal, deals.stop * per_deal), per_deal)
    first_attacker = None if per_deal == 2 else places // 2
    batch = Batch(result.variant, len(lanes))
    batch.reset(result.seed, domain=seeding.EVALUATION, lanes=lanes, first_attacker=first_attacker)
    seeds = _seat_seeds(result.seed, lanes, first_attacker)
    players = (
        _Player(pair[0], places % 2, seeds, batch),
        _Player(pair[1], 1 - places % 2, seeds, batch),
    )
    running = np.arange(len(lanes))
    actions = np.zeros((len(lanes), 2), np.int64)
    step_number = 0
    while len(running):
        mover = None if per_deal == 2 else batch.mover[running]
        for player in players:
            rows = running if mover is None else running[mover == player.seats[running]]
            if len(rows):
                actions[rows, player.seats[rows]] = player.choose(rows, step_number)
        step = batch.step(actions, autoreset=False)
        step_number += 1
        ended = step.final_rows
        if len(ended):
            at = (lanes[ended], places[ended])
            result.results[at] = step.reward[ended, players[0].seats[ended]]
            result.lengths[at] = step_number
            result.truncated[at] = step.truncated[ended]
            running = running[~(step.terminated | step.truncated)[running]]
        if progress is not None:
            progress(len(ended))


def _seat_seeds(
    seed: int, lanes: NDArray[np.int64], first_attacker: NDArray[np.int64] | None
) -> NDArray[np.uint64]:
    """The seed of each seat in each game: uint64 (B, 2)."""
    counters = (2 * lanes + (0 if first_attacker is None else first_attacker)).astype(np.uint64)
    streams = [seeding.generator_state(seed, seeding.AGENTS, seat)[:1] for seat in (0, 1)]
    return np.stack([seeding.action_seeds(stream, counters) for stream in streams], axis=1)


class _Player:
    """One agent in one batch: where it sits, and what it remembers.

    Args:
        seats: int64 (B,), its seat in each game.
        seeds: uint64 (B, 2), one for each game and seat.
    """

    def __init__(
        self,
        entrant: Entrant,
        seats: NDArray[np.int64],
        seeds: NDArray[np.uint64],
        batch: Batch,
    ) -> None:
        self.name, self.agent = entrant
        self.seats = seats
        self._seeds = seeds[np.arange(len(seats)), seats]
        self._batch = batch
        self._memory = Memory(len(seats))

    def choose(self, rows: NDArray[np.int64], step_number: int) -> NDArray[np.int64]:
        """The agent's choices in the games ``rows`` (K,): legal actions, int64 (K,)."""
        observation, mask = self._batch.observe(
            rows, self.seats[rows], encoding=self.agent.encoding, memory=self.agent.memory
        )
        # The arrays are the agent's own, so that nothing it does to them reaches anybody else.
        legal = mask.copy()
        seeds = seeding.action_seeds(self._seeds[rows], step_number)
        try:
            answer: Any = self.agent.act(observation, mask, seeds, *self._memory.recall(rows))
        except Exception as error:
            raise self._error(f"failed: {type(error).__name__}: {error}") from error
        if not isinstance(answer, tuple) or len(answer) != 2:
            raise self._error(f"returned {shown(answer)}; it must be (actions, state)")
        try:
            self._memory.keep(rows, answer[1])
        except ValueError as error:
            raise self._error(f"returned a wrong state: {error}") from error
        return self._checked(np.asarray(answer[0]), legal)

    def _checked(self, actions: NDArray[Any], legal: NDArray[np.int8]) -> NDArray[np.int64]:
        number, num_actions = legal.shape
        if actions.dtype.kind not in "iu" or actions.shape != (number,):
            raise self._error(
                f"returned actions of dtype {actions.dtype} and shape {actions.shape}; "
                f"they must be integers of shape ({number},)"
            )
        possible = (actions >= 0) & (actions < num_actions)
        possible &= legal[np.arange(number), np.where(possible, actions, 0)] != 0
        if not possible.all():
            wrong = int(np.argmin(possible))
            raise self._error(
                f"chose the illegal action {actions[wrong]}; "
                f"legal were {', '.join(map(str, np.flatnonzero(legal[wrong])))}"
            )
        return actions.astype(np.int64)

    def _error(self, what: str) -> ValueError:
        return ValueError(f"agent {self.name!r} {what}")
