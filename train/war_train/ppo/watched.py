"""`SelfPlayPPO` as the rest of a run sees a learner: watched, saved and restored."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback, CallbackList

from war_agents.networks.card_network import CardNetwork
from war_train.ppo.callback import WatcherCallback
from war_train.ppo.learner import LOSSES, MOMENTS, SelfPlayPPO
from war_train.run.learner import Watcher
from war_train.run.networks import set_weights
from war_train.run.state import RunState
from war_train.vec_env import SelfPlayVecEnv

# What SB3 calls its figures, and what the log does.
_FIGURES: Final = {
    **LOSSES,
    "train/entropy": "entropy",
    "train/approx_kl": "approx_kl",
    "train/clip_fraction": "clip_fraction",
    "train/explained_variance": "explained_variance",
    "train/learning_rate": "learning_rate",
}


class PPOLearner:
    """A learner and its games, see `war_train.run.learner.Learner`.

    Args:
        model: what learns.
        env: its games.
        callbacks: called at every step, before the watcher.
    """

    def __init__(
        self, model: SelfPlayPPO, env: SelfPlayVecEnv, callbacks: Sequence[BaseCallback]
    ) -> None:
        self._model = model
        self._env = env
        self._callbacks = callbacks

    @property
    def steps(self) -> int:
        """Decisions that it has taken so far, over all games."""
        return self._model.num_timesteps

    @property
    def network(self) -> CardNetwork:
        """What it plays with, and goes on changing."""
        return self._model.policy.network

    @property
    def best(self) -> CardNetwork:
        """The average of the weights if there is one, else the last."""
        return self._model.best

    def learn(self, steps: int, watcher: Watcher) -> None:
        """Takes ``steps`` more decisions, rounded up to whole updates, and learns from them.

        Raises:
            TrainingDivergedError: a loss or anything learned is not finite.
        """
        self._model.learn(
            steps,
            CallbackList([*self._callbacks, WatcherCallback(watcher)]),
            log_interval=None,  # type: ignore[arg-type]
            reset_num_timesteps=False,  # where it has just begun, they are 0 and games are dealt
        )

    def take_figures(self) -> dict[str, float]:
        """What the last update says of itself, by the names of the log; empty the next time."""
        logger = self._model.logger
        figures = {
            name: float(logger.name_to_value[key])
            for key, name in _FIGURES.items()
            if key in logger.name_to_value
        }
        logger.dump(self.steps)  # forgets them
        return figures

    def require_finite(self) -> None:
        """Refuses losses or anything learned that is not finite.

        Raises:
            TrainingDivergedError: naming the step and what it is.
        """
        self._model.require_finite()

    def get_state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Between two updates: arrays and JSON with all that it goes on from, but for its games."""
        model = self._model
        arrays = {name: array.copy() for name, array in model.learned().items()}
        arrays["draws"] = model.policy.draws.get_state().numpy()
        arrays["starts"] = np.array(model.last_episode_starts)
        minibatches = model.minibatches.bit_generator.state
        return arrays, {"updates": model.updates, "minibatches": minibatches}

    def set_state(self, state: RunState) -> None:
        """Goes on from what `get_state` gave; its games must stand where they did.

        Raises:
            ValueError: the state is not that of such a learner.
        """
        model, policy = self._model, self._model.policy
        set_weights(state, "network", policy.network)
        _set_moments(state, policy.optimizer)
        if policy.average is not None:
            set_weights(state, "average", policy.average)
        words = state.array("draws", policy.draws.get_state().numpy())
        try:
            policy.draws.set_state(torch.from_numpy(words.copy()))
            model.minibatches.bit_generator.state = state.entries["minibatches"]
        except (KeyError, TypeError, ValueError, OverflowError, RuntimeError) as error:
            raise ValueError("draws or minibatches is no state of a generator") from error
        starts = state.array("starts", np.zeros(self._env.num_envs, np.bool_))
        model.continue_from(
            state.count("steps"), state.count("updates"), self._env.observe(), starts
        )

    def best_of(self, state: RunState) -> CardNetwork:
        """What `best` was in a state.

        Raises:
            ValueError: the state is not that of such a learner.
        """
        network = CardNetwork(self.best.variant, self.best.shape)
        set_weights(state, "network" if self._model.policy.average is None else "average", network)
        return network


def _set_moments(state: RunState, optimizer: torch.optim.Optimizer) -> None:
    """Moments for all parameters, or for none if there has been no update."""
    if not any(name.startswith("adam/") for name in state.arrays):
        return
    content = optimizer.state_dict()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for number, parameter in enumerate(parameters):
        like = {"step": np.zeros((), np.float32)}
        like |= {name: parameter.detach().numpy() for name in MOMENTS[1:]}
        content["state"][number] = {
            name: torch.from_numpy(state.array(f"adam/{number}/{name}", like[name]).copy())
            for name in MOMENTS
        }
    optimizer.load_state_dict(content)
