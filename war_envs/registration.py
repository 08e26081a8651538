"""The ids under which Gymnasium and PettingZoo know the games.

Gymnasium views need an opponent, which lives in `war_agents`; its entry points are strings, so that
nothing here imports upward.
"""

from importlib.util import find_spec
from typing import Final

import gymnasium

from war_envs.games import SPECS
from war_envs.variant import MODES, VARIANT_NAMES

NAMESPACE: Final = "war_envs"

# Those that pettingzoo.make takes, which came with PettingZoo 1.27: without it there are none.
PETTINGZOO_IDS: Final[dict[str, tuple[str, ...]]] = (
    {
        "aec": tuple(f"{NAMESPACE}/{spec.stem}-v0" for spec in SPECS.values()),
        "parallel": tuple(
            f"{NAMESPACE}/{spec.stem}-v0" for spec in SPECS.values() if spec.simultaneous
        ),
    }
    if find_spec("pettingzoo.env_registry") is not None
    else {}
)


def gymnasium_id(game: str, variant: str) -> str:
    """The Gymnasium id of a game's variant, such as ``war_envs/AttackDefence-Minimal-Fair-v0``."""
    modes = [mode.title().replace("-", "") for mode in variant.split("+") if mode in MODES]
    return f"{NAMESPACE}/{'-'.join([SPECS[game].id_stem, *modes])}-v0"


GYMNASIUM_IDS: Final = tuple(
    gymnasium_id(game, variant) for game in SPECS for variant in VARIANT_NAMES
)


def register() -> None:
    """Registers every id that is not registered yet."""
    for game, spec in SPECS.items():
        for variant in VARIANT_NAMES:
            id_ = gymnasium_id(game, variant)
            modes = {MODES[mode]: True for mode in variant.split("+") if mode in MODES}
            if id_ not in gymnasium.registry:
                gymnasium.register(
                    id_,
                    entry_point=f"war_agents.versus.single:{spec.stem}",
                    vector_entry_point=f"war_agents.versus.vector:{spec.stem}",
                    kwargs=modes,
                    disable_env_checker=False,
                )
    for kind, ids in PETTINGZOO_IDS.items():
        _register_pettingzoo(kind, ids)


def _register_pettingzoo(kind: str, ids: tuple[str, ...]) -> None:
    from pettingzoo.env_registry import registration as pettingzoo_registry

    known, function = (
        (pettingzoo_registry.aec_registry, "env")
        if kind == "aec"
        else (pettingzoo_registry.parallel_registry, "parallel_env")
    )
    for id_ in ids:
        module = id_.removeprefix(f"{NAMESPACE}/").replace("-", "_")
        if id_ not in known:
            pettingzoo_registry.register(kind, id_, f"war_envs.{module}:{function}")  # type: ignore[call-overload]
