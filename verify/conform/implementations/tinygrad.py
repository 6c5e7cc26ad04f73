"""tinygrad: its modules."""

from __future__ import annotations

from typing import Any

from tinygrad import Context, nn

from verify.conform.implementations.implementation import by_function, implementation


def batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module without running statistics."""
    layer = nn.BatchNorm(gamma.shape[0], eps, track_running_stats=False)
    layer.weight, layer.bias = gamma, beta
    return layer(x)


def batch_norm_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """Call the module in training, and read what it remembers."""
    layer = nn.BatchNorm(gamma.shape[0], eps, momentum=momentum)
    layer.weight, layer.bias = gamma, beta
    layer.running_mean, layer.running_var = mean.clone(), variance.clone()
    with Context(TRAINING=1):
        z = layer(x)
    return z, layer.running_mean, layer.running_var


def batch_norm_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Call the module in evaluation."""
    layer = nn.BatchNorm(gamma.shape[0], eps)
    layer.weight, layer.bias = gamma, beta
    layer.running_mean, layer.running_var = mean, variance
    with Context(TRAINING=0):
        return layer(x)


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module on the last axis."""
    layer = nn.LayerNorm(gamma.shape[0], eps)
    layer.weight, layer.bias = gamma, beta
    return layer(x)


def group_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module with two groups."""
    layer = nn.GroupNorm(2, gamma.shape[0], eps)
    layer.weight, layer.bias = gamma, beta
    return layer(x)


def instance_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module."""
    layer = nn.InstanceNorm(gamma.shape[0], eps)
    layer.weight, layer.bias = gamma, beta
    return layer(x)


def rms_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module; it has no beta."""
    layer = nn.RMSNorm(gamma.shape[0], eps)
    layer.weight = gamma
    return layer(x) if beta is None else layer(x) + beta


def _tinygrad(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="tinygrad", like="torch", **parts)


ADAPTER = "tinygrad"
IMPLEMENTATIONS = by_function(
    _tinygrad(
        "tinygrad.nn.BatchNorm",
        batch_norm,
        train=batch_norm_step,
        evaluate=batch_norm_evaluated,
        layouts=("NC", "NCL", "NCHW"),
    ),
    _tinygrad("tinygrad.nn.LayerNorm", layer_norm, family="layer"),
    _tinygrad(
        "tinygrad.nn.GroupNorm", group_norm, family="group", groups=2, layouts=("NCL", "NCHW")
    ),
    _tinygrad(
        "tinygrad.nn.InstanceNorm", instance_norm, family="instance", layouts=("NCL", "NCHW")
    ),
    _tinygrad("tinygrad.nn.RMSNorm", rms_norm, family="rms"),
)
