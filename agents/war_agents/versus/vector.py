"""One seat of many games against an agent, as a Gymnasium vector environment on the batch engine.

>>> import gymnasium, war_envs
>>> envs = gymnasium.make_vec("war_envs/AttackDefence-v0", num_envs=4096, opponent="memory")
>>> observations, infos = envs.reset(seed=7)
>>> actions = infos["action_mask"].argmax(axis=1)  # any legal ones
>>> observations, rewards, terminations, truncations, infos = envs.step(actions)
"""

import copy
from pathlib import Path
from typing import Any, Self

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from war_agents.agent import Agent
from war_agents.versus.masks import MaskPlace, MaskShown, Shown
from war_agents.versus.opponent import checked_agent
from war_agents.versus.opponents import OneOpponent
from war_agents.versus.rules import variant_of
from war_agents.versus.saved import Kind, dumped_games, parsed_games
from war_agents.versus.seat_draw import checked_seat
from war_agents.versus.seats import Ended, SeatGames
from war_envs.arrays import integer_array
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.engine.layout import EncodingName, MemoryName
from war_envs.envs.reset_options import known_options
from war_envs.messages import shown
from war_envs.variant import integer

Infos = dict[str, Any]
MAX_ENVS = 1_000_000


class VersusVectorEnv(VectorEnv[Shown, NDArray[np.int64], NDArray[Any]]):
    """``num_envs`` games of a player against one agent, which answers for all games in one call.

    *Observations* (N, F), *rewards* float64 (N,), *terminations* and *truncations* bool (N,) are
    what `war_agents.versus.VersusEnv` gives for one game, in arrays of the caller's own. A choice
    that is not legal loses its game: reward -1, terminated.

    *Autoreset* is Gymnasium's, in the mode that ``autoreset_mode`` names:

    ============  =================================================================================
    ``SameStep``  when a game ends, the observation is already that of the next deal; the true end
                  is in the infos
    ``NextStep``  the observation is that of the end, and the next step deals anew: its action is
                  ignored, its reward 0
    ``Disabled``  the game stays over, and a step is refused, until it is dealt anew by
                  ``reset(options={"reset_mask": terminations | truncations})``
    ============  =================================================================================

    *Masks* of games that are over are all 1: nothing is left to choose, and a policy that is asked
    all the same does not fail.

    *Infos.* Each key comes with ``_key``, bool (N,), which rows have it:

    ===============  ==============================================================================
    ``action_mask``  int8 (N, A), the legal actions now, all 1 where a game is over
    ``seat``         int64 (N,), the player's seat now
    ``ending`` ...   int64 (N,), the numbers of the single environment's info
    ``final_obs``    object (N,), what the player saw at the end of a game that ended in this step;
                     same-step autoreset only, as is the next
    ``final_info``   the info at their end: all keys but these two
    ===============  ==============================================================================

    *Randomness.* ``reset(seed=s)`` deals row i from (s, lane i), as `war_envs.batch` does; row 0
    is what the single environments deal from s. ``reset()`` goes on.

    Args:
        game: ``"attack-defence"`` or ``"strategic-war"``.
        num_envs: games at once, 1 to 1,000,000.
        opponent: an agent, a registered name, a run folder or a model file; it must not keep a
            state.
        seat: 0 or 1, or an agent's name; None gives the player both in turn.
        encoding, memory: what the player observes.
        mask: ``"observation"`` makes observations dicts of ``observation`` and ``action_mask``; it
            is in the infos either way.
        autoreset_mode: a `gymnasium.vector.AutoresetMode`, or its value.
        render_mode: None; a single environment draws.
        rules: ``minimal``, ``fair``, ``open_cards``, ``num_ranks``, ``max_turns`` and, in Attack
            and Defence, ``own_card``, as for the PettingZoo environments.

    Attributes:
        autoreset_mode: the mode, also in ``metadata``.
        variant, opponent: the rules that are played, and the agent in the other seat.

    Raises:
        ValueError: an argument that is not allowed.
    """

    def __init__(
        self,
        game: str,
        num_envs: int = 1,
        *,
        opponent: str | Path | Agent = "random",
        seat: int | str | None = None,
        encoding: EncodingName = "vector",
        memory: MemoryName = "perfect",
        mask: MaskPlace = "info",
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: None = None,
        **rules: Any,
    ) -> None:
        if render_mode is not None:
            raise ValueError(f"render_mode={shown(render_mode)} is not allowed; it must be None")
        self.num_envs = integer("num_envs", num_envs, 1, MAX_ENVS)
        self.variant = variant_of(VersusVectorEnv, game, rules)
        self.opponent = checked_agent(opponent, self.variant)
        self.autoreset_mode = _checked_mode(autoreset_mode)
        self._seat = checked_seat(seat)
        self._games = SeatGames(
            self.variant,
            self.num_envs,
            OneOpponent(self.opponent),
            seat=self._seat,
            encoding=encoding,
            memory=memory,
            autoreset=self.autoreset_mode is AutoresetMode.SAME_STEP,
        )
        engine = ENGINES[self.variant.game]
        alone = engine.layout.space(encoding, self.variant.deck_size, self.variant.num_later_modes)
        self._mask_shown = MaskShown(mask, alone, engine.num_actions)
        self.single_observation_space = self._mask_shown.space
        self.single_action_space = spaces.Discrete(engine.num_actions)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.render_mode = None
        self._has_reset = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Shown, Infos]:
        """Deals all games, or some of them.

        Args:
            seed: 0 to 2**63 - 1; None goes on (from fresh entropy the first time).
            options: ``reset_mask``: bool (N,), which games are dealt, at least one; the others
                stay as they are.

        Returns:
            Observations and infos of all games.

        Raises:
            ValueError: a bad seed or option; nothing has changed then.
            RuntimeError: a ``reset_mask`` where no game has been dealt, or where the opponent has
                failed: all games must be dealt then.
        """
        mask = _checked_reset_mask(options, self.num_envs)
        if mask is not None:
            self._require_reset()
        if seed is not None or not self._has_reset:
            seed = seeding.checked_seed(seed)
        if mask is not None:
            self._games.deal(np.flatnonzero(mask), seed)
        elif seed is not None:
            self._games.reset(seed)
        else:
            self._games.deal_again()
        super().reset(seed=seed)
        self._has_reset = True
        return self._shown_now()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[Shown, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], Infos]:
        """Plays the player's choices (N,), and the opponent's until it is the player's turn again.

        Raises:
            ValueError: the wrong shape, numbers outside the action space, or, without autoreset, a
                game that is over; nothing has changed then.
            OpponentFailedError: the opponent has failed; all games must be dealt anew then.
            RuntimeError: there has been no `reset`, or the opponent has failed since the last one.
        """
        self._require_reset()
        waiting = np.flatnonzero(self._games.over)
        ended = self._games.step(self._checked(actions, waiting))
        if len(waiting):
            self._games.deal(waiting)
        rewards = np.zeros(self.num_envs, np.float64)
        terminations = np.zeros(self.num_envs, np.bool_)
        truncations = np.zeros(self.num_envs, np.bool_)
        rewards[ended.rows] = ended.reward
        terminations[ended.rows] = ~ended.truncated
        truncations[ended.rows] = ended.truncated
        observations, infos = self._shown_now()
        if len(ended.rows) and self.autoreset_mode is AutoresetMode.SAME_STEP:
            infos |= self._final(ended)
        return observations, rewards, terminations, truncations, infos

    def _final(self, ended: Ended) -> Infos:
        """How games ended that have been dealt anew."""
        rows = ended.rows
        masks = np.zeros((self.num_envs, self._games.mask.shape[1]), np.int8)
        masks[rows] = 1  # nothing is left to choose
        finals = np.empty(self.num_envs, object)  # None everywhere
        ends = self._mask_shown.each_shown(ended.observation, masks[rows])
        for row, end in zip(rows.tolist(), ends, strict=True):
            finals[row] = end
        facts = np.zeros((ended.facts.shape[1], self.num_envs), np.int64)
        facts[:, rows] = ended.facts.T
        seats = np.zeros(self.num_envs, np.int64)
        seats[rows] = ended.seats
        final_info = self._info(facts, seats, masks, rows)
        return self._of_rows({"final_obs": finals, "final_info": final_info}, rows)

    def clone(self) -> Self:
        """An independent copy, opponent included, that continues exactly as this one does."""
        return copy.deepcopy(self)

    __copy__ = clone  # a shallow copy would share the games

    def get_state(self) -> bytes:
        """The state of all games, as JSON in bytes: plain data, which `set_state` checks.

        The opponent is not in it; it keeps nothing here.

        Raises:
            RuntimeError: there has been no `reset`, or the opponent has failed since the last one.
        """
        self._require_reset()
        return dumped_games(self._kind, self._games.get_state())

    def set_state(self, state: bytes) -> None:
        """Continues from a state that `get_state` gave, there or in another process.

        It must be one of the same game, variant, ``num_envs``, ``seat``, opponent and autoreset.

        Raises:
            ValueError: it is not such a state; nothing has changed then.
        """
        games = parsed_games(state, self._kind)
        if np.any(games.get("opponents")):
            raise ValueError("state: opponents is not 0 everywhere; there is one opponent")
        self._games.set_state(games)
        self._games.observe()  # the masks
        self._has_reset = True

    @property
    def _kind(self) -> Kind:
        return {
            "game": self.variant.game,
            "variant": self.variant.options,
            "num_envs": self.num_envs,
            "seat": self._seat,
            "opponent": self.opponent.name,
            "autoreset_mode": self.autoreset_mode.value,
        }

    def action_masks(self) -> NDArray[np.int8]:
        """The legal actions now: int8 (N, A), 1 for each."""
        return self._games.mask.copy()

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the engine's threads."""
        if hasattr(self, "_games"):  # older Gymnasiums close what a wrong argument left half made
            self._games.close()

    def _require_reset(self) -> None:
        if not self._has_reset:
            raise RuntimeError("no game has been dealt yet: call reset() first")

    def _shown_now(self) -> tuple[Shown, Infos]:
        """Observations and infos of all games."""
        games = self._games
        facts = games.facts()  # first: large observations drive the games out of the cache
        observations = games.observe()
        infos = self._info(facts, games.seats.copy(), games.mask.copy(), slice(None))
        return self._mask_shown.shown(observations, games.mask), infos

    def _info(
        self, facts: NDArray[np.int64], seats: NDArray[np.int64], masks: NDArray[np.int8], rows: Any
    ) -> Infos:
        """An info for each of ``rows``, of arrays for all."""
        keys = ENGINES[self.variant.game].info_keys
        values = dict(zip(keys, facts, strict=True)) | {"seat": seats, "action_mask": masks}
        return self._of_rows(values, rows)

    def _of_rows(self, values: Infos, rows: Any) -> Infos:
        """``values`` under their names, and under ``_name`` which rows have them."""
        masks = np.zeros((len(values), self.num_envs), np.bool_)
        masks[:, rows] = True
        infos: Infos = {}
        for (name, value), mask in zip(values.items(), masks, strict=True):
            infos[name], infos[f"_{name}"] = value, mask
        return infos

    def _checked(self, actions: object, waiting: NDArray[np.int64]) -> NDArray[np.int64]:
        """``actions``, whatever they are for the games that wait to be dealt anew."""
        given = integer_array("actions", actions, (self.num_envs,))
        highest = self._games.mask.shape[1] - 1
        if len(waiting) and self.autoreset_mode is AutoresetMode.DISABLED:
            raise ValueError(
                f"actions: the games of rows {shown(waiting.tolist())} are over; deal them anew "
                'with reset(options={"reset_mask": ...})'
            )
        played = given.astype(np.int64)
        if len(waiting):
            played[waiting] = 0
        if played.min() < 0 or played.max() > highest:
            raise ValueError(f"actions must lie in 0 to {highest}")
        return played


