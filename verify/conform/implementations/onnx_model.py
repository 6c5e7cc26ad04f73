"""A model of one operator of the ONNX standard, for whichever evaluator."""

from __future__ import annotations

from typing import Any

from onnx import helper


def one_node(
    operator: str,
    opset: int,
    inputs: dict[str, Any],
    outputs: tuple[str, ...] = ("z",),
    **attributes: Any,
) -> Any:
    """Return the operator as a model, its names those of the arrays."""
    node = helper.make_node(operator, list(inputs), list(outputs), **attributes)
    kind = helper.np_dtype_to_tensor_dtype(inputs["x"].dtype)
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info(name, kind, None) for name in inputs],
        [helper.make_tensor_value_info(name, kind, None) for name in outputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
