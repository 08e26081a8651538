"""Agents that fail in every way that there is, as ``tests.support.bad_agents:Raises``.

Each plays as `Healthy` does, but for the positions that are `cursed`: so it is known which games it
loses by failing, and that all others are those of its healthy twin.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tests.support.players import pick

Seeds = NDArray[np.uint64]


def cursed(seeds: Seeds) -> NDArray[np.bool_]:
    """In which positions the agents of this module fail."""
    chosen: NDArray[np.bool_] = (seeds >> np.uint64(20)) % np.uint64(96) == 0
    return chosen


class Healthy:
    """Draws a legal action from its seed, in good health."""

    name, encoding, memory = "healthy", "tokens", "perfect"

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: Seeds,
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[Any, Any]:
        """See `war_agents.agent.Agent`."""
        return pick(action_mask.astype(np.bool_), seeds), None


class Noting(Healthy):
    """Notes whether it has seen a cursed position."""

    seen = False

    def act(self, observation: Any, action_mask: Any, seeds: Seeds, *memory: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        self.seen |= bool(cursed(seeds).any())
        return super().act(observation, action_mask, seeds)


class Cursed(Healthy):
    """Fails where a position is cursed, in the way that `fail` has.

    Args:
        always: it fails everywhere.
    """

    def __init__(self, *, always: bool = False) -> None:
        self.always = always
        self.name = type(self).__name__

    def act(self, observation: Any, action_mask: Any, seeds: Seeds, *memory: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        actions, state = super().act(observation, action_mask, seeds)
        if self.always or cursed(seeds).any():
            return self.fail(actions)
        return actions, state

    def fail(self, actions: NDArray[np.int64]) -> Any:
        """What it does; the answer, if it comes to that."""
        raise NotImplementedError


class Raises(Cursed):
    """Raises."""

    def fail(self, actions: Any) -> Any:
        raise RuntimeError("no more moves")


class RaisesLoudly(Cursed):
    """Raises with a message that is long, of many lines, and obeyed by terminals."""

    def fail(self, actions: Any) -> Any:
        raise RuntimeError("\x1b[2J\x1b]0;owned\x07 \u202egnol\nline\r" * 5000)


class Illegal(Cursed):
    """Chooses what is not there."""

    def fail(self, actions: Any) -> Any:
        return np.full_like(actions, 99), None


class Nothing(Cursed):
    """Returns None."""

    def fail(self, actions: Any) -> Any:
        return None


class NotANumber(Cursed):
    """Chooses NaN."""

    def fail(self, actions: Any) -> Any:
        return np.full(len(actions), np.nan), None


class WrongShape(Cursed):
    """Chooses once too often."""

    def fail(self, actions: Any) -> Any:
        return np.append(actions, 0), None


class WrongState(Cursed):
    """Remembers what is no state."""

    def fail(self, actions: Any) -> Any:
        return actions, {"games": len(actions)}


class EndlessState(Cursed):
    """Remembers tuples in tuples in tuples."""

    def fail(self, actions: Any) -> Any:
        state: Any = actions
        for _ in range(5000):
            state = (state,)
        return actions, state


class Exits(Cursed):
    """Calls `sys.exit`."""

    def fail(self, actions: Any) -> Any:
        sys.exit(0)


class Interrupts(Cursed):
    """Raises what Ctrl-C raises."""

    def fail(self, actions: Any) -> Any:
        raise KeyboardInterrupt


class ExitsHard(Cursed):
    """Ends its process without a word."""

    def fail(self, actions: Any) -> Any:
        os._exit(7)


class Kills(Cursed):
    """Kills its process, as one is killed that needs too much memory."""

    def fail(self, actions: Any) -> Any:
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)


class Hangs(Cursed):
    """Never answers."""

    def fail(self, actions: Any) -> Any:
        time.sleep(3600)


class Stops(Cursed):
    """Stops its process, and nobody else."""

    def fail(self, actions: Any) -> Any:
        os.kill(os.getpid(), signal.SIGSTOP)


class Forks(Cursed):
    """Hangs, with a process of its own that holds all of its files."""

    def fail(self, actions: Any) -> Any:
        if os.fork() == 0:
            time.sleep(3600)
            os._exit(0)
        time.sleep(3600)


class Reads(Cursed):
    """Waits for an answer from the keyboard, by itself or by a program of its own."""

    def fail(self, actions: Any) -> Any:
        subprocess.run([sys.executable, "-c", "import sys; sys.stdin.read()"], check=True)
        return np.full_like(actions, int(input())), None


class RaisesAtThird(Healthy):
    """Counts its choices in each game, and raises at the third."""

    def act(
        self,
        observation: NDArray[Any],
        action_mask: NDArray[np.int8],
        seeds: Seeds,
        state: Any = None,
        starts: NDArray[np.bool_] | None = None,
    ) -> tuple[Any, Any]:
        """See `war_agents.agent.Agent`."""
        before = np.zeros(len(seeds), np.int64) if state is None else state
        number = 1 + (before if starts is None else np.where(starts, 0, before))
        if (number == 3).any():
            raise RuntimeError("cannot count to three")
        return super().act(observation, action_mask, seeds)[0], number


class Overwrites(Healthy):
    """Writes to all that it is given."""

    def act(self, observation: Any, action_mask: Any, seeds: Seeds, *memory: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        actions, state = super().act(observation, action_mask, seeds)
        for array in (observation, action_mask, seeds):
            array[...] = 1
        return actions, state


class Talks(Healthy):
    """Prints a lot, to all that it can find."""

    def act(self, observation: Any, action_mask: Any, seeds: Seeds, *memory: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        print("thinking\n" * 1000, flush=True)
        os.write(1, b"\x80\x04N." * 100)
        return super().act(observation, action_mask, seeds)


class Prints(Healthy):
    """Prints a lot."""

    def act(self, observation: Any, action_mask: Any, seeds: Seeds, *memory: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        print("thinking\n" * 1000, flush=True)
        return super().act(observation, action_mask, seeds)


class TakesASecond(Healthy):
    """Takes a second for its first choice, which a file called ``thinking`` announces."""

    def act(self, observation: Any, action_mask: Any, seeds: Seeds, *memory: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        file = Path("thinking")
        if not file.exists():
            file.touch()
            time.sleep(1)
        return super().act(observation, action_mask, seeds)


class NotesBatches(Healthy):
    """Notes how many positions it is asked about, in a file that ``NOTED_BATCHES`` names."""

    def act(self, observation: Any, action_mask: Any, seeds: Seeds, *memory: Any) -> Any:
        """See `war_agents.agent.Agent`."""
        with open(os.environ["NOTED_BATCHES"], "a") as file:
            file.write(f"{len(seeds)}\n")
        return super().act(observation, action_mask, seeds)


class OnlyHere(Healthy):
    """Holds what no other process can have."""

    name = "only-here"

    def __init__(self) -> None:
        self.lock = threading.Lock()


def always(make: Callable[..., Healthy]) -> Callable[[], Healthy]:
    """A factory of agents that fail everywhere."""
    return lambda: make(always=True)


AlwaysRaises: Final = always(Raises)
AlwaysIllegal: Final = always(Illegal)
AlwaysExitsHard: Final = always(ExitsHard)
AlwaysExitsHardToo: Final = always(ExitsHard)
AlwaysInterrupts: Final = always(Interrupts)
AlwaysInterruptsToo: Final = always(Interrupts)
AlwaysHangs: Final = always(Hangs)
