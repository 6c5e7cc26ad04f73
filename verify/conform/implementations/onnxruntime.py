"""ONNX Runtime: the standard's operators, on its CPU provider."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
from onnx import TensorProto

from verify.conform.implementations.implementation import by_function, implementation
from verify.conform.implementations.onnx_model import one_node


def session(model: Any) -> Any:
    """Return the model, ready to run on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def batch_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator in training."""
    mean, variance = np.zeros_like(gamma), np.ones_like(gamma)
    inputs = {"x": x, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    outputs = ("z", "new_mean", "new_variance")
    model = one_node("BatchNormalization", 15, inputs, outputs, epsilon=eps, training_mode=1)
    return session(model).run(["z"], inputs)[0]


def batch_normalization_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, ...]:
    """Evaluate the operator in training, with its running statistics."""
    inputs = {"x": x, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    outputs = ("z", "new_mean", "new_variance")
    model = one_node(
        "BatchNormalization", 15, inputs, outputs, epsilon=eps, momentum=momentum, training_mode=1
    )
    return tuple(session(model).run(list(outputs), inputs))


def batch_normalization_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Evaluate the operator in inference."""
    inputs = {"x": x, "gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    model = one_node("BatchNormalization", 15, inputs, epsilon=eps)
    return session(model).run(["z"], inputs)[0]


def layer_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator on the last axis."""
    inputs = {"x": x, "gamma": gamma, "beta": beta}
    model = one_node("LayerNormalization", 17, inputs, axis=-1, epsilon=eps)
    return session(model).run(["z"], inputs)[0]


def group_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator with two groups."""
    inputs = {"x": x, "gamma": gamma, "beta": beta}
    stash = TensorProto.DOUBLE if x.dtype == np.float64 else TensorProto.FLOAT
    model = one_node("GroupNormalization", 21, inputs, num_groups=2, epsilon=eps, stash_type=stash)
    return session(model).run(["z"], inputs)[0]


def instance_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator."""
    inputs = {"x": x, "gamma": gamma, "beta": beta}
    model = one_node("InstanceNormalization", 6, inputs, epsilon=eps)
    return session(model).run(["z"], inputs)[0]


def rms_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Evaluate the operator on the last axis; it has no beta."""
    inputs = {"x": x, "gamma": gamma}
    model = one_node("RMSNormalization", 23, inputs, axis=-1, epsilon=eps)
    z = session(model).run(["z"], inputs)[0]
    return z if beta is None else z + beta


def _runtime(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(
        f"onnxruntime {name}",
        layer,
        distribution="onnxruntime",
        like="onnx",
        eps_is_single=True,
        **parts,
    )


MAPS = {"layouts": ("NCL", "NCHW")}
ADAPTER = "onnxruntime"
IMPLEMENTATIONS = by_function(
    _runtime(
        "BatchNormalization-15",
        batch_normalization,
        train=batch_normalization_step,
        evaluate=batch_normalization_evaluated,
        layouts=("NC", "NCL", "NCHW"),
    ),
    _runtime("LayerNormalization-17", layer_normalization, family="layer"),
    _runtime("GroupNormalization-21", group_normalization, family="group", groups=2, **MAPS),
    _runtime(
        "InstanceNormalization-6",
        instance_normalization,
        family="instance",
        dtypes=("float32",),
        **MAPS,
    ),
    _runtime("RMSNormalization-23", rms_normalization, family="rms"),
)
