"""Many games, each from one seat, with agents in the other: what vector environments share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.versus.opponent import OpponentFailedError, ask
from war_agents.versus.opponents import Opponents, Places
from war_envs.batch import Batch
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.engine.kernels import RUNNING, TRUNCATED
from war_envs.info import Ending
from war_envs.variant import Variant

_RECORD: Final = "record_"  # what the names of the records' fields begin with in a state


@dataclass(frozen=True)
class Ended:
    """The games that ended in a step, K of them.

    Attributes:
        rows: int64 (K,): which.
        observation: (K, F): what the player saw at the end.
        reward: int64 (K,): the player's, +1, 0 or -1.
        truncated: bool (K,): only the turn limit ended it.
        lengths: int64 (K,): the player's choices.
        seats: int64 (K,): where the player sat.
        opponents: int64 (K,): the opponents' numbers.
        illegal: int64 (K,): the player's illegal action, which lost it the game, or -1.
        facts: int64 (K, keys): what infos say of it, see `SeatGames.facts`.
    """

    rows: NDArray[np.int64]
    observation: NDArray[Any]
    reward: NDArray[np.int64]
    truncated: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    seats: NDArray[np.int64]
    opponents: NDArray[np.int64]
    illegal: NDArray[np.int64]
    facts: NDArray[np.int64]


class SeatGames:
    """Row i is a game against an opponent that stays the same until that game ends.

    Unless one seat is given, the player's changes with each game of a row, and with neighbouring
    rows. In Strategic War a step goes on through the opponents' moves to the player's next choice.
    Games that end are dealt anew in the same step, or stay over until they are dealt by `deal`.

    Args:
        variant: what is played; of several variants, game i is of ``variant[i % V]``.
        num_games: how many at once.
        opponents: who plays against the player; they must not keep a state.
        seat: 0 or 1 for the player in every game, None for both in turn.
        encoding, memory: what the player observes.
        autoreset: deal games that end anew in the same step.

    Attributes:
        opponents: int64 (B,): the number of each row's opponent.
        seats: int64 (B,): the player's seat in each row.
        over: bool (B,): which games are over; none with ``autoreset``.
        mask: int8 (B, A): the player's legal actions, as of the last `observe`.
    """

    def __init__(
        self,
        variant: Variant | Sequence[Variant],
        num_games: int,
        opponents: Opponents,
        *,
        seat: int | None = None,
        encoding: str = "vector",
        memory: str = "perfect",
        autoreset: bool = True,
    ) -> None:
        self._batch = Batch(variant, num_games, encoding=encoding, memory=memory)
        self._engine = ENGINES[self._batch.game]
        self._deck_sizes = np.array([v.deck_size for v in self._batch.variants])[self._batch.kinds]
        self._who = opponents
        self._seat = seat
        self._autoreset = autoreset
        self._rows = np.arange(num_games)
        self._firsts = self._rows * self._engine.num_actions  # each row's place in a flat mask
        self._whole = False  # no step or reset has been cut short
        self.mask = np.ones((num_games, self._engine.num_actions), np.int8)
        self._clear()

    def reset(self, seed: int) -> None:
        """Deals all games, each row from a stream of its own."""
        self._batch.reset(seed, domain=seeding.TRAINING)
        states = seeding.generator_states(seed, seeding.AGENTS, self._rows.astype(np.uint64))
        self._clear()
        self._act_seeds, self._draw_seeds = states[:, 0], states[:, 1]
        self._begin_all()

    def _clear(self) -> None:
        number = len(self._rows)
        self._act_seeds, self._draw_seeds = np.zeros((2, number), np.uint64)
        self._calls = 0
        self._games_played = np.zeros(number, np.uint64)
        self.opponents = np.zeros(number, np.int64)
        self.seats = np.zeros(number, np.int64)
        self.over = np.zeros(number, np.bool_)
        self._lengths = np.zeros(number, np.int64)
        self._illegal = np.full(number, -1)
        self._ended: list[Ended] = []

    def deal_again(self) -> None:
        """Deals all games anew, each from its own generator."""
        self._engine.deal(self._batch.games, self._rows)
        self._begin_all()

    def _begin_all(self) -> None:
        self._ended = []
        self._begin_and_play(self._rows)

    def deal(self, rows: NDArray[np.int64], seed: int | None = None) -> None:
        """Deals the games of ``rows`` anew, over or not; the others stay as they are.

        Args:
            rows: int64 (K,), distinct.
            seed: their streams begin as `reset` begins them; None goes on with them.

        Raises:
            RuntimeError: as in `step`.
        """
        self._require_whole()
        if seed is not None:
            lanes = rows.astype(np.uint64)
            self._batch.games["rng"][rows] = seeding.generator_states(seed, seeding.TRAINING, lanes)
            states = seeding.generator_states(seed, seeding.AGENTS, lanes)
            self._act_seeds[rows], self._draw_seeds[rows] = states[:, 0], states[:, 1]
            self._games_played[rows] = 0
        self._engine.deal(self._batch.games, rows)
        self._begin_and_play(rows)

    def _begin_and_play(self, rows: NDArray[np.int64]) -> None:
        """What follows a deal of ``rows``, up to the player's first choice."""
        self._whole = False
        self._begin(rows)
        if not self._engine.simultaneous:
            self._let_opponents_play()
        self._whole = True

    def _require_whole(self) -> None:
        if not self._whole:
            raise RuntimeError("an opponent has failed in these games: call reset()")

    def _begin(self, rows: NDArray[np.int64]) -> None:
        """Seats and opponents for games that have just been dealt."""
        count = self._games_played[rows]
        if self._seat is None:
            self.seats[rows] = (rows + count.astype(np.int64)) & 1
        else:
            self.seats[rows] = self._seat
        bits = seeding.action_seeds(self._draw_seeds[rows], count)
        self.opponents[rows] = self._who.draw((bits >> np.uint64(11)) * 2.0**-53)
        self._games_played[rows] = count + np.uint64(1)
        self._lengths[rows] = 0
        self._illegal[rows] = -1
        self.over[rows] = False

    def observe(self) -> NDArray[Any]:
        """The player's observations (B, F), in an array of the caller's own; also sets ``mask``."""
        observation, self.mask = self._batch.observe(self._rows, self.seats)
        return observation

    def facts(self, rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """What `Engine.info_keys` names, of all games or ``rows``: (keys, K)."""
        everywhere = rows is None
        rows = self._rows if rows is None else rows
        facts = self._engine.facts(self._batch.games, rows)
        illegal = self._illegal if everywhere else self._illegal[rows]
        if illegal.max(initial=-1) >= 0:
            lost, keys = illegal >= 0, self._engine.info_keys
            facts[keys.index("ending"), lost] = Ending.ILLEGAL
            facts[keys.index("illegal"), lost] = self.seats[rows][lost]
        return facts

    def step(self, actions: NDArray[np.int64]) -> Ended:
        """Plays the player's actions (B,), each of the action space, and the opponents' answers.

        An action that ``mask`` forbids loses the game. Those for games that are ``over`` are
        ignored.

        Raises:
            OpponentFailedError: an opponent has raised, or has not answered with legal actions.
            RuntimeError: one has failed since the last deal: some games may wait for it.
        """
        self._require_whole()
        self._whole = False
        self._ended = []
        self._lengths += 1
        games = self._batch.games
        legal = self.mask.take(self._firsts + actions) != 0
        self._illegal.fill(-1)
        if len(lost := np.flatnonzero(~legal)):
            self._illegal[lost] = actions[lost]
            self._engine.forfeit(games, lost, self.seats[lost])
        theirs = actions
        answered = legal & ~self.over
        if self._engine.simultaneous and answered.any():
            theirs = np.zeros(len(actions), np.int64)
            theirs[answered] = self._opponents_actions(np.flatnonzero(answered))
        first = self.seats == 0
        joint = np.empty((len(actions), 2), np.int64)
        joint[:, 0] = np.where(first, actions, theirs)
        joint[:, 1] = np.where(first, theirs, actions)
        self._engine.play(games, joint)
        self._settle()
        if not self._engine.simultaneous:
            self._let_opponents_play()
        self._whole = True
        return _joined(self._ended)

    def _let_opponents_play(self) -> None:
        """Strategic War: opponents move until the player must choose in every game."""
        # Records as plain bytes: NumPy would write them field by field.
        whole = np.dtype((np.void, self._batch.games.dtype.itemsize))
        while len(rows := np.flatnonzero((self._batch.mover != self.seats) & ~self.over)):
            games = self._batch.games.take(rows)
            actions = self._opponents_actions(rows)
            self._engine.play(games, np.stack([actions, actions], axis=1))
            self._batch.games.view(whole)[rows] = games.view(whole)
            self._settle()

    def _opponents_actions(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """What the opponents choose in games ``rows``: one call for each agent."""
        # What `take` gives comes faster than what an index gives.
        parts = self._who.parts(self.opponents.take(rows), self._batch.kinds.take(rows))
        chosen = self._choices(parts, rows, 1 - self.seats.take(rows))
        self._calls += 1
        return chosen

    def choices_of(self, agents: Sequence[Agent]) -> NDArray[np.int64]:
        """What ``agents``, one for each variant, would choose in the player's place, int64 (B,).

        Raises:
            OpponentFailedError: one of them raises, keeps a state, or chooses an illegal action.
        """
        kinds = self._batch.kinds
        parts = [(agent, np.flatnonzero(kinds == kind)) for kind, agent in enumerate(agents)]
        return self._choices(parts, self._rows, self.seats)

    def _choices(
        self,
        parts: Iterable[tuple[Agent, Places]],
        rows: NDArray[np.int64],
        seats: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """What agents choose for ``seats`` in games ``rows``, each at its own places of them."""
        seeds = seeding.action_seeds(self._act_seeds.take(rows), self._calls)
        chosen = np.empty(len(rows), np.int64)
        for agent, places in parts:
            theirs = rows[places]
            widest = int(self._deck_sizes[theirs].max()) if len(self._batch.variants) > 1 else None
            observation, mask = self._batch.observe(
                theirs,
                seats[places],
                encoding=agent.encoding,
                memory=agent.memory,
                deck_size=widest,
            )
            chosen[places], state = ask(agent, observation, mask, seeds[places])
            if state is not None:
                raise OpponentFailedError.of(agent, "it keeps a state, which cannot be kept here")
        return chosen

    def _settle(self) -> None:
        """Books the games that have just ended, and deals them anew if that is wanted."""
        games = self._batch.games
        rows = np.flatnonzero((games["status"] != RUNNING) & ~self.over)
        if not len(rows) and self._ended:
            return
        winners, seats = games["winner"][rows], self.seats[rows]
        final, _ = self._batch.observe(rows, seats)
        self._ended.append(
            Ended(
                rows,
                final,
                np.where(winners < 0, 0, np.where(winners == seats, 1, -1)),
                games["status"][rows] == TRUNCATED,
                self._lengths[rows],
                seats,
                self.opponents[rows],
                self._illegal[rows],
                self.facts(rows).T,
            )
        )
        if self._autoreset:
            self._engine.deal(games, rows)
            self._begin(rows)
        else:
            self.over[rows] = True

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that the games to come depend on, in copies; who the opponents are is not in it.

        Raises:
            RuntimeError: as in `step`.
        """
        self._require_whole()
        return self._state()

    def _state(self) -> dict[str, NDArray[Any]]:
        record = self._engine.saved(self._batch.games)
        state: dict[str, NDArray[Any]] = {
            **{f"{_RECORD}{field}": array for field, array in record.items()},
            "act_seeds": self._act_seeds.copy(),
            "draw_seeds": self._draw_seeds.copy(),
            "calls": np.array(self._calls),
            "games_played": self._games_played.copy(),
            "opponents": self.opponents.copy(),
            "seats": self.seats.copy(),
            "lengths": self._lengths.copy(),
        }
        return state if self._autoreset else state | {"illegal": self._illegal.copy()}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Goes on from what `get_state` gave; other entries are left alone.

        Raises:
            ValueError: arrays of other shapes and dtypes, or games that cannot be; nothing has
                changed then.
        """
        now = self._state()
        for name, own in now.items():
            array = state.get(name)
            if not isinstance(array, np.ndarray) or (array.dtype, array.shape) != (
                own.dtype,
                own.shape,
            ):
                raise ValueError(f"state: {name} is not {own.dtype} of shape {own.shape}")
        games = self._engine.restored(
            [self._batch.variants[kind] for kind in self._batch.kinds],
            {
                name.removeprefix("record_"): state[name]
                for name in now
                if name.startswith("record_")
            },
        )
        seats, over = state["seats"], games["status"] != RUNNING
        illegal = state.get("illegal", np.full(len(games), -1))
        if (over.any() and self._autoreset) or not np.isin(seats, (0, 1)).all():
            raise ValueError("state: games are over, or seats neither 0 nor 1")
        if (
            state["calls"] < 0
            or (illegal < -1).any()
            or (illegal >= self._engine.num_actions).any()
        ):
            raise ValueError("state: calls below 0, or illegal actions that there are not")
        if not self._engine.simultaneous:
            movers = np.empty(len(games), np.int64)
            self._engine.movers(games, 0, len(games), movers)
            if ((movers != seats) & ~over).any():
                raise ValueError("state: it is not the player's turn in every game")
        self._batch.reset(0)
        self._batch.games = games
        self._act_seeds, self._draw_seeds = state["act_seeds"].copy(), state["draw_seeds"].copy()
        self._calls = int(state["calls"])
        self._games_played = state["games_played"].copy()
        self.opponents, self.seats = state["opponents"].copy(), seats.copy()
        self._lengths, self._illegal = state["lengths"].copy(), illegal.copy()
        self.over = over
        self._ended = []
        self._whole = True

    def close(self) -> None:
        """Ends the engine's threads; may be called twice."""
        self._batch.close()


def _joined(parts: list[Ended]) -> Ended:
    """The games of all parts of a step; no row is in two of them."""
    if len(parts) == 1:
        return parts[0]
    fields = vars(parts[0])
    return Ended(**{name: np.concatenate([vars(part)[name] for part in parts]) for name in fields})
