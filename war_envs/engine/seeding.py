"""Where randomness comes from: a seed, what it is for (the domain), and which of many games (the
lane).

`numpy.random.SeedSequence` keeps the streams of different domains, lanes and neighbouring seeds
apart.
"""

import secrets
from typing import Final

import numpy as np
from numpy.typing import NDArray

from war_envs.variant import integer

# One domain per purpose, so that no two purposes ever share a deal or a draw.
TRAINING: Final = 0
EVALUATION: Final = 1
AGENTS: Final = 2
SEATS: Final = 3
REDEALS: Final = 4

MAX_SEED: Final = 2**63 - 1


def checked_seed(seed: object) -> int:
    """``seed`` as an int; ``None`` gives fresh entropy from the operating system.

    Raises:
        ValueError: it is not an integer from 0 to 2**63 - 1.
    """
    return secrets.randbits(63) if seed is None else integer("seed", seed, 0, MAX_SEED)


def generator_state(seed: int, domain: int, lane: int) -> NDArray[np.uint64]:
    """The start of a game's own generator: uint64, shape (4,)."""
    sequence = np.random.SeedSequence(seed, spawn_key=(domain, lane))
    return sequence.generate_state(4, np.uint64).astype(np.uint64, copy=False)


def generator_states(seed: int, domain: int, lanes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`generator_state` for many lanes: uint64, shape (len(lanes), 4)."""
    distinct, places = np.unique(lanes, return_inverse=True)
    states = np.empty((len(distinct), 4), np.uint64)
    for row, lane in enumerate(distinct.tolist()):
        states[row] = generator_state(seed, domain, lane)
    return states[places]


def action_seeds(
    seeds: NDArray[np.uint64], counter: int | NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """A fresh uint64 for each of ``seeds`` at step ``counter``: the SplitMix64 output function.

    Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    with np.errstate(over="ignore"):  # NumPy warns where a single number wraps around
        x = np.asarray(seeds, np.uint64) + np.uint64(0x9E3779B97F4A7C15) * (
            np.asarray(counter, np.uint64) + np.uint64(1)
        )
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)), np.uint64)
