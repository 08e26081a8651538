"""What a run is told of how it learns: PPO, its network, and whom it imitates at first."""

from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from war_agents.networks.card_network import NetworkShape
from war_envs.games import SPECS
from war_train.run.config import RunSettings
from war_train.settings import Bounds, check_bounds


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """How PPO learns, as given; unchecked."""

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
    """Discount factor per decision."""
    gae_lambda: float = 0.8
    """Lambda of generalised advantage estimation."""
    clip_range: float = 0.2
    """PPO's clipping of the probability ratio."""
    entropy: float = 0.03
    """Weight of the entropy bonus at the start; it falls linearly over the run."""
    entropy_end: float = 0.003
    """Weight of the entropy bonus at the end."""
    floor: float = 0.01
    """Weight, at the start, of the pull towards the uniform policy, which keeps every legal action
    tried: unlike that of the entropy it does not fade near 0. It falls linearly to 0."""
    magnet: float = 0.0
    """Weight of the pull towards the average policy: of the divergence of the policy from it."""
    average: int = 0
    """Steps that the exponential average of the weights looks back. It is what is evaluated and
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


@dataclass(frozen=True, kw_only=True)
class PPOSettings(PPOConfig):
    """A `PPOConfig`, checked and complete.

    Raises:
        ValueError: a value that is not allowed, naming it.
    """

    imitate_steps: int = field()

    @classmethod
    def of(cls, config: PPOConfig, run: RunSettings) -> Self:
        """What ``config`` comes to in a run."""
        given: dict[str, Any] = {f.name: getattr(config, f.name) for f in fields(PPOConfig)}
        if config.imitate is None:
            given["imitate"] = SPECS[run.game].teacher
        if config.imitate_steps is None:
            given["imitate_steps"] = run.steps // 20
        return cls(**given)

    def __post_init__(self) -> None:
        check_bounds(self, _INTEGERS, _NUMBERS)
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
        if self.magnet and not self.average:
            raise ValueError(
                f"magnet={self.magnet} is not allowed with average=0: nothing would pull"
            )

    @property
    def teacher(self) -> str | None:
        """Who is imitated at first, if anybody is."""
        return self.imitate if self.imitate_steps else None

    @property
    def shape(self) -> NetworkShape:
        """How large the network is."""
        return NetworkShape(self.embedding, self.hidden)


_INTEGERS: Final[Bounds] = (
    ("num_envs", 1, 100_000),
    ("rollout", 2, 10**8),
    ("batch_size", 2, 10**8),
    ("epochs", 1, 100),
    ("average", 0, 10**15),
    ("imitate_steps", 0, 10**15),
    ("embedding", 1, 4096),
    ("hidden", 1, 4096),
)
_NUMBERS: Final[Bounds] = (
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
