"""Who plays against the learner: itself, copies of its past, exploiters, and agents by name."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents import Agent
from war_agents.networks.card_network import CardNetwork
from war_agents.networks.frozen import FrozenNetworks
from war_agents.versus.opponent import checked_agent
from war_envs.variant import Variant, checked_variants
from war_train.league.config import EXPLOITER, PAST, SELF, checked_shares
from war_train.league.pool import OpponentPool


class League:
    """The opponents, and how often each is met.

    Every opponent has a number that never means anybody else: each network that joins gets a new
    one. One that has left its pool still finishes the games it plays, and is then let go.

    Args:
        variants: what is played, one variant or several.
        shares: the share of games of each opponent, by name; they need not add up to 1. ``"self"``
            is the learner as it is now (it learns on during a game); ``"past"`` one of its past
            selves and ``"exploiter"`` one of the networks trained against it, sampled by
            `OpponentPool`; other names are given to ``agents``, else to `war_agents.make`. While a
            pool is empty the learner takes its games.
        learner: the learner as an agent; needed for the first three.
        memory: what networks that join observe.
        past_size, exploiters_size: networks in each pool.
        agents: agents by name, beside those that `make` knows: one that plays every variant, or one
            for each. Agents that keep a state cannot play here.

    Attributes:
        names: the opponents' names, in the order of the shares.
        pools: by name, ``"past"`` and ``"exploiter"``, as far as they have a share.

    Raises:
        ValueError: an unknown agent, shares that are none, or no learner where one is needed.
    """

    def __init__(
        self,
        variants: Variant | Sequence[Variant],
        shares: Mapping[str, float],
        *,
        learner: Agent | None = None,
        memory: str = "perfect",
        past_size: int = 8,
        exploiters_size: int = 4,
        agents: Mapping[str, Agent | Sequence[Agent]] | None = None,
    ) -> None:
        checked = checked_shares(shares)
        self.names: Final = tuple(checked)
        self._memory = memory
        self._edges = np.cumsum(list(checked.values()))
        self._edges /= self._edges[-1]
        self._learner = learner
        self._agents: dict[int, list[Agent]] = {}
        self.pools: Final[dict[str, OpponentPool]] = {}
        sizes = {PAST: past_size, EXPLOITER: exploiters_size}
        for number, name in enumerate(self.names):
            if name in (SELF, PAST, EXPLOITER):
                if learner is None:
                    raise ValueError(f"opponents: {name!r} needs a learner, and there is none")
                if name in sizes:
                    self.pools[name] = OpponentPool(sizes[name])
            else:
                found = agents[name] if agents is not None and name in agents else name
                played = checked_variants(variants)
                each = found if isinstance(found, list | tuple) else [found] * len(played)
                self._agents[number] = [
                    checked_agent(given, variant)
                    for given, variant in zip(each, played, strict=True)
                ]
        self._next_number = len(self.names)
        self._frozen: FrozenNetworks | None = None

    def parts(
        self, numbers: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> Iterable[tuple[Agent, NDArray[np.int64]]]:
        """Who chooses where: see `war_agents.versus.opponents.Opponents`."""
        frozen = numbers >= len(self.names)
        left = ~frozen
        for number, agents in self._agents.items():
            theirs = numbers == number
            left &= ~theirs
            for kind in np.unique(kinds[theirs]).tolist():
                yield agents[kind], np.flatnonzero(theirs & (kinds == kind))
        if self._learner is not None and left.any():
            yield self._learner, np.flatnonzero(left)
        if self._frozen is not None and frozen.any():
            yield self._frozen.players(numbers[frozen]), np.flatnonzero(frozen)

    @property
    def networks(self) -> Mapping[int, CardNetwork]:
        """Past selves and exploiters by number, those too that only finish their games."""
        return {} if self._frozen is None else self._frozen.networks

    @property
    def next_number(self) -> int:
        """The number that the next network will get."""
        return self._next_number

    @property
    def numbers(self) -> list[int]:
        """The numbers of all opponents."""
        return [*range(len(self.names)), *self.networks]

    def share_of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each opponent's number, the index in `names` of the share that it belongs to."""
        shares = numbers.copy()
        for name, pool in self.pools.items():
            shares[np.isin(numbers, list(pool.joined))] = self.names.index(name)
        return shares

    def draw(self, uniform: NDArray[np.floating]) -> NDArray[np.int64]:
        """The numbers of opponents for new games.

        Args:
            uniform: (K,), uniform in [0, 1): all the randomness there is.
        """
        numbers = np.searchsorted(self._edges, uniform, side="right")
        for name, pool in self.pools.items():
            index = self.names.index(name)
            theirs = np.flatnonzero(numbers == index)
            if len(theirs) and pool.numbers:
                low = self._edges[index - 1] if index else 0.0
                within = (uniform[theirs] - low) / (self._edges[index] - low)
                numbers[theirs] = pool.draw(within)
        return numbers

    def book(self, numbers: NDArray[np.int64], rewards: NDArray[np.int64]) -> None:
        """Notes how games against ``numbers`` ended for the learner: +1, 0 or -1."""
        for pool in self.pools.values():
            pool.book(numbers, rewards)

    def add(self, name: str, network: CardNetwork, playing: NDArray[np.int64]) -> int:
        """Takes a network into a pool, and lets go those that have left theirs.

        Args:
            name: ``"past"`` or ``"exploiter"``.
            network: it must not share weights with the learner.
            playing: numbers of the opponents in games that still run; they are kept.

        Returns:
            The network's number.
        """
        number = self._next_number
        self._next_number += 1
        self.pools[name].add(number)
        keep = {n for pool in self.pools.values() for n in pool.numbers} | set(playing.tolist())
        for pool in self.pools.values():
            pool.forget(keep)
        networks = {**self.networks, number: network}
        self._freeze({n: found for n, found in networks.items() if n in keep})
        return number

    def _freeze(self, networks: Mapping[int, CardNetwork]) -> None:
        self._frozen = FrozenNetworks(networks, self._memory) if networks else None

    def get_state(self) -> dict[str, Any]:
        """All but the networks, as JSON has it."""
        pools = {name: pool.get_state() for name, pool in self.pools.items()}
        return {"next_number": self._next_number, "pools": pools}

    def set_state(self, state: Any, networks: Mapping[int, CardNetwork]) -> None:
        """Goes on from what `get_state` and `networks` gave.

        Raises:
            ValueError: what no league can have come to.
        """
        first = len(self.names)
        try:
            next_number, pools = state["next_number"], state["pools"]
            if set(pools) != set(self.pools) or not isinstance(next_number, int):
                raise ValueError(f"league: pools {sorted(pools)}, next number {next_number!r}")
            restored = {
                name: OpponentPool.restored(self.pools[name].size, pools[name]) for name in pools
            }
        except (LookupError, TypeError, AttributeError, OverflowError) as error:
            raise ValueError("league: it is no state of a league") from error
        joined = [number for pool in restored.values() for number in pool.joined]
        if sorted(joined) != sorted(networks) or not all(first <= n < next_number for n in joined):
            raise ValueError(f"league: networks {sorted(networks)}, {sorted(joined)} in its pools")
        self.pools.update(restored)
        self._next_number = next_number
        self._freeze(networks)
