"""OpenVINO: its operations, compiled for the CPU at the precision of the input."""

from __future__ import annotations

from typing import Any

import numpy as np
import openvino
from openvino import opset14

from verify.conform.implementations.implementation import by_function, implementation


def compiled(result: Any, inputs: list[Any]) -> Any:
    """Return a graph compiled for the CPU, nothing lowered to half precision."""
    model = openvino.Model([result], inputs)
    return openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})


def mean_variance_normalization(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Normalise over the batch by MVN, then scale and shift."""
    entry = opset14.parameter(x.shape, x.dtype)
    axes = np.array([axis for axis in range(x.ndim) if axis != 1])
    normalised = opset14.mvn(entry, axes, True, eps, "inside_sqrt")
    shape = (1, -1, *[1] * (x.ndim - 2))
    result = opset14.add(
        opset14.multiply(normalised, opset14.constant(gamma.reshape(shape))),
        opset14.constant(beta.reshape(shape)),
    )
    return compiled(result, [entry])(x)[0]


def batch_norm_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Call BatchNormInference with given statistics."""
    entry = opset14.parameter(x.shape, x.dtype)
    statistics = [opset14.constant(values) for values in (gamma, beta, mean, variance)]
    result = opset14.batch_norm_inference(entry, *statistics, eps)
    return compiled(result, [entry])(x)[0]


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Normalise the last axis by MVN, then scale and shift."""
    entry = opset14.parameter(x.shape, x.dtype)
    normalised = opset14.mvn(entry, np.array([-1]), True, eps, "inside_sqrt")
    result = opset14.add(
        opset14.multiply(normalised, opset14.constant(gamma)), opset14.constant(beta)
    )
    return compiled(result, [entry])(x)[0]


def group_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call GroupNormalization with two groups."""
    entry = opset14.parameter(x.shape, x.dtype)
    result = opset14.group_normalization(
        entry, opset14.constant(gamma), opset14.constant(beta), 2, eps
    )
    return compiled(result, [entry])(x)[0]


def _openvino(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(
        f"OpenVINO {name}", layer, distribution="openvino", eps_is_single=True, **parts
    )


ADAPTER = "openvino"
IMPLEMENTATIONS = by_function(
    _openvino(
        "MVN over the batch",
        mean_variance_normalization,
        evaluate=batch_norm_evaluated,
        layouts=("NC", "NCL", "NCHW"),
    ),
    _openvino("MVN over the last axis", layer_norm, family="layer"),
    _openvino("GroupNormalization", group_norm, family="group", groups=2, layouts=("NCL", "NCHW")),
)
