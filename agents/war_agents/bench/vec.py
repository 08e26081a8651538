"""One seat of many games against a batched opponent, as learners step it."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import gymnasium
import numpy as np
from numpy.typing import NDArray

import war_envs  # noqa: F401  registers the ids
from war_agents.bench.choose import Choices
from war_agents.bench.measure import REPEATS, Measurement, rate
from war_envs.messages import notice
from war_envs.registration import gymnasium_id
from war_envs.variant import GAMES

BATCH: Final = 4096
OPPONENT: Final = "random"
INCLUDES: Final = (
    "the learner's decisions against agent {opponent}, batched: step with observations, masks, "
    "rewards, ends, final observations, infos, same-step autoreset, and the opponent's "
    "observations and choices; {encoding} observations; random legal actions chosen outside the "
    "timed part"
)

# What steps: takes actions (N,), and returns the masks (N, A) of the next.
Stepper = Callable[[NDArray[np.int64]], NDArray[Any]]


def run(seconds: float = 3.0, *, batch: int = BATCH) -> Iterator[Measurement]:
    """Gymnasium's vector environment for both games, then self-play's if it is installed."""
    for game in GAMES:
        for encoding in ("vector", "tokens"):
            mask, step, close = _gymnasium(game, batch, encoding)
            yield _measured(f"vec/{game}/gymnasium/{encoding}", game, mask, step, seconds, encoding)
            close()
    for game in GAMES:
        try:
            mask, step, close = _self_play(game, batch)
        except ImportError as error:
            notice(f"vec/{game}/self-play is left out: {error}")
            return
        yield _measured(f"vec/{game}/self-play", game, mask, step, seconds, "tokens")
        close()


def _gymnasium(
    game: str, batch: int, encoding: str
) -> tuple[NDArray[Any], Stepper, Callable[[], Any]]:
    envs: Any = gymnasium.make_vec(
        gymnasium_id(game, "standard"),
        num_envs=batch,
        vectorization_mode="vector_entry_point",
        opponent=OPPONENT,
        encoding=encoding,
    )
    _, infos = envs.reset(seed=1)

    def step(actions: NDArray[np.int64]) -> NDArray[Any]:
        masks: NDArray[Any] = envs.step(actions)[4]["action_mask"]
        return masks

    return infos["action_mask"], step, envs.close


def _self_play(game: str, batch: int) -> tuple[NDArray[Any], Stepper, Callable[[], Any]]:
    # By its name: it needs the extra, and nothing here imports upward.
    training: Any = importlib.import_module("war_train.vec_env")
    envs = training.SelfPlayVecEnv(
        game, batch, opponents={OPPONENT: 1.0}, encoding="tokens", seed=1
    )
    envs.reset()

    def step(actions: NDArray[np.int64]) -> NDArray[Any]:
        envs.step(actions)
        masks: NDArray[Any] = envs.action_masks()
        return masks

    return envs.action_masks(), step, envs.close


class _Steps:
    """Random play, step by step."""

    def __init__(self, mask: NDArray[Any], step: Stepper) -> None:
        self._mask = mask
        self._step = step
        self._choose = Choices(mask.shape)
        self._actions: NDArray[np.int64]

    def prepare(self) -> None:
        """Chooses legal actions."""
        self._actions = self._choose(self._mask)

    def work(self) -> int:
        """Plays them."""
        self._mask = self._step(self._actions)
        return len(self._actions)


def _measured(
    name: str, game: str, mask: NDArray[Any], step: Stepper, seconds: float, encoding: str
) -> Measurement:
    steps = _Steps(mask, step)
    for _ in range(100):  # compiles what is compiled, and lets games go apart
        steps.prepare()
        steps.work()
    rates = [rate(steps.work, seconds / REPEATS, steps.prepare) for _ in range(REPEATS)]
    return Measurement.of(
        rates,
        name=name,
        game=game,
        variant="standard",
        batch=len(mask),
        threads=1,
        unit="decisions/s",
        includes=INCLUDES.format(opponent=OPPONENT, encoding=encoding),
    )
