"""MLX: its modules, and the fast kernels under them."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
from mlx import nn

from verify.conform.implementations.implementation import by_function, implementation


def batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module without running statistics."""
    layer = nn.BatchNorm(len(gamma), eps, track_running_stats=False)
    layer.weight, layer.bias = gamma, beta
    return layer(x)


def batch_norm_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """Call the module in training, and read what it remembers."""
    layer = nn.BatchNorm(len(gamma), eps, momentum)
    layer.weight, layer.bias = gamma, beta
    layer.running_mean, layer.running_var = mean, variance
    z = layer(x)
    return z, layer.running_mean, layer.running_var


def batch_norm_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Call the module in evaluation."""
    layer = nn.BatchNorm(len(gamma), eps).eval()
    layer.weight, layer.bias = gamma, beta
    layer.running_mean, layer.running_var = mean, variance
    return layer(x)


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the fast kernel on the last axis, as the module does."""
    return mx.fast.layer_norm(x, gamma, beta, eps)


def rms_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the fast kernel on the last axis, as the module does; it has no beta."""
    z = mx.fast.rms_norm(x, gamma, eps)
    return z if beta is None else z + beta


def group_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module with two groups, in PyTorch's order of channels."""
    layer = nn.GroupNorm(2, len(gamma), eps, pytorch_compatible=True)
    layer.weight, layer.bias = gamma, beta
    return layer(x)


def instance_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the module."""
    layer = nn.InstanceNorm(len(gamma), eps, affine=True)
    layer.weight, layer.bias = gamma, beta
    return layer(x)


def _mlx(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="mlx", like="mlx", eps_is_single=True, **parts)


MAPS = {"layouts": ("NLC", "NHWC")}
ADAPTER = "mlx"
IMPLEMENTATIONS = by_function(
    _mlx(
        "mlx.nn.BatchNorm",
        batch_norm,
        train=batch_norm_step,
        evaluate=batch_norm_evaluated,
        layouts=("NC", "NLC", "NHWC"),
    ),
    _mlx("mlx.core.fast.layer_norm", layer_norm, family="layer", may_lack_gamma=True),
    _mlx("mlx.core.fast.rms_norm", rms_norm, family="rms"),
    _mlx("mlx.nn.GroupNorm", group_norm, family="group", groups=2, **MAPS),
    _mlx("mlx.nn.InstanceNorm", instance_norm, family="instance", **MAPS),
)