def _checked_mode(mode: object) -> AutoresetMode:
    """An autoreset mode, given as a member or by its value."""
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(known.value for known in AutoresetMode)
        raise ValueError(
            f"autoreset_mode={shown(mode)} is not allowed; choose from {names}"
        ) from None


def _checked_reset_mask(options: object, number: int) -> NDArray[np.bool_] | None:
    """The ``reset_mask`` of ``options``; None if there is none."""
    if isinstance(options, dict):
        for option in {"hands", "first_attacker"} & set(options):
            raise ValueError(f"option {option!r} is for single environments only")
    known = known_options(options, ("reset_mask",))
    if not known:
        return None
    mask = known["reset_mask"]
    if not isinstance(mask, np.ndarray) or mask.shape != (number,) or mask.dtype != np.bool_:
        raise ValueError(f"reset_mask={shown(mask)} is not allowed; it must be bool ({number},)")
    if not mask.any():
        raise ValueError(f"reset_mask={shown(mask)} is not allowed; at least one must be True")
    return mask


def attack_defence(num_envs: int = 1, **options: Any) -> VersusVectorEnv:
    """A `VersusVectorEnv` of War of Attack and Defence: what ``gymnasium.make_vec`` makes."""
    return _of_game("attack-defence", num_envs, options)


def strategic_war(num_envs: int = 1, **options: Any) -> VersusVectorEnv:
    """A `VersusVectorEnv` of Strategic War: what ``gymnasium.make_vec`` makes."""
    return _of_game("strategic-war", num_envs, options)


def _of_game(game: str, num_envs: int, options: dict[str, Any]) -> VersusVectorEnv:
    if "game" in options:
        raise ValueError(f"game={shown(options['game'])} is not allowed; this id makes {game}")
    return VersusVectorEnv(game, num_envs, **options)
