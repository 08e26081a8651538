"""The agents by name that a run meets: made once, and known again when the run goes on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from war_agents import Agent
from war_agents.arena.entrant import Entrant
from war_envs.variant import Variant
from war_train.league.config import EXPLOITER, PAST, SELF

Named = Mapping[str, Entrant]


def named_agents(
    opponents: Iterable[str], teacher: str | None, variants: Sequence[Variant]
) -> Named:
    """Opponents that are no part of a run, and its teacher if it has one, by name.

    Models are read here and nowhere else: whatever becomes of their files, the run goes on with
    what it began with.

    Raises:
        ValueError: there is no such agent.
    """
    names = [name for name in opponents if name not in (SELF, PAST, EXPLOITER)]
    if teacher is not None:
        names.append(teacher)
    return {name: Entrant.of(name, variants, deterministic=False) for name in dict.fromkeys(names)}


def agents_of(named: Entrant) -> Sequence[Agent]:
    """The agent for each of the run's variants."""
    return named.agents


def record(named: Named) -> dict[str, Any]:
    """What tells each of them from another, as JSON has it: see `war_agents.arena.Player`."""
    return {
        name: {
            "sha256": found.player.sha256,
            "deterministic": found.player.deterministic,
            "memory": found.player.memory,
        }
        for name, found in named.items()
    }


def require_same(saved: object, named: Named) -> None:
    """Refuses agents that are not those that a run was saved with.

    Args:
        saved: what `record` gave then; None for a run that has noted nothing.
        named: those of now.

    Raises:
        ValueError: naming the first that differs.
    """
    if saved is None:
        return
    for name, now in record(named).items():
        if not isinstance(saved, dict) or saved.get(name) != now:
            raise ValueError(
                f"agent {name!r} is not what it was when the run was saved: its model or code has "
                "changed; put back what it was, or start a new run"
            )
