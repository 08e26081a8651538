"""Who takes part in a tournament: as this process has it, and as others can make it too."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cloudpickle

from war_agents import OWN_NAMES
from war_agents.agent import Agent
from war_agents.arena.identity import UnidentifiedError
from war_agents.arena.origin import code_sha256, kind_of, object_sha256, stored_model
from war_agents.arena.players import Given, Player, is_code, is_deterministic, is_own, make_agents
from war_agents.models.stored import StoredModel
from war_envs.messages import one_line
from war_envs.variant import Variant


@dataclass(frozen=True)
class Entrant:
    """An agent of a tournament, before and while it plays.

    Attributes:
        player: who it is, as results tell it.
        source: what any process can make it from: a registered name, ``module:factory``, or the
            files of a model; None: only this process can make it.
        agents: it itself, for each variant; empty in a process that has yet to make it.
        warning: why it cannot be told from another, if it cannot.
    """

    player: Player
    source: str | StoredModel | None
    agents: tuple[Agent, ...]
    warning: str | None = None

    @classmethod
    def of(cls, given: Given, variants: Sequence[Variant], *, deterministic: bool) -> "Entrant":
        """An agent as it was ``given``, for ``variants`` of one game.

        Raises:
            ValueError: there is no such agent.
        """
        game = variants[0].game
        stored = stored_model(given, game)
        name, agents = make_agents(given, variants, deterministic=deterministic, stored=stored)
        kind = kind_of(given, game)
        sha256, warning = None, None
        from_here = kind == "object" or (kind == "registered" and name not in OWN_NAMES[game])
        try:
            if stored is not None:
                sha256 = stored.sha256
            elif kind == "code":
                sha256 = code_sha256(name, agents[0])
            elif from_here:
                sha256 = object_sha256(agents[:1] if kind == "object" else agents)
        except UnidentifiedError as error:
            warning = (
                f"agent {name!r} has no SHA-256, since it has a {error}: it is not checked that "
                "the same agent plays where a tournament goes on"
            )
        player = Player(name, kind, sha256, is_deterministic(agents[0]), agents[0].memory)
        return cls(player, None if from_here else stored or name, agents, warning)

    @property
    def is_own(self) -> bool:
        """Is it an agent of this package, which neither hangs nor exits?"""
        return is_own(self.agents[0])

    def to_send(self) -> "Entrant":
        """It for another process: less what that can make itself.

        Raises:
            ValueError: it cannot be sent.
        """
        sent = self if self.source is None else replace(self, agents=())
        try:
            cloudpickle.dumps(sent)
        except Exception as error:
            raise ValueError(
                f"agent {self.player.name!r} cannot be sent to other processes "
                f"({one_line(error)}); give it as module:factory, or play with workers=0"
            ) from error
        return sent

    def ready(self, variants: Sequence[Variant], *, deterministic: bool) -> "Entrant":
        """It with its agents for ``variants``, wherever it has been sent.

        Raises:
            ValueError: it cannot be made here, or its code is no longer what it was.
        """
        if self.agents or self.source is None:
            return self
        stored = self.source if isinstance(self.source, StoredModel) else None
        name = self.player.name
        _, agents = make_agents(name, variants, deterministic=deterministic, stored=stored)
        if is_code(self.source) and code_sha256(name, agents[0]) != self.player.sha256:
            raise ValueError(
                f"agent {name!r} is no longer what it was when the tournament began: its "
                "source, or a network that it holds, has changed meanwhile"
            )
        return replace(self, agents=agents)
