"""How strong a learner is against others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from war_agents import Agent
from war_agents.arena.match import play_match
from war_envs.variant import Variant


def evaluate(
    agent: Agent,
    variants: Sequence[Variant],
    opponents: Iterable[str],
    *,
    deals: int,
    seed: int,
    agents: Mapping[str, Sequence[Agent]] | None = None,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """An agent's score against others.

    Args:
        agent: who is measured.
        variants: what is played, one or several.
        opponents: names or paths of agents.
        deals: deals per opponent and variant, each from both seats (Strategic War: and both first
            attackers); they are never those of training.
        seed: fixes them.
        agents: opponents by name, one for each variant, that are not looked up.
        progress: called often; what it raises ends the evaluation.

    Returns:
        By opponent (of several variants ``variant/opponent``): ``deals``, ``score`` from 0 to 1, a
        draw being half a point, and its 95 % interval ``low`` to ``high``.
    """
    results = {}
    for number, variant in enumerate(variants):
        for name in opponents:
            match = play_match(
                agent,
                agents[name][number] if agents and name in agents else name,
                game=variant.game,
                variant=variant,
                deals=deals,
                seed=seed,
                progress=progress,
            )
            results[name if len(variants) == 1 else f"{variant.name}/{name}"] = {
                "deals": deals,
                "score": match.score,
                "low": match.low,
                "high": match.high,
            }
    return results
