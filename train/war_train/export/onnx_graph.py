"""An ONNX graph, for onnxruntime and others, by torch's own exporter."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray

from war_agents.networks.policy import TorchPolicy
from war_envs.variant import Variant
from war_train.export.module import PolicyModule

try:
    import onnx
    import onnxruntime

    import_module("onnxscript")  # the exporter's
except ImportError as error:
    raise ImportError(
        f'to="onnx" needs {error.name}, which is missing: pip install "war-envs[onnx]"'
    ) from error

OPSET: Final = 18  # the oldest that torch writes
_IR_VERSION: Final = 8  # the oldest that has this opset, so that older runtimes read it too


def content(policy: TorchPolicy, variant: Variant) -> bytes:
    """The file that computes the probabilities of ``policy`` for the deck of ``variant``."""
    module = PolicyModule(policy, variant)
    with torch.no_grad(), _quiet():
        program: Any = torch.onnx.export(
            module,
            module.example(),
            dynamo=True,
            opset_version=OPSET,
            input_names=["tokens", "action_mask"],
            output_names=["probabilities"],
            dynamic_shapes={"tokens": {0: "batch"}, "action_mask": {0: "batch"}},
            verbose=False,
        )
    return _plain(program.model_proto)


def read(file: Path) -> Any:
    """What a file written from `content` computes: arrays in, an array out."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        file.read_bytes(), options, providers=["CPUExecutionProvider"]
    )

    def probabilities(tokens: NDArray[np.uint8], mask: NDArray[np.int8]) -> NDArray[np.float32]:
        (result,) = session.run(["probabilities"], {"tokens": tokens, "action_mask": mask})
        return np.asarray(result, np.float32)

    return probabilities


def _plain(model: Any) -> bytes:
    """A checked model without what torch notes for itself, such as the places of source files."""
    graph = model.graph
    del graph.value_info[:]
    for part in (model, graph, *graph.node, *graph.input, *graph.output, *graph.initializer):
        del part.metadata_props[:]
    model.ir_version = _IR_VERSION
    model.producer_name = "war-envs"
    model.ClearField("producer_version")
    onnx.checker.check_model(model, full_check=True)
    data: bytes = model.SerializeToString()
    return data


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what the exporter tells those who work on it."""
    log = logging.getLogger("torch.onnx")
    before = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)
