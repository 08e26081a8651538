"""Many games as one Stable-Baselines3 ``VecEnv``, each seen from one seat, opponents inside."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from war_agents.agent import Agent
from war_agents.versus.seats import SeatGames
from war_envs.arrays import integer_array
from war_envs.engine import seeding
from war_envs.engine.engine import ENGINES
from war_envs.variant import Variant, make_variant, widest
from war_train.league.league import League

# observations (num_envs, F), rewards (num_envs,), whether the game has ended (num_envs,), and infos
StepReturn = tuple[NDArray[Any], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]


class SelfPlayVecEnv(VecEnv):
    """Row i is a game against an opponent that stays the same until that game ends.

    The learner's seat changes with each game of a row, and with neighbouring rows. In Strategic War
    a step goes on through the opponents' moves to the learner's next choice. The reward is +1, -1
    or 0 for the learner, in the step after which the game is over, whoever ended it.

    Games that end are dealt anew in the same step. The info of a row whose game has ended holds:

    ========================  =====================================================================
    key                       meaning
    ========================  =====================================================================
    ``terminal_observation``  what the learner saw at the end
    ``TimeLimit.truncated``   True if only the turn limit ended the game
    ``episode``               ``r``, the learner's reward, and ``l``, the learner's choices
    ``opponent``              who it was against
    ``seat``                  where the learner sat, 0 or 1
    ``illegal_action``        the learner's illegal action, which has lost it the game; else missing
    ========================  =====================================================================

    Masks are there for sb3-contrib (``env_method("action_masks")``) and as an array
    (`action_masks`). An illegal action loses the game at once. They are always those of running
    games, never of one that is over, since that is dealt anew in the same step.

    Args:
        game: ``"attack-defence"`` or ``"strategic-war"``.
        num_envs: games at once.
        variant: a variant's name, a variant, or several: row i then plays ``variant[i % V]``, and
            observations have slots for the largest deck.
        opponents: shares of opponents by name, or a `League`.
        encoding, memory: what the learner observes.
        seed: fixes deals and opponents; None takes fresh entropy.
        options: fields of the variant: ``minimal=True``, ...
    """

    render_mode = None

    def __init__(
        self,
        game: str,
        num_envs: int,
        variant: str | Variant | Sequence[Variant] = "standard",
        *,
        opponents: Mapping[str, float] | League,
        encoding: str = "vector",
        memory: str = "perfect",
        seed: int | None = None,
        **options: Any,
    ) -> None:
        given = variant if not isinstance(variant, str | Variant) else (variant,)
        self.variants = tuple(make_variant(game, one, **options) for one in given)
        self.league = (
            opponents if isinstance(opponents, League) else League(self.variants, opponents)
        )
        self._games = SeatGames(
            self.variants, num_envs, self.league, encoding=encoding, memory=memory
        )
        self._seed: int | None = seeding.checked_seed(seed)
        self._has_reset = False
        self._actions: NDArray[np.int64] | None = None
        self._results = np.zeros((len(self.league.names), 3), np.int64)
        engine, every = ENGINES[self.variants[0].game], widest(self.variants)
        super().__init__(
            num_envs,
            engine.layout.space(encoding, every.deck_size, every.num_later_modes),
            spaces.Discrete(engine.num_actions),
        )

    @property
    def opponents(self) -> NDArray[np.int64]:
        """int64 (num_envs,): the number in the league of each row's opponent now; a copy."""
        return self._games.opponents.copy()

    @property
    def seats(self) -> NDArray[np.int64]:
        """int64 (num_envs,): the learner's seat in each row now; a copy."""
        return self._games.seats.copy()

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Fixes what the next `reset` deals; each row has a stream of its own."""
        self._seed = seeding.checked_seed(seed)
        return [self._seed] * self.num_envs

    def set_options(self, options: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        """There are no options of a reset.

        Raises:
            ValueError: any are given.
        """
        if any(options if isinstance(options, list) else [options]):
            raise ValueError(f"options={options!r} is not allowed; there are none")

    def reset(self) -> NDArray[Any]:
        """Deals all games anew, from the seed if `seed` has been called, else going on."""
        if self._seed is not None:
            self._games.reset(self._seed)
            self._seed = None
        else:
            self._games.deal_again()
        self._has_reset = True
        self._actions = None
        return self._games.observe()

    def action_masks(self) -> NDArray[np.int8]:
        """The learner's masks, int8 (num_envs, A), in an array of the caller's own."""
        return self._games.mask.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Takes the learner's actions, integers (num_envs,).

        Raises:
            ValueError: another shape or dtype, or numbers of no action; nothing has changed then.
            RuntimeError: there has been no `reset`.
        """
        if not self._has_reset:
            raise RuntimeError("no game has been dealt yet: call reset() first")
        given = integer_array("actions", actions, (self.num_envs,))
        highest = len(self._games.mask[0]) - 1
        if given.min() < 0 or given.max() > highest:
            raise ValueError(f"actions must lie in 0 to {highest}")
        self._actions = given.astype(np.int64)

    def step(self, actions: NDArray[Any]) -> StepReturn:
        """Plays the learner's actions, integers (num_envs,); see the class for what comes back."""
        self.step_async(actions)
        return self.step_wait()

    def step_wait(self) -> StepReturn:
        """Plays the actions that `step_async` took.

        Raises:
            OpponentFailedError: an opponent has failed; all games must be dealt anew then.
            RuntimeError: there are none, or an opponent has failed since the last `reset`.
        """
        if self._actions is None:
            raise RuntimeError("no actions have been given: call step_async() first")
        actions, self._actions = self._actions, None
        ended = self._games.step(actions)
        rewards = np.zeros(self.num_envs, np.float32)
        dones = np.zeros(self.num_envs, np.bool_)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        rewards[ended.rows] = ended.reward
        dones[ended.rows] = True
        self.league.book(ended.opponents, ended.reward)
        shares = self.league.share_of(ended.opponents)
        np.add.at(self._results, (shares, 1 - ended.reward), 1)
        for k, row in enumerate(ended.rows.tolist()):
            infos[row] |= {
                "terminal_observation": ended.observation[k],
                "TimeLimit.truncated": bool(ended.truncated[k]),
                "episode": {"r": float(ended.reward[k]), "l": int(ended.lengths[k])},
                "opponent": self.league.names[shares[k]],
                "seat": int(ended.seats[k]),
            }
            if ended.illegal[k] >= 0:
                infos[row]["illegal_action"] = int(ended.illegal[k])
        return self._games.observe(), rewards, dones, infos

    def choices_of(self, agents: Sequence[Agent]) -> NDArray[np.int64]:
        """What ``agents``, one for each variant, would choose in the learner's place now.

        Returns:
            int64 (num_envs,); nothing changes.
        """
        return self._games.choices_of(agents)

    def observe(self) -> NDArray[Any]:
        """What the learner observes now, (num_envs, F), in an array of the caller's own."""
        return self._games.observe()

    def get_state(self) -> dict[str, NDArray[Any]]:
        """All that the games to come depend on, in copies; who the opponents are is not in it.

        Raises:
            RuntimeError: there has been no `reset`.
        """
        if not self._has_reset:
            raise RuntimeError("no game has been dealt yet: call reset() first")
        return {**self._games.get_state(), "results": self._results.copy()}

    def set_state(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Goes on from what `get_state` gave, with arrays of the same shapes and dtypes.

        Raises:
            ValueError: games that cannot be, or opponents that are not in the league.
        """
        unknown = set(state["opponents"].tolist()) - set(self.league.numbers)
        if unknown:
            raise ValueError(f"state: opponents {sorted(unknown)} are not in the league")
        self._games.set_state(state)
        self._results = state["results"].copy()
        self._has_reset, self._seed, self._actions = True, None, None

    def take_results(self) -> dict[str, tuple[int, int, int]]:
        """The learner's wins, draws and losses by opponent since the last call."""
        results = {
            name: (int(won), int(drawn), int(lost))
            for name, (won, drawn, lost) in zip(self.league.names, self._results, strict=True)
        }
        self._results[:] = 0
        return results

    def close(self) -> None:
        """Ends the engine's threads; may be called twice."""
        self._games.close()

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of this class, once for each row asked for.

        Raises:
            AttributeError: there is none of that name.
        """
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Rows have no attributes of their own.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{attr_name!r} cannot be set: rows have no attributes of their own")

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """``action_masks``: the mask of each row asked for.

        Raises:
            AttributeError: any other method.
        """
        if method_name != "action_masks":
            raise AttributeError(f"{method_name!r} is no method of a row; action_masks is")
        masks = self.action_masks()
        return list(masks) if indices is None else [masks[i] for i in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Any], indices: VecEnvIndices = None) -> list[bool]:
        """Rows are not wrapped."""
        return [False for _ in self._get_indices(indices)]
