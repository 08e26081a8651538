"""Games between two agents, side by side in one batch; each chooses for its seats alone."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.answers import checked_answer
from war_agents.arena.places import first_attacker, games_per_deal, seat_of_first
from war_agents.arena.playing.agent_error import AgentError
from war_agents.states import States
from war_envs.batch import Batch
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.games import SPECS
from war_envs.messages import one_line
from war_envs.variant import Variant


class Watch:
    """Is told how games go; this one does not listen."""

    def asking(self, side: int, positions: int) -> None:
        """An agent of the pair is asked about so many positions."""

    def answered(self) -> None:
        """It has answered."""

    def ended(self, games: int) -> None:
        """After each step: so many games have just ended."""


@dataclass(frozen=True)
class Recording:
    """The choices of one game.

    Attributes:
        row: which of the games that are played.
        moves: for each step, in Attack and Defence the choices of both seats, in Strategic War that
            of the mover.
    """

    row: int
    moves: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Games:
    """K games; see `war_agents.arena.match.MatchResult` for the arrays.

    Attributes:
        results: int8 (K,).
        lengths: int64 (K,).
        truncated: bool (K,).
        forfeits: for each row that an agent lost by failing, which (0 or 1) and why; its length is
            0.
        tracebacks: for one such row of each agent what is known beside that, as text of some lines.
    """

    results: NDArray[np.int8]
    lengths: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    forfeits: dict[int, tuple[int, str]] = field(default_factory=dict)
    tracebacks: dict[int, str] = field(default_factory=dict)

    def lose(self, row: int, side: int, error: AgentError) -> None:
        """An agent has lost a game by failing."""
        self.results[row] = -1 if side == 0 else 1
        self.forfeits[row] = (side, error.reason)
        if all(self.forfeits[other][0] != side for other in self.tracebacks):
            self.tracebacks[row] = error.traceback

    @classmethod
    def joined(cls, parts: "Sequence[Games]") -> "Games":
        """The games of all ``parts``, in their order."""
        starts = np.cumsum([0, *(len(part.results) for part in parts)]).tolist()
        forfeits: dict[int, tuple[int, str]] = {}
        tracebacks: dict[int, tuple[int, str]] = {}  # by sides
        for start, part in zip(starts, parts, strict=False):
            forfeits |= {start + row: forfeit for row, forfeit in part.forfeits.items()}
            for row, told in part.tracebacks.items():
                tracebacks.setdefault(part.forfeits[row][0], (start + row, told))
        return cls(
            np.concatenate([part.results for part in parts]),
            np.concatenate([part.lengths for part in parts]),
            np.concatenate([part.truncated for part in parts]),
            forfeits,
            dict(tracebacks.values()),
        )

    @classmethod
    def forfeited(cls, side: int, reason: str) -> "Games":
        """One game that an agent has lost by failing; it has length 0."""
        return cls(
            np.array([-1 if side == 0 else 1], np.int8),
            np.zeros(1, np.int64),
            np.zeros(1, np.bool_),
            {0: (side, reason)},
        )


def chunks(game: str, first: int, last: int, chunk_games: int) -> Iterator[range]:
    """The games of the deals from ``first`` to before ``last``, at most ``chunk_games`` at a time.

    Yields:
        The numbers of the games of each chunk, as `play_games` takes them: those of whole deals, at
        least one, and about as many in each.
    """
    per_deal = games_per_deal(game)
    number = max(1, math.ceil((last - first) * per_deal / chunk_games))
    stride = math.ceil((last - first) / number)
    for start in range(first, last, stride):
        yield range(start * per_deal, min(start + stride, last) * per_deal)


def play_games(
    pair: Sequence[tuple[str, Agent]],
    variant: Variant,
    seed: int,
    numbers: range,
    *,
    forfeit: bool = False,
    watch: Watch | None = None,
    recording: Recording | None = None,
) -> Games:
    """Plays K games to their ends.

    Args:
        pair: two agents, each with the name that failures tell.
        variant: what they play.
        seed: what deals and draws come from.
        numbers: of the games: that of the deal times `games_per_deal`, and which of these it is.
        forfeit: an agent that fails in a batch is asked again about each position by itself, and
            loses the games in which it fails again; else it raises.
        watch: is told how it goes.
        recording: is given the choices of one of the games.

    Raises:
        AgentError: an agent raised, or answered with anything but a legal action a position.
    """
    watch = watch or Watch()
    deals, places = np.divmod(np.arange(numbers.start, numbers.stop), games_per_deal(variant.game))
    leads = first_attacker(variant.game, places)
    batch = Batch(variant, len(deals))
    batch.reset(seed, domain=seeding.EVALUATION, lanes=deals, first_attacker=leads)
    seeds = _seat_seeds(seed, deals, leads)
    players = (
        _Player(0, pair[0], seat_of_first(places), seeds, batch, watch),
        _Player(1, pair[1], 1 - seat_of_first(places), seeds, batch, watch),
    )
    number = len(deals)
    games = Games(np.zeros(number, np.int8), np.zeros(number, np.int64), np.zeros(number, np.bool_))
    simultaneous = SPECS[variant.game].simultaneous
    running = np.arange(len(deals))
    actions = np.zeros((number, 2), np.int64)
    step_number = 0
    while len(running):
        failed: dict[int, tuple[int, AgentError]] = {}
        # In a game by itself seat 0 first: where both end their process, that is who loses.
        for player in sorted(players, key=lambda player: int(player.seats[0])):
            rows = running
            if not simultaneous:
                rows = running[batch.mover[running] == player.seats[running]]
            if len(rows):
                chosen, errors = player.choose(rows, step_number, forfeit=forfeit)
                actions[rows, player.seats[rows]] = chosen
                for row, error in errors.items():
                    # Where both fail at once it is seat 0 that loses, whoever is named first.
                    if row not in failed or player.seats[row] == 0:
                        failed[row] = player.side, error
        for row, (side, error) in failed.items():
            one = np.array([row])
            ENGINES[variant.game].forfeit(batch.games, one, players[side].seats[one])
            games.lose(row, side, error)
        if recording is not None and recording.row in running:
            choices = actions[recording.row]
            if not simultaneous:
                choices = choices[[batch.mover[recording.row]]]
            recording.moves.append(choices.tolist())
        step = batch.step(actions, autoreset=False)
        step_number += 1
        ended = step.final_rows
        if len(ended):
            games.results[ended] = step.reward[ended, players[0].seats[ended]]
            games.lengths[ended] = step_number
            games.truncated[ended] = step.truncated[ended]
        if len(ended) or failed:
            running = running[~(step.terminated | step.truncated)[running]]
        watch.ended(len(ended) + len(failed))
    return games


def _seat_seeds(
    seed: int, deals: NDArray[np.int64], first_attacker: NDArray[np.int64] | None
) -> NDArray[np.uint64]:
    """The seed of each seat in each game: uint64 (K, 2)."""
    counters = (2 * deals + (0 if first_attacker is None else first_attacker)).astype(np.uint64)
    streams = [seeding.generator_state(seed, seeding.AGENTS, seat)[:1] for seat in (0, 1)]
    return np.stack([seeding.action_seeds(stream, counters) for stream in streams], axis=1)


class _Player:
    """One agent in one batch: where it sits, and what it remembers.

    Args:
        seats: int64 (K,), its seat in each game.
        seeds: uint64 (K, 2), one for each game and seat.
    """

    def __init__(
        self,
        side: int,
        named: tuple[str, Agent],
        seats: NDArray[np.int64],
        seeds: NDArray[np.uint64],
        batch: Batch,
        watch: Watch,
    ) -> None:
        self.name, self.agent = named
        self.side = side
        self.seats = seats
        self._seeds = seeds[np.arange(len(seats)), seats]
        self._batch = batch
        self._watch = watch
        self._states = States(len(seats))

    def choose(
        self, rows: NDArray[np.int64], step_number: int, *, forfeit: bool
    ) -> tuple[NDArray[np.int64], dict[int, AgentError]]:
        """The agent's choices in the games ``rows`` (K,): legal actions, int64 (K,).

        With ``forfeit`` also in which games it has failed and how; its choices there are undefined.
        """
        try:
            return self._ask(rows, step_number), {}
        except AgentError as error:
            if not forfeit:
                raise
            if len(rows) == 1:
                return np.zeros(1, np.int64), {int(rows[0]): error}
        parts = [self.choose(rows[i : i + 1], step_number, forfeit=True) for i in range(len(rows))]
        errors = {row: error for _, failed in parts for row, error in failed.items()}
        return np.concatenate([chosen for chosen, _ in parts]), errors

    def _ask(self, rows: NDArray[np.int64], step_number: int) -> NDArray[np.int64]:
        observation, mask = self._batch.observe(
            rows, self.seats[rows], encoding=self.agent.encoding, memory=self.agent.memory
        )
        # The arrays are the agent's own, so that nothing it does to them reaches anybody else.
        legal = mask.copy()
        seeds = seeding.action_seeds(self._seeds[rows], step_number)
        self._watch.asking(self.side, len(rows))
        try:
            answer = self.agent.act(observation, mask, seeds, *self._states.recall(rows))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, it is its own
            self._fail(f"failed: {type(error).__name__}: {one_line(error)}", error)
        try:
            actions, state = checked_answer(answer, legal)
        except ValueError as error:
            self._fail(str(error), error.__cause__)
        self._watch.answered()
        try:
            self._states.keep(rows, state)
        except Exception as error:  # noqa: BLE001 - it may hold anything, as deep as can be
            self._fail(f"returned a wrong state: {one_line(error)}", error)
        return actions

    def _fail(self, reason: str, cause: BaseException | None = None) -> NoReturn:
        raise AgentError(self.name, self.agent, reason, cause)
