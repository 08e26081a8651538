"""The games, an entry each: whatever differs between them is looked up here, not branched on."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from war_envs import attack_defence, strategic_war
from war_envs.cards import GameName
from war_envs.engine.protocols import GameModule
from war_envs.variant import AttackDefenceVariant, StrategicWarVariant, Variant


@dataclass(frozen=True)
class GameSpec:
    """What a game is.

    Attributes:
        name: as arguments, files and commands spell it.
        title: for people.
        stem: of its module's and PettingZoo's names.
        id_stem: of its Gymnasium ids.
        variant: the class of its variants.
        module: its package.
        simultaneous: do both players choose at once?
        has_first_attacker: is one sampled with each deal, and may one be given?
        length_unit: what the length of a game is counted in, plural.
        lead: what sets one game of a deal apart from the other, for people.
        teacher: the agent that a learner imitates at first, where self-play from nothing gets stuck
            in games that never end.
    """

    name: GameName
    title: str
    stem: str
    id_stem: str
    variant: type[Variant]
    module: GameModule
    simultaneous: bool
    has_first_attacker: bool
    length_unit: str
    lead: str
    teacher: str | None

    @property
    def environments(self) -> Any:
        """The module of its PettingZoo environments, ``war_envs.<stem>_v0``."""
        return import_module(f"war_envs.{self.stem}_v0")

    @property
    def reset_options(self) -> tuple[str, ...]:
        """The options that ``reset`` takes."""
        return ("hands", "first_attacker") if self.has_first_attacker else ("hands",)

    @property
    def games_per_deal(self) -> int:
        """Games in which a deal is played alike for both: each seat, and each first attacker."""
        return 4 if self.has_first_attacker else 2


SPECS: Final[dict[str, GameSpec]] = {
    spec.name: spec
    for spec in (
        GameSpec(
            name="attack-defence",
            title="War of Attack and Defence",
            stem="attack_defence",
            id_stem="AttackDefence",
            variant=AttackDefenceVariant,
            module=attack_defence,
            simultaneous=True,
            has_first_attacker=False,
            length_unit="turns",
            lead="seat 0",
            teacher=None,
        ),
        GameSpec(
            name="strategic-war",
            title="Strategic War",
            stem="strategic_war",
            id_stem="StrategicWar",
            variant=StrategicWarVariant,
            module=strategic_war,
            simultaneous=False,
            has_first_attacker=True,
            length_unit="choices",
            lead="attacking first",
            teacher="memory",
        ),
    )
}
