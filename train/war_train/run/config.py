"""What every training run is told: what is played, how long, and what is kept of it."""

from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, Self

from war_envs.chosen import ChosenVariants
from war_envs.engine.layout import MEMORIES, checked_choice
from war_envs.engine.seeding import MAX_SEED, checked_seed
from war_envs.variant import Variant, widest
from war_train.settings import Bounds, check_bounds


@dataclass(frozen=True, kw_only=True)
class RunConfig(ChosenVariants):
    """What a run is asked to do, as given; unchecked."""

    game: Literal["attack-defence", "strategic-war"]
    """What to learn."""
    out: Path
    """Folder for the model, its card, the log and the settings; it must not exist, or be empty."""
    steps: int = 10_000_000
    """Decisions of the learner, over all games together; rounded up to whole updates."""

    variants: tuple[str, ...] = ()
    """One policy for several variants, each in as many games: their names, such as minimal+fair, or
    all; in place of the modes."""
    memory: Literal["perfect", "table"] = "perfect"
    """What observations hold: all that a player could remember, or only what lies on the table."""

    seed: int | None = None
    """Fixes deals, opponents, initial weights and all that is sampled; by default it differs each
    time, and is kept in config.json."""

    evaluate_every: int = 1_000_000
    """Steps between two evaluations against every scripted agent; 0 leaves only the last one."""
    evaluate_deals: int = 200
    """Deals per opponent in those evaluations, each played from both seats."""
    final_deals: int = 1000
    """Deals per opponent in the evaluation at the end; 0 leaves it out."""
    save_every: int = 1_000_000
    """Steps between two checkpoints; one is always written at the end."""
    threads: int = 1
    """Threads of torch. More than one rarely helps, and much harms where other programs run."""
    progress: bool = True
    """Shows a progress bar, if standard error is a terminal."""


@dataclass(frozen=True, kw_only=True)
class RunSettings(RunConfig):
    """A `RunConfig`, checked and complete.

    Raises:
        ValueError: a value that is not allowed, naming it.
    """

    seed: int = field()

    @classmethod
    def of(cls, config: RunConfig) -> Self:
        """What ``config`` comes to; without a seed, with one from fresh entropy."""
        given: dict[str, Any] = {f.name: getattr(config, f.name) for f in fields(RunConfig)}
        return cls(**{**given, "seed": checked_seed(config.seed)})

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "out", Path(self.out))
        checked_choice("memory", self.memory, MEMORIES)
        if not isinstance(self.progress, bool):
            raise ValueError(f"progress={self.progress!r} is not allowed; it must be True or False")
        check_bounds(self, _INTEGERS)
        if self.variants:
            set_(self, "variants", tuple(variant.name for variant in self.played))
        else:
            set_(self, "max_turns", self.played[0].max_turns)

    @cached_property
    def played(self) -> tuple[Variant, ...]:
        """The rules: one variant, or all that one policy learns."""
        return self.made(self.game)

    @property
    def variant(self) -> Variant:
        """What is played; if there are several variants, one with all their cards."""
        return widest(self.played)


_INTEGERS: Final[Bounds] = (
    ("steps", 1, 10**15),
    ("seed", 0, MAX_SEED),
    ("evaluate_every", 0, 10**15),
    ("evaluate_deals", 1, 10**6),
    ("final_deals", 0, 10**6),
    ("save_every", 1, 10**15),
    ("threads", 1, 256),
)
