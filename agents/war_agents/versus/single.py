"""One seat of a game against an agent, as a Gymnasium environment.

>>> import gymnasium, war_envs
>>> env = gymnasium.make("war_envs/AttackDefence-v0", opponent="memory", fair=True)
>>> observation, info = env.reset(seed=7)
>>> action = env.action_space.sample(mask=info["action_mask"])
>>> observation, reward, terminated, truncated, info = env.step(action)

Where the package has not been imported, as in a worker process that has just been spawned, name it
in the id: ``gymnasium.make("war_envs:war_envs/AttackDefence-v0")``.
"""

import copy
import json
from pathlib import Path
from typing import Any, Literal, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.versus.masks import MaskPlace, MaskShown, Shown
from war_agents.versus.opponent import Opponent
from war_agents.versus.rules import variant_of
from war_agents.versus.saved import VersusState
from war_agents.versus.seat_draw import SeatDraw
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES, Hands
from war_envs.engine.layout import EncodingName, MemoryName
from war_envs.envs.aec import TableAEC
from war_envs.envs.table import AGENTS, IllegalActionError, switch
from war_envs.games import SPECS
from war_envs.messages import shown
from war_envs.variant import Variant

Result = tuple[Shown, dict[str, Any]]


class RenderModeError(ValueError, TypeError):
    """A render mode that there is not.

    A TypeError too, because Stable-Baselines3's ``make_vec_env`` asks every environment for
    pictures and takes that, and nothing else, for "it has none".
    """


