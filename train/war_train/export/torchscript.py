"""A TorchScript module, for ``torch.jit.load``."""

import io
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from war_agents.networks.card_network import from_numpy
from war_agents.networks.policy import TorchPolicy
from war_envs.variant import Variant
from war_train.export.module import PolicyModule


def content(policy: TorchPolicy, variant: Variant) -> bytes:
    """The file that computes the probabilities of ``policy`` for the deck of ``variant``."""
    module, file = PolicyModule(policy, variant), io.BytesIO()
    with torch.no_grad(), _no_warnings():
        torch.jit.save(torch.jit.trace(module, module.example()), file)  # type: ignore[no-untyped-call]
    return _without_paths(file.getvalue())


def read(file: Path) -> Any:
    """What a file written from `content` computes: arrays in, an array out."""
    with _no_warnings():
        module: Any = torch.jit.load(file)  # type: ignore[no-untyped-call]  # noqa: TID251 - just written

    def probabilities(tokens: NDArray[np.uint8], mask: NDArray[np.int8]) -> NDArray[np.float32]:
        with torch.no_grad():
            result: NDArray[np.float32] = module(from_numpy(tokens), from_numpy(mask)).numpy()
        return result

    return probabilities


def _without_paths(data: bytes) -> bytes:
    """A TorchScript archive without the source lines it came from, which name this machine's files.

    They only serve error messages.
    """
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(result, "w") as new:
        for entry in old.infolist():
            if not entry.filename.endswith(".debug_pkl"):
                new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry))
    return result.getvalue()


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Without torch's own: that TorchScript is deprecated, and that the deck's size is fixed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
