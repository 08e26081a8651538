"""A zip for ``sb3_contrib.MaskablePPO.load``.

Such zips hold pickles: whoever loads one runs what is in it. Nothing here loads any but those it
has just written itself.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.type_aliases import Schedule

from war_agents.networks.card_network import NetworkShape
from war_agents.networks.policy import TorchPolicy
from war_envs.registration import gymnasium_id
from war_envs.variant import Variant, make_variant
from war_train.ppo.policy import CardPolicy


class ExportedPolicy(CardPolicy):
    """A `CardPolicy` made from plain values, so that ``MaskablePPO.load`` can make it.

    It samples with torch's global generator, as SB3's own policies do.

    Args:
        game, variant: what the network is built for: a game, and the options of a variant. The
            observation space may be that of a variant with fewer cards.
        network: its sizes.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        game: str,
        variant: Mapping[str, Any],
        network: Mapping[str, int],
        **kwargs: Any,
    ) -> None:
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            variant=make_variant(game, **variant),
            shape=NetworkShape(**network),
            generator=torch.default_generator,
            **kwargs,
        )


def content(policy: TorchPolicy, variant: Variant) -> bytes:
    """The file of a MaskablePPO with the network of ``policy``, for games of ``variant``."""
    env = gymnasium.make(
        gymnasium_id(variant.game, "standard"),
        opponent="random",
        encoding=policy.encoding,
        memory=policy.memory,
        **variant.options,
    )
    with _global_draws_undone():
        model = MaskablePPO(
            ExportedPolicy,
            env,
            policy_kwargs={
                "game": variant.game,
                "variant": policy.network.variant.options,
                "network": dict(vars(policy.network.shape)),
            },
            device="cpu",
        )
    exported: Any = model.policy
    exported.network.load_state_dict(policy.network.state_dict())
    file = io.BytesIO()
    model.save(file)
    env.close()
    return file.getvalue()


def read(file: Path) -> Any:
    """What the file just written from `content` computes: arrays in, an array out."""
    with _global_draws_undone():
        model = MaskablePPO.load(file, device="cpu")  # noqa: TID251 - just written
    policy: Any = model.policy
    policy.set_training_mode(False)

    def probabilities(tokens: NDArray[np.uint8], mask: NDArray[np.int8]) -> NDArray[np.float32]:
        with torch.no_grad():
            observation, _ = policy.obs_to_tensor(tokens)
            distribution = policy.get_distribution(observation, action_masks=mask)
            result: NDArray[np.float32] = distribution.distribution.probs.numpy()
        return result

    return probabilities


def _global_draws_undone() -> Any:
    """Torch's global generator is afterwards as before."""
    return torch.random.fork_rng(devices=[])
