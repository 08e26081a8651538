"""The games that a learner learns from."""

from collections.abc import Callable, Sequence
from typing import Any

from war_agents.models.model_card import ENCODING
from war_envs.variant import Variant
from war_train.league.league import League
from war_train.vec_env import SelfPlayVecEnv

MakeEnv = Callable[..., SelfPlayVecEnv]


def make_games(
    variants: Sequence[Variant],
    num_envs: int,
    league: League,
    *,
    memory: str,
    seed: int,
    make_env: MakeEnv = SelfPlayVecEnv,
) -> SelfPlayVecEnv:
    """Games of ``variants`` against a league.

    Args:
        variants: what is played; several share the games evenly.
        num_envs: games at once.
        league: the opponents.
        memory: what the learner observes.
        seed: fixes deals and opponents.
        make_env: makes the games from the arguments of `SelfPlayVecEnv`.
    """
    options: dict[str, Any] = {"opponents": league, "encoding": ENCODING, "memory": memory}
    return make_env(variants[0].game, num_envs, tuple(variants), seed=seed, **options)
