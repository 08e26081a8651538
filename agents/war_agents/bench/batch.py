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
        """Agent-steps a second."""
        return rate(self.work, seconds, self.prepare)


def run(seconds: float = 1.0, **options: Any) -> Iterator[Measurement]:
    """Every game and encoding, with one and two threads; ``options`` as for `measurements`."""
    for game in GAMES:
        for variant, threads in (("standard", 1), ("minimal", 1), ("standard", 2)):
            for encoding in ("tokens", "vector"):
                yield from measurements(
                    game, encoding, seconds, variant=variant, threads=threads, **options
                )


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
    games.close()
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
