"""Many games at once, as arrays, on the kernels that the environments use.

>>> import numpy as np
>>> from war_envs.batch import make_batch
>>> batch = make_batch("attack-defence", 1000, minimal=True)
>>> batch.reset(seed=7)
>>> observation, action_mask = batch.observe()   # (1000, 2, 83) uint8, (1000, 2, 2) int8
>>> step = batch.step(np.zeros((1000, 2), int))  # everybody attacks
>>> step.reward.shape, step.terminated.shape
((1000, 2), (1000,))
"""

import copy
import itertools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from war_envs.arrays import integer_array
from war_envs.cards import NUM_CARDS
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.engine.kernels import RUNNING, Records
from war_envs.engine.layout import ENCODINGS, MEMORIES, checked_choice
from war_envs.variant import Variant, checked_variants, integer, make_variant, widest

MAX_GAMES = 1_000_000
MAX_THREADS = 256
# Rows that are worth waking a thread for, which may take 50 microseconds. To check actions, games
# are looked at only where what is legal depends on them, as it does where players take turns.
LEAST_ROWS: Final = {
    "check simultaneous": 262_144,
    "check turn-based": 8192,
    "step": 4096,
    "tokens": 4096,
    "vector": 256,
}

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """What one step of a batch brought.

    Attributes:
        reward: float32 (B, 2): +1, -1 or 0 for each seat.
        terminated: bool (B,): the game has really ended in this step (or before, without
            autoreset).
        truncated: bool (B,): the same for the turn limit.
        final_rows: int64 (K,): the games that ended in this step.
        final_observation: (K, 2, F): what both seats saw at their end, before any new deal.
    """

    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    final_rows: NDArray[np.int64]
    final_observation: NDArray[Any]