class VersusEnv(gymnasium.Env[Shown, int]):
    """A player of one of the games against an agent.

    *Observation.* What the player observes on its turn, one axis: float32 in [0, 1] or uint8. The
    documentation of the game has the index table.

    *Action.* ``Discrete(2)``, 0 ATTACK and 1 DEFEND, or ``Discrete(4)``, 0 TOP, 1 BOTTOM, 2 FIGHT
    and 3 SURRENDER. `action_masks` and ``info["action_mask"]`` say which are legal.

    *Reward.* +1 for a win, -1 for a loss, 0 for a tie or a truncated game; 0 before the end.

    *End.* Terminated when the game is over, truncated after ``max_turns`` turns. A choice of the
    action space that is not legal loses the game: reward -1, terminated.

    *Info.* A new dict each time:

    ===============  ==============================================================================
    ``action_mask``  int8 (A,), 1 for each legal action; all 1 after the end, when nothing is left
                     to choose, so that a policy that is asked all the same does not fail
    ``seat``         the player's seat, 0 or 1
    ``ending`` ...   how the game stands and what was played last: the numbers that PettingZoo's
                     infos hold, see `war_envs.attack_defence.info`, `war_envs.strategic_war.info`
    ===============  ==============================================================================

    The keys are the same at every step, and all numbers are ``numpy.int64``. Words are in
    `event` and `outcome`, and with ``info_text`` in the info, under these names.

    *Randomness.* ``reset(seed=s)`` deals what the PettingZoo environments deal from s, and begins
    the streams of the seat and of the opponent's draws; ``reset()`` goes on with all of them.

    Args:
        game: ``"attack-defence"`` or ``"strategic-war"``.
        opponent: an agent: a registered name, a run folder, a model file, or the agent itself.
        seat: 0 or ``"player_0"``, 1 or ``"player_1"``; None draws it for each game.
        encoding, memory: what the player's observations hold; the opponent has its own.
        mask: ``"observation"`` makes observations dicts of ``observation`` and ``action_mask``; it
            is in the info either way.
        render_mode: ``"ansi"`` makes ``render()`` return text.
        render_view: whose view is drawn: ``"player_0"``, ``"player_1"``, or ``"all"`` for
            everything open; None is the player's own.
        info_text: infos also say in words what happened.
        rules: ``minimal``, ``fair``, ``open_cards``, ``num_ranks``, ``max_turns`` and, in Attack
            and Defence, ``own_card``, as for the PettingZoo environments.

    Attributes:
        variant: the rules that are played.

    Raises:
        ValueError: an argument that is not allowed.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 4}

    def __init__(
        self,
        game: str,
        *,
        opponent: str | Path | Agent = "random",
        seat: int | str | None = None,
        encoding: EncodingName = "vector",
        memory: MemoryName = "perfect",
        mask: MaskPlace = "info",
        render_mode: Literal["ansi"] | None = None,
        render_view: Literal["player_0", "player_1", "all"] | None = None,
        info_text: bool = False,
        **rules: Any,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise RenderModeError(f"render_mode={shown(render_mode)} is not allowed; use 'ansi'")
        self.variant: Variant = variant_of(VersusEnv, game, rules)
        self._raw: TableAEC = SPECS[game].environments.raw_env(
            **self.variant.options,
            encoding=encoding,
            memory=memory,
            render_mode=render_mode,
            render_view="player_0" if render_view is None else render_view,
        )
        self.render_mode = render_mode
        self._info_text = switch("info_text", info_text)
        self._draw_own_view = render_view is None
        self._seats = SeatDraw(seat)
        self._opponent = Opponent(opponent, self.variant)
        alone: Any = self._raw.observation_space(AGENTS[0])
        action_space: Any = self._raw.action_space(AGENTS[0])
        self._mask_shown = MaskShown(mask, alone["observation"], int(action_space.n))
        self.observation_space = self._mask_shown.space
        self.action_space = action_space
        self._seat = 0
        self._over = False
        self._simultaneous = ENGINES[self.variant.game].simultaneous
        # What has happened since the player's last choice: the last of it, which the game can tell
        # in words itself, and what came before.
        self._told = False
        self._earlier: list[str] = []

    @property
    def opponent(self) -> Agent:
        """The agent in the other seat."""
        return self._opponent.agent

    @property
    def seat(self) -> int:
        """The seat that is played in this game, 0 or 1."""
        self._require_reset()
        return self._seat

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Result:
        """Deals a new game, and lets the opponent play until it is the player's turn.

        Args:
            seed: 0 to 2**63 - 1, fixes this game and all that follow; None goes on (from fresh
                entropy the first time).
            options: ``hands``: two sequences of card names, top first, player_0's and player_1's;
                Strategic War also takes ``first_attacker``, 0 or 1.

        Returns:
            Observation and info.

        Raises:
            ValueError: a bad seed or option; the game goes on as it was then.
            OpponentFailedError: the opponent has failed; the game has no result then.
        """
        if seed is not None or not self._raw.has_reset:
            seed = seeding.checked_seed(seed)
        self._raw.reset(seed=seed, options=options)
        super().reset(seed=seed)
        if seed is not None:
            self._seats.begin(seed)
            self._opponent.begin(seed)
        self._seat = self._seats.next()
        if self._draw_own_view:
            self._raw.render_view = AGENTS[self._seat]
        self._opponent.forget()
        self._earlier, self._told = [], False
        self._opponent_plays()
        return self._shown()

    def step(self, action: int) -> tuple[Shown, float, bool, bool, dict[str, Any]]:
        """Plays the player's choice, and the opponent's until it is the player's turn again.

        Returns:
            Observation, reward, terminated, truncated and info.

        Raises:
            ValueError: an action outside the action space, or a game that is over; nothing has
                changed then.
            OpponentFailedError: the opponent has failed; the game has no result then.
        """
        self._require_turn()
        raw, player, hidden = self._raw, AGENTS[self._seat], self._hides
        try:
            raw.step(action)
        except IllegalActionError as error:
            raw.forfeit(player, error.action)
        self._earlier, self._told = [], not hidden
        self._opponent_plays()
        observation, info = self._shown()
        if not self._over:
            return observation, 0.0, False, False, info
        ends = raw.rewards[player], raw.terminations[player], raw.truncations[player]
        return observation, *ends, info

    def action_masks(self) -> NDArray[np.int8]:
        """Which actions are legal: int8 (A,), 1 for each; all 1 after the end. For MaskablePPO."""
        return self._observe()[1]

    def render(self) -> str | None:
        """The table as text with ``render_mode="ansi"``, as ``render_view`` sees it; else None."""
        return self._raw.render()

    @property
    def hands(self) -> Hands:
        """The true hands as card names, top first: (player_0's, player_1's)."""
        return self._raw.hands

    def known(self, agent: str) -> tuple[list[bool], list[bool]]:
        """For both hands, top first: does ``agent``, of either seat, know the card there?"""
        return self._raw.known(agent)

    @property
    def event(self) -> str:
        """What has happened since the player's last choice, in words."""
        self._require_reset()
        return "; ".join(self._events)

    @property
    def outcome(self) -> str:
        """How the game ended, in words; empty while it runs."""
        self._require_reset()
        return self._raw.outcome

    def clone(self) -> Self:
        """An independent copy, opponent included, that continues exactly as this one does."""
        return copy.deepcopy(self)

    __copy__ = clone  # a shallow copy would share the game

    def get_state(self) -> bytes:
        """The whole state, as JSON in bytes: plain data, which `set_state` checks.

        The game, the streams of seat and opponent, and what the opponent remembers are in it; the
        opponent itself is not.

        Raises:
            RuntimeError: no game has been dealt yet.
            ValueError: the opponent has failed in this game, or it remembers what is no plain data.
        """
        self._require_reset()
        self._require_opponent()
        return VersusState(
            seat=self._seat,
            events=self._events,
            seats=self._seats.get_state(),
            opponent=self._opponent.get_state(),
            table=json.loads(self._raw.get_state()),
        ).dumped()

    def set_state(self, state: bytes) -> None:
        """Continues from a state that `get_state` gave, there or in another process.

        It must be one of the same game, variant, ``seat`` and opponent; how things are shown may
        differ. The wrappers of ``gymnasium.make`` know nothing of it: with them, call ``reset()``
        once before it.

        Raises:
            ValueError: it is not such a state; nothing has changed then.
        """
        saved = VersusState.parsed(state)
        seats, opponent = self._seats.at(saved.seats), self._opponent.at(saved.opponent)
        raw, player = self._raw.clone(), AGENTS[saved.seat]
        raw.set_state(json.dumps(saved.table, allow_nan=False).encode())
        if raw.agents != list(AGENTS):
            raise ValueError(f"state: agents is {shown(raw.agents)}, not {list(AGENTS)}")
        if saved.events and saved.events[-1] != raw.event:
            raise ValueError(f"state: events is {shown(saved.events)}, not what has happened")
        if not raw.over and raw.agent_selection != player:
            raise ValueError(f"state: it is the turn of {raw.agent_selection}, not of {player}")
        self._raw, self._seats, self._opponent = raw, seats, opponent
        self._seat, self._over = saved.seat, raw.over
        self._earlier, self._told = saved.events[:-1], bool(saved.events)
        if self._draw_own_view:
            self._raw.render_view = player

    def _require_reset(self) -> None:
        if not self._raw.has_reset:
            raise RuntimeError("no game has been dealt yet: call reset() first")

    def _require_turn(self) -> None:
        self._require_reset()
        if self._over:
            raise ValueError("the game is over; call reset()")
        self._require_opponent()

    def _require_opponent(self) -> None:
        if not self._over and self._raw.agent_selection != AGENTS[self._seat]:
            raise ValueError("the opponent has failed in this game; call reset()")

    def _observe(self) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """The player's observation and mask."""
        self._require_reset()
        seen = self._raw.observe(AGENTS[self._seat])
        mask = seen["action_mask"]
        if self._over:
            mask[:] = 1
        return seen["observation"], mask

    def _shown(self) -> Result:
        """Observation and info."""
        observation, mask = self._observe()
        numbers = self._raw.numbers | {"seat": self._seat}
        # NumPy's, which all libraries take; out of an array they are made at once.
        info: dict[str, Any] = dict(zip(numbers, np.array([*numbers.values()]), strict=True))
        info["action_mask"] = mask
        if self._info_text:
            info |= {"event": self.event, "outcome": self.outcome}
        return self._mask_shown.shown(observation, mask), info

    @property
    def _events(self) -> list[str]:
        """What has happened since the player's last choice, in words."""
        return [*self._earlier, self._raw.event] if self._told else []

    @property
    def _hides(self) -> bool:
        """Is the next choice hidden, so that nothing happens until the other's?"""
        return self._simultaneous and self._raw.agent_selection == AGENTS[0]

    def _opponent_plays(self) -> None:
        """Lets the opponent play until it is the player's turn or the game is over."""
        raw, player, agent = self._raw, AGENTS[self._seat], self.opponent
        while True:
            self._over = raw.over
            if self._over or raw.agent_selection == player:
                return
            seen = raw.observe(AGENTS[1 - self._seat], encoding=agent.encoding, memory=agent.memory)
            hidden = self._hides
            events = [] if hidden else self._events
            raw.step(self._opponent.choose(seen))
            if not hidden:
                self._earlier, self._told = events, True


def attack_defence(**options: Any) -> VersusEnv:
    """A `VersusEnv` of War of Attack and Defence: what the Gymnasium ids make."""
    return _of_game("attack-defence", options)


def strategic_war(**options: Any) -> VersusEnv:
    """A `VersusEnv` of Strategic War: what the Gymnasium ids make."""
    return _of_game("strategic-war", options)


def _of_game(game: str, options: dict[str, Any]) -> VersusEnv:
    if "game" in options:
        raise ValueError(f"game={shown(options['game'])} is not allowed; this id makes {game}")
    return VersusEnv(game, **options)
