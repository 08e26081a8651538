"""What a training run is: one frozen dataclass, which is also the command line of ``war train``."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from war_agents.networks.card_network import NetworkShape
from war_envs.engine.layout import MEMORIES, checked_choice
from war_envs.engine.seeding import MAX_SEED, checked_seed
from war_envs.variant import ALL, VARIANT_NAMES, Variant, integer, make_variant, widest

SELF: Final = "self"
PAST: Final = "past"
EXPLOITER: Final = "exploiter"
OPPONENTS: Final[Mapping[str, float]] = {
    SELF: 0.25,
    PAST: 0.15,
    EXPLOITER: 0.1,
    "memory": 0.45,
    "random": 0.05,
}


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Trains an agent by self-play with MaskablePPO. "war train --resume FOLDER" goes on with a run
    that ended early.

    Raises:
        ValueError: a value that is not allowed, naming it.
    """

    game: Literal["attack-defence", "strategic-war"]
    """What to learn."""
    out: Path
    """Folder for the model, its card, the log and the settings; it must not exist, or be empty."""
    steps: int = 10_000_000
    """Decisions of the learner, over all games together; rounded up to whole updates."""

    minimal: bool = False
    """Two suits instead of four."""
    fair: bool = False
    """Both players hold the same ranks in the same order."""
    open_cards: bool = False
    """All cards lie face up."""
    variants: tuple[str, ...] = ()
    """One policy for several variants, each in as many games: their names, such as minimal+fair, or
    all; in place of minimal, fair and open_cards."""
    num_ranks: int = 13
    """Ranks in the deck, odd, 3 to 13."""
    max_turns: int | None = None
    """Turns after which a game is truncated; by default 40 a card of the deck."""
    own_card: Literal["bottom", "first"] = "bottom"
    """Attack and Defence only: where a winner's own card goes."""
    memory: Literal["perfect", "table"] = "perfect"
    """What observations hold: all that a player could remember, or only what lies on the table."""

    seed: int | None = None
    """Fixes deals, opponents, initial weights and all that is drawn; by default it differs each
    time, and is kept in config.json."""

    opponents: Mapping[str, float] | None = None
    """Shares of the games by opponent: the learner itself (self), its past selves (past), networks
    trained against it (exploiter), and any agents by name; by default self 0.25 past 0.15
    exploiter 0.1 memory 0.45 random 0.05."""
    past_every: int = 200_000
    """Steps between two copies of the learner that join its past selves."""
    past_size: int = 8
    """Past selves kept. Those that beat the learner are met more often; the one that it scores most
    against leaves first."""
    exploiter_every: int = 2_000_000
    """Steps between two exploiters, if they have a share: a copy of the learner learns to beat the
    learner as it is then, in games of its own, and joins the opponents."""
    exploiter_steps: int = 500_000
    """Steps that an exploiter learns; they come on top of the others."""
    exploiter_size: int = 4
    """Exploiters kept, by the same rule as past selves."""

    num_envs: int = 512
    """Games at once."""
    rollout: int = 8192
    """Steps between two updates: a multiple of num_envs."""
    batch_size: int = 1024
    """Steps in a minibatch."""
    epochs: int = 3
    """Passes over each rollout."""
    learning_rate: float = 1.5e-3
    """At the start; it falls linearly to a twentieth over the run."""
    gamma: float = 1.0
    """Discount a decision."""
    gae_lambda: float = 0.8
    """Lambda of generalised advantage estimation."""
    clip_range: float = 0.2
    """PPO's clipping of the probability ratio."""
    entropy: float = 0.03
    """Weight of the entropy bonus at the start; it falls linearly over the run."""
    entropy_end: float = 0.003
    """Weight of the entropy bonus at the end."""
    floor: float = 0.01
    """Weight, at the start, of the pull towards even probabilities that keeps every legal action
    tried: unlike that of the entropy it does not fade near 0. It falls linearly to 0."""
    magnet: float = 0.0
    """Weight of the pull towards the average policy: of the divergence of the policy from it."""
    average: int = 0
    """Steps that the average of the weights looks back, exponentially. It is what is evaluated and
    saved, and what magnet pulls to; 0: the last weights are saved."""
    value_weight: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients are scaled down to this norm."""
    imitate: str | None = None
    """An agent that the learner imitates at first: whatever it plays itself, it learns what this
    agent would have played; by default memory in Strategic War, where self-play from nothing gets
    stuck in games without an end, and nobody in Attack and Defence."""
    imitate_steps: int | None = None
    """Steps of that, of all the steps; by default a twentieth of them, 0 for none."""
    embedding: int = 128
    """Units of the network's first layer."""
    hidden: int = 128
    """Units of the second layer, for policy and value each."""

    evaluate_every: int = 1_000_000
    """Steps between two evaluations against every scripted agent; 0 leaves only the last one."""
    evaluate_deals: int = 200
    """Deals an opponent in those evaluations, each played from both seats."""
    final_deals: int = 1000
    """Deals an opponent in the evaluation at the end; 0 leaves it out."""
    save_every: int = 1_000_000
    """Steps between two writes of the model; it is always written at the end."""
    threads: int = 1
    """Threads of torch. More than one rarely helps, and much harms where other programs run."""
    progress: bool = True
    """Shows a progress bar, if standard error is a terminal."""

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "seed", checked_seed(self.seed))
        set_(self, "out", Path(self.out))
        checked_choice("memory", self.memory, MEMORIES)
        if self.imitate is None and self.game == "strategic-war":
            set_(self, "imitate", "memory")
        if self.imitate_steps is None:
            set_(self, "imitate_steps", integer("steps", self.steps, 1, 10**15) // 20)
        if not isinstance(self.progress, bool):
            raise ValueError(f"progress={self.progress!r} is not allowed; it must be True or False")
        for name, low, high in _INTEGERS:
            set_(self, name, integer(name, getattr(self, name), low, high))
        for name, least, most in _NUMBERS:
            set_(self, name, _number(name, getattr(self, name), least, most))
        if self.rollout % self.num_envs:
            raise ValueError(
                f"rollout={self.rollout} is not allowed; it must be a multiple of "
                f"num_envs={self.num_envs}"
            )
        if self.batch_size > self.rollout:
            raise ValueError(
                f"batch_size={self.batch_size} is not allowed; it must be at most "
                f"rollout={self.rollout}"
            )
        set_(
            self,
            "opponents",
            checked_shares(OPPONENTS if self.opponents is None else self.opponents),
        )
        if self.magnet and not self.average:
            raise ValueError(
                f"magnet={self.magnet} is not allowed with average=0: nothing would pull"
            )
        set_(self, "variants", self._checked_variants())
        played = self.played
        if not self.variants:
            set_(self, "max_turns", played[0].max_turns)

    def _checked_variants(self) -> tuple[str, ...]:
        given: object = self.variants  # whatever the caller passed
        if not isinstance(given, tuple | list) or not {*given} <= {*VARIANT_NAMES, ALL}:
            raise ValueError(
                f"variants={given!r} is not allowed; choose from {', '.join(VARIANT_NAMES)}, or all"
            )
        for mode in ("minimal", "fair", "open_cards"):
            if given and getattr(self, mode):
                raise ValueError(
                    f"{mode}=True is not allowed with variants={given!r}: name it there"
                )
        return VARIANT_NAMES if ALL in given else tuple(dict.fromkeys(given))

    @property
    def played(self) -> tuple[Variant, ...]:
        """The rules: one variant, or all that one policy learns."""
        options: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("minimal", "fair", "open_cards", "num_ranks", "max_turns")
        }
        if self.game == "attack-defence":
            options["own_card"] = self.own_card
        elif self.own_card != "bottom":
            raise ValueError(f"own_card={self.own_card!r} is not allowed; it is of attack-defence")
        if not self.variants:
            return (make_variant(self.game, **options),)
        rest = {k: v for k, v in options.items() if k not in ("minimal", "fair", "open_cards")}
        return tuple(make_variant(self.game, name, **rest) for name in self.variants)

    @property
    def resolved_seed(self) -> int:
        """``seed``, which is never None once the settings are made."""
        return integer("seed", self.seed, 0, MAX_SEED)

    @property
    def variant(self) -> Variant:
        """What is played; if there are several, one with all their cards."""
        return widest(self.played)

    @property
    def teacher(self) -> str | None:
        """Who is imitated at first, if anybody is."""
        return self.imitate if self.imitate_steps else None

    @property
    def shape(self) -> NetworkShape:
        """How large the network is."""
        return NetworkShape(self.embedding, self.hidden)

    @property
    def shares(self) -> Mapping[str, float]:
        """``opponents``, the default in place of None."""
        return OPPONENTS if self.opponents is None else self.opponents

    def to_json(self) -> dict[str, Any]:
        """All fields but ``out``, as JSON has them."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del values["out"]  # a file that travels says nothing of the machine it was made on
        return {**values, "opponents": dict(self.shares), "variants": list(self.variants)}


_INTEGERS = (
    ("steps", 1, 10**15),
    ("seed", 0, MAX_SEED),
    ("past_every", 1, 10**15),
    ("past_size", 1, 1000),
    ("exploiter_every", 1, 10**15),
    ("exploiter_steps", 1, 10**15),
    ("exploiter_size", 1, 1000),
    ("average", 0, 10**15),
    ("imitate_steps", 0, 10**15),
    ("num_envs", 1, 100_000),
    ("rollout", 2, 10**8),
    ("batch_size", 2, 10**8),
    ("epochs", 1, 100),
    ("embedding", 1, 4096),
    ("hidden", 1, 4096),
    ("evaluate_every", 0, 10**15),
    ("evaluate_deals", 1, 10**6),
    ("final_deals", 0, 10**6),
    ("save_every", 1, 10**15),
    ("threads", 1, 256),
)
_NUMBERS = (
    ("learning_rate", 0.0, 1.0),
    ("gamma", 0.0, 1.0),
    ("gae_lambda", 0.0, 1.0),
    ("clip_range", 0.0, 1.0),
    ("entropy", 0.0, 10.0),
    ("entropy_end", 0.0, 10.0),
    ("floor", 0.0, 10.0),
    ("magnet", 0.0, 10.0),
    ("value_weight", 0.0, 100.0),
    ("max_grad_norm", 0.0, 1e9),
)


def _number(name: str, value: object, low: float, high: float) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(
            f"{name}={value!r} is not allowed; it must be a number, {low:g} to {high:g}"
        )
    return float(value)


def checked_shares(shares: Mapping[str, float]) -> dict[str, float]:
    """Shares of opponents by name, at least one of them above 0.

    Raises:
        ValueError: they are not.
    """
    given: object = shares  # whatever the caller passed
    if not isinstance(given, Mapping):
        raise ValueError(f"opponents={given!r} is not allowed; give names with their shares")
    checked = {}
    for name, share in given.items():
        if not isinstance(name, str):
            raise ValueError(f"opponents: {name!r} is not allowed; it must be a name")
        checked[name] = _number(f"opponents[{name!r}]", share, 0.0, 1e9)
    if not any(checked.values()):
        raise ValueError(f"opponents={given!r} is not allowed; one share must be above 0")
    return checked
