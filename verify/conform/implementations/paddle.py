"""Paddle: its functions."""

from __future__ import annotations

from typing import Any

import paddle
from paddle.nn import functional

from verify.conform.implementations.implementation import by_function, implementation


def batch_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Call the function in training."""
    mean, variance = paddle.zeros_like(gamma), paddle.ones_like(gamma)
    return functional.batch_norm(x, mean, variance, gamma, beta, training=True, epsilon=eps)


def batch_norm_step(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, momentum: float, eps: float
) -> tuple[Any, Any, Any]:
    """Call the function in training, with copies of the running statistics."""
    mean, variance = mean.detach().clone(), variance.detach().clone()
    z = functional.batch_norm(
        x, mean, variance, gamma, beta, training=True, momentum=momentum, epsilon=eps
    )
    return z, mean, variance


def batch_norm_evaluated(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> Any:
    """Call the function in evaluation."""
    return functional.batch_norm(x, mean, variance, gamma, beta, training=False, epsilon=eps)


def layer_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Normalise the last axis."""
    return functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)


def group_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Normalise two groups of channels."""
    return functional.group_norm(x, 2, eps, gamma, beta)


def instance_norm(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Normalise each map."""
    return functional.instance_norm(x, weight=gamma, bias=beta, eps=eps)


def _paddle(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="paddlepaddle", eps_is_single=True, **parts)


ADAPTER = "paddle"
IMPLEMENTATIONS = by_function(
    _paddle(
        "paddle.nn.functional.batch_norm",
        batch_norm,
        train=batch_norm_step,
        evaluate=batch_norm_evaluated,
        layouts=("NC", "NCL", "NCHW"),
    ),
    _paddle("paddle.nn.functional.layer_norm", layer_norm, family="layer", may_lack_gamma=True),
    _paddle(
        "paddle.nn.functional.group_norm",
        group_norm,
        family="group",
        groups=2,
        layouts=("NCL", "NCHW"),
        may_lack_gamma=True,
    ),
    _paddle(
        "paddle.nn.functional.instance_norm",
        instance_norm,
        family="instance",
        layouts=("NCL", "NCHW"),
        may_lack_gamma=True,
    ),
)
