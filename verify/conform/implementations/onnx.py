"""ONNX: its operators, through the standard's own reference evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from verify.conform.implementations.implementation import by_function, implementation
from verify.conform.implementations.onnx_model import one_node


def batch_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator in training."""
    mean, variance = np.zeros_like(gamma), np.ones_like(gamma)
    inputs = {"x": x, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    outputs = ("z", "new_mean", "new_variance")
    model = one_node("BatchNormalization", 15, inputs, outputs, epsilon=eps, training_mode=1)
    return ReferenceEvaluator(model).run(["z"], inputs)[0]


def batch_normalization_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, ...]:
    """Evaluate the operator in training, with its running statistics."""
    inputs = {"x": x, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    outputs = ("z", "new_mean", "new_variance")
    model = one_node(
        "BatchNormalization", 15, inputs, outputs, epsilon=eps, momentum=momentum, training_mode=1
    )
    return tuple(ReferenceEvaluator(model).run(list(outputs), inputs))


def batch_normalization_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Evaluate the operator in inference."""
    inputs = {"x": x, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    model = one_node("BatchNormalization", 15, inputs, epsilon=eps)
    return ReferenceEvaluator(model).run(["z"], inputs)[0]


def layer_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator on the last axis."""
    inputs = {"x": x, "gamma": gamma, "beta": beta}
    model = one_node("LayerNormalization", 17, inputs, axis=-1, epsilon=eps)
    return ReferenceEvaluator(model).run(["z"], inputs)[0]


def group_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator with two groups."""
    inputs = {"x": x, "gamma": gamma, "beta": beta}
    stash = TensorProto.DOUBLE if x.dtype == np.float64 else TensorProto.FLOAT
    model = one_node("GroupNormalization", 21, inputs, num_groups=2, epsilon=eps, stash_type=stash)
    return ReferenceEvaluator(model).run(["z"], inputs)[0]


def instance_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator."""
    inputs = {"x": x, "gamma": gamma, "beta": beta}
    model = one_node("InstanceNormalization", 22, inputs, epsilon=eps)
    return ReferenceEvaluator(model).run(["z"], inputs)[0]


def rms_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator on the last axis; it has no beta."""
    inputs = {"x": x, "gamma": gamma}
    model = one_node("RMSNormalization", 23, inputs, axis=-1, epsilon=eps)
    z = ReferenceEvaluator(model).run(["z"], inputs)[0]
    return z if beta is None else z + beta


def _onnx(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(
        f"ONNX {name}", layer, distribution="onnx", like="onnx", eps_is_single=True, **parts
    )


MAPS = {"layouts": ("NCL", "NCHW")}
ADAPTER = "onnx"
IMPLEMENTATIONS = by_function(
    _onnx(
        "BatchNormalization-15",
        batch_normalization,
        train=batch_normalization_step,
        evaluate=batch_normalization_evaluated,
        layouts=("NC", "NCL", "NCHW"),
    ),
    _onnx("LayerNormalization-17", layer_normalization, family="layer"),
    _onnx("GroupNormalization-21", group_normalization, family="group", groups=2, **MAPS),
    _onnx("InstanceNormalization-22", instance_normalization, family="instance", **MAPS),
    _onnx("RMSNormalization-23", rms_normalization, family="rms"),
)
