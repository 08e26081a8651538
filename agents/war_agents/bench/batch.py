"""The batch engine, at random play."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.bench.choose import Choices
from war_agents.bench.measure import REPEATS, Measurement, rate
from war_envs.batch import Batch, make_batch
from war_envs.variant import GAMES, make_variant

BATCH: Final = 4096
LARGE: Final = 65_536  # so many that waking a thread takes a negligible part of the time
UNIT: Final = "agent-steps/s"
COPY: Final = "one numpy.copyto of an array like the observations, and nothing else"
INCLUDES: Final = {
    "attack-defence": (
        "step and observe with copy=False: observations and masks of both seats, rewards, ends, "
        "final observations, same-step autoreset; random actions ready-made"
    ),
    "strategic-war": (
        "step and observe with copy=False: the mover's observation and mask, both seats' rewards, "
        "ends, final observations, same-step autoreset; random legal actions chosen outside the "
        "timed part"
    ),
}


class RandomPlay:
    """A batch under random play, at any moment of its games.

    Args:
        batch: what plays.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        batch.reset(1)
        self.observation, self._mask = batch.observe(copy=False)
        self._choose = Choices(self._mask.shape)
        self._actions: NDArray[np.int64]
        # All games have just begun: play on until some are anywhere.
        for _ in range(8 * batch.variant.deck_size):
            self.prepare()
            self.work()

    def prepare(self) -> None:
        """Chooses legal actions for the next step."""
        self._actions = self._choose(self._mask)

    def work(self) -> int:
        """Plays them; the number of observations that were made."""
        self._batch.step(self._actions, copy=False)
        self.observation, self._mask = self._batch.observe(copy=False)
        return int(self._actions.size)

    def rate(self, seconds: float) -> float:
        """Agent-steps per second."""
        return rate(self.work, seconds, self.prepare)

    def close(self) -> None:
        """Ends the batch's threads."""
        self._batch.close()


def run(seconds: float = 1.0, *, batch: int = BATCH, large: int = LARGE) -> Iterator[Measurement]:
    """Every game and encoding in batches of ``batch``, and threads in those of ``large``."""
    for game in GAMES:
        for variant in ("standard", "minimal"):
            for encoding in ("tokens", "vector"):
                yield from measurements(game, encoding, seconds, variant=variant, batch=batch)
        yield from measurements(game, "vector", seconds, batch=batch, threads=2)
        yield from speed_up(game, seconds, batch=large)


def speed_up(game: str, seconds: float, *, batch: int) -> Iterator[Measurement]:
    """The rates of one and of two threads on tokens, and the ratio of the two."""
    plays = [RandomPlay(make_batch(game, batch, num_threads=number)) for number in (1, 2)]
    rates = [[play.rate(seconds / REPEATS) for play in plays] for _ in range(REPEATS)]
    common: dict[str, Any] = {"game": game, "variant": "standard", "batch": batch}
    name = f"batch/{game}/tokens"
    for k in range(2):
        values = [pair[k] for pair in rates]
        options = common | {"name": name, "threads": k + 1, "unit": UNIT}
        yield Measurement.of(values, **options, includes=INCLUDES[game])
    yield Measurement.of(
        [two / one for one, two in rates],
        **common,
        name=f"{name}/speed-up",
        threads=2,
        unit="of one thread's rate",
        includes="the rate of two threads over that of one, measured in turn",
    )
    for play in plays:
        play.close()


def measurements(
    game: str,
    encoding: str,
    seconds: float,
    *,
    variant: str = "standard",
    num_ranks: int = 13,
    batch: int = BATCH,
    threads: int = 1,
) -> Iterator[Measurement]:
    """One rate; for vectors on one thread also that of a plain copy, and the share of it."""
    common: dict[str, Any] = {
        "game": game,
        "variant": variant + ("" if num_ranks == 13 else f", {num_ranks} ranks"),
        "batch": batch,
        "threads": threads,
        "unit": UNIT,
    }
    chosen = make_variant(game, variant, num_ranks=num_ranks)
    games = make_batch(game, batch, chosen, encoding=encoding, num_threads=threads)
    play = RandomPlay(games)
    with_copy = encoding == "vector" and threads == 1
    copies = PlainCopy(play.observation) if with_copy else None
    rates, copy_rates = [], []
    for _ in range(REPEATS):
        rates.append(play.rate(seconds / REPEATS))
        if copies is not None:
            copy_rates.append(rate(copies.work, seconds / REPEATS))
    play.close()
    name = f"batch/{game}/{encoding}"
    yield Measurement.of(rates, **common, name=name, includes=INCLUDES[game])
    if copies is not None:
        yield Measurement.of(copy_rates, **common, name=f"{name}/numpy-copy", includes=COPY)
        shares = [own / copy for own, copy in zip(rates, copy_rates, strict=True)]
        common["unit"] = "of a NumPy copy's rate"
        includes = "the rate of the batch over that of the plain copy, measured in turn"
        yield Measurement.of(shares, **common, name=f"{name}/share-of-copy", includes=includes)


class PlainCopy:
    """Copies of an array, between two that are no part of anything else."""

    def __init__(self, like: NDArray[Any]) -> None:
        pair = [np.ascontiguousarray(like).copy() for _ in range(2)]
        self._pairs = itertools.cycle([pair, pair[::-1]])
        self._rows: int = like.size // like.shape[-1]

    def work(self) -> int:
        """One copy; the number of observations in it."""
        source, target = next(self._pairs)
        np.copyto(target, source)
        return self._rows