class Batch:
    """``num_games`` games of one variant, or of several: game i is of ``variants[i % V]``.

    Results are bit-identical for any ``num_threads``, and game i is the same in any batch with that
    lane. Observations have slots for the largest deck; those that a smaller one leaves are empty.

    Attributes:
        variants: the V variants.
        kinds: int64 (B,): which of them each game is of.
        variant: the variant, if there is one; of several, one with all their cards.
        game, num_games, encoding, memory: as given.
        observation_shape: (F,); see the game's ``observation`` module for what stands where.
        observation_dtype: uint8 for tokens, float32 for vectors.
        num_actions: 2 in Attack and Defence, 4 in Strategic War.
        games: the game records, a structured array (B,); read them, write at your own risk.
    """

    def __init__(
        self,
        variant: Variant | Sequence[Variant],
        num_games: int,
        *,
        encoding: str = "tokens",
        memory: str = "perfect",
        num_threads: int = 1,
    ) -> None:
        self.variants = checked_variants(variant)
        self.variant = widest(self.variants)
        self.game = self.variant.game
        self.num_games = integer("num_games", num_games, 1, MAX_GAMES)
        self.kinds = np.arange(self.num_games) % len(self.variants)
        self.kinds.flags.writeable = False
        self._deck_sizes = np.array([v.deck_size for v in self.variants])
        self._later_modes = np.array([v.num_later_modes for v in self.variants])
        self.encoding = checked_choice("encoding", encoding, ENCODINGS)
        self.memory = checked_choice("memory", memory, MEMORIES)
        self._engine = ENGINES[self.game]
        self._size = self.variant.deck_size, self.variant.num_later_modes
        observer = self._engine.observer(encoding, *self._size)
        self.observation_shape = (observer.size,)
        self.observation_dtype = observer.dtype
        self.num_actions = self._engine.num_actions
        self._threads = integer("num_threads", num_threads, 1, MAX_THREADS)
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()
        self._rows = np.arange(self.num_games)
        self._both = self._both_seats(self._rows)
        self._buffers: dict[tuple[Any, ...], NDArray[Any]] = {}
        self._has_reset = False
        self.games: Records = self._new_games()

    def reset(
        self,
        seed: int | None = None,
        *,
        domain: int = seeding.TRAINING,
        lanes: ArrayLike | None = None,
        first_attacker: ArrayLike | None = None,
    ) -> None:
        """Deals all games.

        Args:
            seed: 0 to 2**63 - 1; None takes fresh entropy.
            domain: what the deals are for (see `war_envs.engine.seeding`); domains never share
                deals.
            lanes: integers (B,), by default 0 ... B - 1: game i is dealt from (seed, domain,
                lanes[i]). Lane 0 of the default domain is what an environment deals from the same
                seed.
            first_attacker: 0 or 1 for each game (B,), Strategic War only, for this deal and those
                of autoreset; None draws it for each.

        Raises:
            ValueError: an argument that is not allowed; the games stay as they were then.
        """
        checked = seeding.checked_seed(seed)
        domain = integer("domain", domain, 0, 2**31)
        given = self._rows if lanes is None else self._integers("lanes", lanes, 0, 2**62)
        games = self._new_games()
        if first_attacker is not None:
            if not self._engine.spec.has_first_attacker:
                raise ValueError(f"first_attacker is not for {self.game}; it has none")
            games["first"] = self._integers("first_attacker", first_attacker, 0, 1)
        games["rng"] = seeding.generator_states(checked, domain, given.astype(np.uint64))
        self._engine.deal(games, self._rows)
        self.games = games
        self._has_reset = True

    def _new_games(self) -> Records:
        games = self._engine.new_games(self.variants[0], self.num_games)
        for kind, variant in enumerate(self.variants[1:], start=1):
            games[self.kinds == kind] = self._engine.new_games(variant, 1)
        return games

    def _integers(self, name: str, value: ArrayLike, low: int, high: int) -> NDArray[np.int64]:
        array = integer_array(name, value, (self.num_games,))
        if array.min() < low or array.max() > high:
            raise ValueError(f"{name} must lie in {low} to {high}")
        return array.astype(np.int64)

    @property
    def acting(self) -> NDArray[np.bool_]:
        """Which seats choose now: bool (B, 2). Nobody where the game is over."""
        self._require_reset()
        running = self.games["status"] == RUNNING
        if self._engine.simultaneous:
            return np.stack([running, running], axis=1)
        mover = self.mover
        return np.stack([running & (mover == 0), running & (mover == 1)], axis=1)

    @property
    def mover(self) -> NDArray[np.int64]:
        """Where players take turns: the seat that chooses now in each game, int64 (B,)."""
        self._require_reset()
        if self._engine.simultaneous:
            raise ValueError(f"mover is not for {self.game}: both seats choose at once")
        movers = np.empty(self.num_games, np.int64)
        self._engine.movers(self.games, 0, self.num_games, movers)
        return movers

    def observe(
        self,
        rows: ArrayLike | None = None,
        seats: ArrayLike | None = None,
        *,
        encoding: str | None = None,
        memory: str | None = None,
        deck_size: int | None = None,
        copy: bool = True,
    ) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Observations and action masks.

        Args:
            rows, seats: integers (K,): the view of ``seats[k]`` in game ``rows[k]``. Without both:
                in Attack and Defence both seats of every game, with shapes (B, 2, F) and (B, 2, A);
                in Strategic War the mover of every game, (B, F) and (B, A).
            encoding, memory: what these observations hold; None: what all others of the batch do.
            deck_size: cards that they have slots for, no fewer than the decks of these games, and
                no entries of modes but theirs; None: as in all others of the batch.
            copy: True gives arrays of the caller's own; False, for speed, buffers of the batch that
                the next such call overwrites.

        Returns:
            observation (K, F), and action_mask int8 (K, A). Where a seat has nothing to choose its
            action is ignored, so its mask is all 1: no row is ever without a legal action.
        """
        self._require_reset()
        if (rows is None) != (seats is None):
            raise ValueError("rows and seats go together; give both or neither")
        wanted = (
            self.encoding if encoding is None else checked_choice("encoding", encoding, ENCODINGS),
            self.memory if memory is None else checked_choice("memory", memory, MEMORIES),
        )
        if rows is not None and seats is not None:
            checked = self._indices("rows", rows, self.num_games), self._indices("seats", seats, 2)
            size = self._checked_size(deck_size, checked[0])
            return self._observe(self.games, *checked, *wanted, size, copy, "observation")
        size = self._checked_size(deck_size, self._rows)
        if not self._engine.simultaneous:
            return self._observe(self.games, self._rows, None, *wanted, size, copy, "observation")
        both = self._observe(self.games, *self._both, *wanted, size, copy, "observation")
        observation, mask = both
        return self._by_seat(observation), self._by_seat(mask)

    def _checked_size(self, deck_size: int | None, rows: NDArray[np.int64]) -> tuple[int, int]:
        """Cards and later modes of observations of ``rows``."""
        if deck_size is None:
            return self._size
        kinds = self.kinds[rows]
        least = int(self._deck_sizes[kinds].max(initial=1))
        later_modes = int(self._later_modes[kinds].max(initial=0))
        return integer("deck_size", deck_size, least, NUM_CARDS), later_modes

    @staticmethod
    def _by_seat(array: NDArray[Any]) -> NDArray[Any]:
        return array.reshape(len(array) // 2, 2, array.shape[1])

    def _indices(self, name: str, value: ArrayLike, limit: int) -> NDArray[np.int64]:
        array = integer_array(name, value, (None,))
        if array.size and (array.min() < 0 or array.max() >= limit):
            raise ValueError(f"{name} must lie in 0 to {limit - 1}")
        return array.astype(np.int64)

    @staticmethod
    def _both_seats(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return np.repeat(rows, 2), np.tile(np.arange(2), len(rows))

    def _observe(
        self,
        games: Records,
        rows: NDArray[np.int64],
        seats: NDArray[np.int64] | None,
        encoding: str,
        memory: str,
        size: tuple[int, int],
        copy: bool,
        name: str,
    ) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """The views of ``seats`` in ``games[rows]``; without seats, the mover's in all games.

        Without ``copy`` in buffers of that ``name``.
        """
        if seats is not None and len(rows) != len(seats):
            raise ValueError(
                f"rows has {len(rows)} entries and seats {len(seats)}; give as many of each"
            )
        observer = self._engine.observer(encoding, *size)
        shape = (len(rows), observer.size)
        observation = self._array(name, shape, observer.dtype, copy)
        mask = self._array(f"{name} mask", (len(rows), self.num_actions), np.dtype(np.int8), copy)
        movers = self._array("movers", (len(rows),), np.dtype(np.int64), False)
        perfect = memory == "perfect"

        def work(first: int, last: int) -> None:
            if seats is None:
                self._engine.movers(games, first, last, movers)
            whose = movers if seats is None else seats
            observer.write(games, first, last, rows, whose, perfect, 1, observation, mask)

        self._in_slices(len(rows), work, encoding)
        return observation, mask

    def _array(
        self, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], own: bool
    ) -> NDArray[Any]:
        """An array to write to: the caller's own, or the batch's buffer for it."""
        if own:
            return np.empty(shape, dtype)
        key = (name, shape[1:], dtype)
        buffer = self._buffers.get(key)
        if buffer is None or len(buffer) < shape[0]:
            buffer = self._buffers[key] = np.empty(shape, dtype)
        return buffer[: shape[0]]

    def step(self, actions: ArrayLike, *, autoreset: bool = True, copy: bool = True) -> Step:
        """One choice in every running game; with ``autoreset``, ended games are dealt anew at once.

        Args:
            actions: integers: (B, 2) in Attack and Defence; in Strategic War (B,), or (B, 2) of
                which the mover's is read. Lists, and arrays of any library that NumPy can read;
                bools and floats are refused. Actions of finished games are ignored.
            autoreset: same-step: after the step, `observe` shows a new deal from the game's own
                generator, and the end is in ``final_observation``. Without it finished games stay
                as they are.
            copy: False, for speed, gives buffers of the batch that the next such call overwrites.

        Raises:
            ValueError: the wrong shape, or an illegal action, naming game and seat; nothing has
                changed then.
        """
        self._require_reset()
        checked = self._checked_actions(actions)
        number = self.num_games
        reward = self._array("reward", (number, 2), np.dtype(np.float32), copy)
        terminated = self._array("terminated", (number,), np.dtype(np.bool_), copy)
        truncated = self._array("truncated", (number,), np.dtype(np.bool_), copy)
        ended = self._array("ended", (number,), np.dtype(np.int64), False)
        finals = self._array("finals", (number,), self.games.dtype, False)
        outcome = (reward, terminated, truncated, ended, finals)

        def work(first: int, last: int) -> NDArray[np.int64]:
            count = self._engine.step(self.games, (first, last), checked, autoreset, *outcome)
            return np.arange(first, first + count)

        places = np.concatenate(self._in_slices(number, work, "step"))
        views = self._both_seats(places)
        final, _ = self._observe(
            finals, *views, self.encoding, self.memory, self._size, copy, "final"
        )
        return Step(reward, terminated, truncated, ended[places], self._by_seat(final))

    def _checked_actions(self, actions: ArrayLike) -> NDArray[np.int64]:
        number = self.num_games
        shapes = [(number, 2)] if self._engine.simultaneous else [(number,), (number, 2)]
        array = integer_array("actions", actions, *shapes)
        if array.ndim == 1:
            joint = self._array("joint", (number, 2), np.dtype(np.int64), False)
            joint[:] = array[:, np.newaxis]
            array = joint
        checked = np.ascontiguousarray(array, np.int64)
        first_illegal = self._engine.module.rules.first_illegal

        def work(first: int, last: int) -> int:
            return int(first_illegal(self.games, first, last, checked))

        kind = "simultaneous" if self._engine.simultaneous else "turn-based"
        slices = self._in_slices(number, work, f"check {kind}")
        illegal = [found for found in slices if found >= 0]
        if illegal:
            row, seat = divmod(illegal[0], 2)
            legal = ", ".join(
                f"{action} {name}"
                for action, name in enumerate(self._engine.actions)
                if self._engine.is_legal(self.games, row, seat, action)
            )
            raise ValueError(
                f"actions: {checked[row, seat]} of player_{seat} in game {row} is illegal; "
                f"legal are {legal}"
            )
        return checked

    def _in_slices(self, number: int, work: Callable[[int, int], T], what: str) -> list[T]:
        """Does ``work(first, last)`` on slices of ``number`` rows, one per thread; what it returns.

        ``what`` it is says in `LEAST_ROWS` how small a slice may be.
        """
        threads = min(self._threads, max(1, number // LEAST_ROWS[what]))
        bounds = [number * k // threads for k in range(threads + 1)]
        spans = list(itertools.pairwise(bounds))
        if threads == 1:
            return [work(*spans[0])]
        if self._pool is None or self._process != os.getpid():  # threads do not outlive a fork
            self._pool, self._process = ThreadPoolExecutor(self._threads - 1), os.getpid()
        others = [self._pool.submit(work, *span) for span in spans[1:]]
        own = work(*spans[0])  # the calling thread has its share too
        return [own, *(other.result() for other in others)]

    def _require_reset(self) -> None:
        if not self._has_reset:
            raise RuntimeError("no game has been dealt yet: call reset() first")

    def close(self) -> None:
        """Ends the threads, which start again when they are needed; may be called twice."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __copy__(self) -> "Batch":
        return copy.deepcopy(self)  # a shallow copy would share the games

    def __getstate__(self) -> dict[str, Any]:
        # A copy starts threads of its own, and writes to buffers of its own.
        return vars(self) | {"_pool": None, "_buffers": {}}


def make_batch(
    game: str,
    num_games: int,
    variant: str | Variant = "standard",
    *,
    encoding: str = "tokens",
    memory: str = "perfect",
    num_threads: int = 1,
    **options: Any,
) -> Batch:
    """A `Batch` of ``num_games`` games.

    Where a seat has nothing to choose, as in a finished game, its mask is all 1, not all 0 as in
    the PettingZoo environments: no row is ever without a legal action.

    Args:
        game: ``"attack-defence"`` or ``"strategic-war"``.
        num_games: 1 to 1,000,000.
        variant: ``"standard"``, modes joined by ``+`` such as ``"minimal+fair"``, or a variant
            object.
        encoding, memory: what observations hold, as in the environments.
        num_threads: threads that share each step.
        options: fields of the variant: ``minimal=True``, ``num_ranks=5``, ...

    Raises:
        ValueError: an argument that is not allowed.
    """
    chosen = make_variant(game, variant, **options)
    return Batch(chosen, num_games, encoding=encoding, memory=memory, num_threads=num_threads)
