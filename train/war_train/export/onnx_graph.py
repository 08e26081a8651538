"""An ONNX graph, for onnxruntime and others."""

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from war_agents.networks.policy import TorchPolicy
from war_envs.variant import Variant
from war_train.export.onnx_meetings import meetings_arrays, meetings_nodes
from war_train.export.plain import plain_arrays

try:
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    raise ImportError(
        f'to="onnx" needs {error.name}, which is missing: pip install "war-envs[onnx]"'
    ) from error

OPSET: Final = 17
_IR_VERSION: Final = 8  # the oldest that has this opset, so that older runtimes read it too


def content(policy: TorchPolicy, variant: Variant) -> bytes:
    """The file that computes the probabilities of ``policy`` for the deck of ``variant``."""
    arrays = plain_arrays(policy.network, variant)
    header, actions = policy.network.header_size, len(arrays["policy_bias"])
    places, zones = len(arrays["places"]), len(arrays["zone_starts"])
    arrays |= {
        "header_at": np.arange(header),
        "cards_at": np.arange(header, header + places - zones),
        "num_places": np.array(places),
        "zero": np.array(0),
        "one": np.array(1),
        "places_axis": np.array([1]),
        "illegal": np.array(-np.inf, np.float32),
    }
    inputs, meetings = "header", []
    if policy.network.meetings is not None:
        arrays |= meetings_arrays()
        inputs = "inputs"
        meetings = [_node(kind, *names, **more) for kind, *names, more in meetings_nodes()]
    nodes = [
        _node("Gather", "tokens cards_at", "card_tokens", axis=1),
        _node("Cast", "card_tokens", "cards", to=TensorProto.INT64),
        _node("Gather", "tokens sizes_at", "size_tokens", axis=1),
        _node("Cast", "size_tokens", "sizes", to=TensorProto.INT64),
        _node("Sub", "sizes one", "lasts"),
        _node("Max", "lasts zero", "lasts_or_first"),
        _node("Add", "lasts_or_first zone_starts", "ends"),
        _node("GatherElements", "cards ends", "last_cards", axis=1),
        _node("Concat", "cards last_cards", "all_cards", axis=1),
        _node("Mul", "all_cards num_places", "blocks"),
        _node("Add", "blocks places", "rows"),
        _node("Gather", "table rows", "summands", axis=0),
        _node("ReduceSum", "summands places_axis", "sums", keepdims=0),
        _node("Gather", "tokens header_at", "header_tokens", axis=1),
        _node("Cast", "header_tokens", "header", to=TensorProto.FLOAT),
        *meetings,
        _node("Gemm", f"{inputs} inputs_weight inputs_bias", "input_units"),
        _node("Add", "sums input_units", "units"),
        _node("Relu", "units", "active_units"),
        _node("Gemm", "active_units hidden_weight hidden_bias", "hidden"),
        _node("Relu", "hidden", "active_hidden"),
        _node("Gemm", "active_hidden policy_weight policy_bias", "logits"),
        _node("Cast", "action_mask", "legal", to=TensorProto.BOOL),
        _node("Where", "legal logits illegal", "masked"),
        _node("Softmax", "masked", "probabilities", axis=1),
    ]
    width = header + places - zones
    graph = helper.make_graph(
        nodes,
        "policy",
        [
            helper.make_tensor_value_info("tokens", TensorProto.UINT8, ["batch", width]),
            helper.make_tensor_value_info("action_mask", TensorProto.INT8, ["batch", actions]),
        ],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["batch", actions])],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = helper.make_model(
        graph,
        producer_name="war-envs",
        ir_version=_IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET)],
    )
    onnx.checker.check_model(model, full_check=True)
    data: bytes = model.SerializeToString()
    return data


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


def _node(kind: str, inputs: str, output: str, **attributes: Any) -> Any:
    return helper.make_node(kind, inputs.split(), [output], **attributes)
