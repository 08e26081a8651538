"""From a run to its `RunState`, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from war_agents.networks.card_network import CardNetwork
from war_train.config import TrainConfig
from war_train.ppo.learner import MOMENTS, SelfPlayPPO, weights
from war_train.run.state import RunState
from war_train.vec_env import SelfPlayVecEnv


def capture(model: SelfPlayPPO, env: SelfPlayVecEnv, entries: Mapping[str, Any]) -> RunState:
    """Where a run stands between two updates: copies, but for the league's networks, which stay."""
    arrays = {name: array.copy() for name, array in model.learned().items()}
    for number, network in env.league.networks.items():
        arrays |= weights(f"league/{number}", network)
    arrays |= {f"games/{name}": array for name, array in env.get_state().items()}
    arrays["draws"] = model.policy.draws.get_state().numpy()
    arrays["starts"] = np.array(model.last_episode_starts)
    return RunState(
        arrays,
        {
            "steps": model.num_timesteps,
            "updates": model.updates,
            "minibatches": model.minibatches.bit_generator.state,
            "league": env.league.get_state(),
            **entries,
        },
    )


def restore(state: RunState, config: TrainConfig, model: SelfPlayPPO, env: SelfPlayVecEnv) -> None:
    """Puts a new run where another stood.

    Raises:
        ValueError: the state is not that of a run with these settings.
    """
    network = model.policy.network
    _set_weights(state, "network", network)
    _set_moments(state, model.policy.optimizer)
    if model.policy.average is not None:
        _set_weights(state, "average", model.policy.average)
    others = {}
    for number in sorted({_number(name) for name in state.arrays if name.startswith("league/")}):
        others[number] = CardNetwork(config.variant, network.shape)
        _set_weights(state, f"league/{number}", others[number])
    env.league.set_state(state.entries.get("league"), others)
    env.set_state(
        {name: state.array(f"games/{name}", now) for name, now in env.get_state().items()}
    )
    draws = model.policy.draws
    words = state.array("draws", draws.get_state().numpy())
    try:
        draws.set_state(torch.from_numpy(words.copy()))
        model.minibatches.bit_generator.state = state.entries["minibatches"]
    except (KeyError, TypeError, ValueError, OverflowError, RuntimeError) as error:
        raise ValueError("draws or minibatches is no state of a generator") from error
    starts = state.array("starts", np.zeros(env.num_envs, np.bool_))
    model.go_on(state.count("steps"), state.count("updates"), env.observe(), starts)


def best_network(state: RunState, config: TrainConfig) -> CardNetwork:
    """The network that is a run's model: the average of the weights if there is one, else the last.

    Raises:
        ValueError: the state has none of this shape.
    """
    network = CardNetwork(config.variant, config.shape)
    _set_weights(state, "average" if config.average else "network", network)
    return network


def _set_weights(state: RunState, name: str, network: CardNetwork) -> None:
    with torch.no_grad():
        for key, value in network.state_dict().items():
            value.copy_(torch.from_numpy(state.array(f"{name}/{key}", value.numpy()).copy()))


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


def _number(name: str) -> int:
    """The number of the opponent whose array this is."""
    number = name.split("/")[1]
    if not number.isascii() or not number.isdigit():
        raise ValueError(f"{name} is of no opponent")
    return int(number)
