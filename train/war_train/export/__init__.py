"""Trained policies as files for other tools.

==============  ==================================================================================
``sb3``         a zip for ``sb3_contrib.MaskablePPO.load``, where war-envs is installed; it can be
                trained further
``torchscript`` a module for ``torch.jit.load``, which needs torch and nothing else
``onnx``        an ONNX graph (opset 18), for onnxruntime and others
==============  ==================================================================================

The last two take ``tokens``, uint8 (B, F), and ``action_mask``, int8 (B, A), and give the
``probabilities`` of actions, float32 (B, A): 0 for illegal ones, NaN in a row without a legal one.
They read observations of one deck only.
"""

import importlib
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.files import write_bytes
from war_agents.models.find import find_model
from war_agents.models.model_card import Card
from war_agents.networks.policy import TorchPolicy, load_policy
from war_envs.batch import make_batch
from war_envs.engine.layout import checked_choice
from war_envs.variant import Variant
from war_train.export.usage import program
from war_train.run.surroundings import load_compiler

FORMATS: Final = {
    "sb3": "war_train.export.sb3",
    "torchscript": "war_train.export.torchscript",
    "onnx": "war_train.export.onnx_graph",
}
TOLERANCE: Final = 1e-5
_GAMES, _STEPS = 200, 50  # of the check: at least 10,000 positions

Probabilities = Callable[[NDArray[np.uint8], NDArray[np.int8]], NDArray[Any]]


def export(
    model: str | Path,
    *,
    to: str,
    out: str | Path,
    game: str | None = None,
    variant: str | None = None,
) -> Path:
    """Writes a trained policy as a file for other tools.

    The file is read back and must give the original's probabilities, within 1e-5, in thousands of
    positions of random games, before it gets its name.

    Args:
        model, game: which model, see `war_agents.models.find.find_model`.
        to: ``"sb3"``, ``"torchscript"`` or ``"onnx"``; see the module.
        out: the file to write.
        variant: the name of one of the variants that the model was trained for; None if there is
            only one.

    Returns:
        The file.

    Raises:
        ValueError: an argument that is not allowed, a damaged model, a file that is there already,
            or one that does not agree with the model.
        ImportError: ``onnx`` without its packages.
        OSError: the file cannot be written.
    """
    module: Any = importlib.import_module(FORMATS[checked_choice("to", to, tuple(FORMATS))])
    load_compiler()
    out = Path(out)
    _refuse_existing(out)
    file, card = find_model(model, game)
    chosen = _chosen(card, variant)
    policy = load_policy(file, chosen)

    def check(part: Path) -> None:
        _compare(policy, module.read(part), chosen, to)
        _refuse_existing(out)

    write_bytes(out, module.content(policy, chosen), check)
    return out


def usage(
    model: str | Path,
    *,
    to: str,
    out: str | Path,
    game: str | None = None,
    variant: str | None = None,
) -> str:
    """A Python program that uses what `export` has written, given the same arguments.

    It makes the environment that the policy reads (encoding, memory, variant) and plays with masks.

    Raises:
        ValueError: an argument that is not allowed, or a damaged model.
    """
    checked_choice("to", to, tuple(FORMATS))
    _, card = find_model(model, game)
    return program(Path(out), to=to, variant=_chosen(card, variant), memory=card.memory)


def _refuse_existing(out: Path) -> None:
    if out.exists():
        raise ValueError(f"out={str(out)!r} is there already, and is not overwritten")


def _chosen(card: Card, name: str | None) -> Variant:
    known = card.variants
    found = [variant for variant in known if name in (None, variant.name)]
    if len(found) != 1:
        names = ", ".join(dict.fromkeys(variant.name for variant in known))
        raise ValueError(f"variant={name!r} is not allowed; choose from the model's: {names}")
    return found[0]


def _compare(policy: TorchPolicy, exported: Probabilities, variant: Variant, to: str) -> None:
    """Refuses a file whose probabilities are not those of ``policy``."""
    observation, mask = _positions(variant, policy.memory)
    expected = policy.probabilities(observation, mask)
    # Several sizes of a batch, an empty one among them, so that none is built into the file.
    edges = [0, 0, 1, 8, len(mask)]
    found = np.concatenate(
        [exported(observation[a:b], mask[a:b]) for a, b in itertools.pairwise(edges)]
    )
    worst = np.abs(found - expected).max()
    if not worst <= TOLERANCE:  # so that NaN is refused too
        raise ValueError(
            f"to={to!r}: probabilities differ from the model's by {worst:.2g}, allowed are "
            f"{TOLERANCE:g}; nothing was written"
        )


def _positions(variant: Variant, memory: str) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Observations (K, F) and masks (K, A) of those who choose, in games of random moves."""
    batch = make_batch(variant.game, _GAMES, variant, memory=memory)
    batch.reset(0)
    rng = np.random.default_rng(0)
    observations, masks = [], []
    for _ in range(_STEPS):
        observation, mask = batch.observe()
        observations.append(observation.reshape(-1, observation.shape[-1]))
        masks.append(mask.reshape(-1, mask.shape[-1]))
        actions = (rng.random(mask.shape) * mask).argmax(axis=-1)
        # In Strategic War one seat moves; what is given for the other is ignored.
        batch.step(np.broadcast_to(actions.reshape(_GAMES, -1), (_GAMES, 2)))
    return np.concatenate(observations), np.concatenate(masks)
