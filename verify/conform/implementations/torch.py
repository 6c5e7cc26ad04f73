"""PyTorch: its functions, compiled, and channels last."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from verify.conform.implementations.implementation import by_function, implementation


def batch_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Call the function in training."""
    return functional.batch_norm(x, None, None, gamma, beta, True, 0.0, eps)


def batch_norm_step(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    mean: Tensor,
    variance: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Call the function in training, with copies of the running statistics."""
    mean, variance = mean.detach().clone(), variance.detach().clone()
    z = functional.batch_norm(x, mean, variance, gamma, beta, True, momentum, eps)
    return z, mean, variance


def batch_norm_evaluated(
    x: Tensor, gamma: Tensor, beta: Tensor, mean: Tensor, variance: Tensor, eps: float
) -> Tensor:
    """Call the function in evaluation."""
    return functional.batch_norm(x, mean, variance, gamma, beta, False, 0.0, eps)


@torch.compile
def batch_norm_compiled(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Call the function in training, compiled."""
    return functional.batch_norm(x, None, None, gamma, beta, True, 0.0, eps)


def batch_norm_channels_last(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Call the function in training, on maps stored channels last."""
    x = x.contiguous(memory_format=torch.channels_last)
    return functional.batch_norm(x, None, None, gamma, beta, True, 0.0, eps)


def layer_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise the last axis."""
    return functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)


@torch.compile
def layer_norm_compiled(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise the last axis, compiled."""
    return functional.layer_norm(x, x.shape[-1:], gamma, beta, eps)


def group_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise two groups of channels."""
    return functional.group_norm(x, 2, gamma, beta, eps)


def instance_norm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Normalise each map."""
    return functional.instance_norm(x, None, None, gamma, beta, True, 0.0, eps)


def rms_norm(x: Tensor, gamma: Tensor, beta: Any, eps: float) -> Tensor:
    """Normalise the last axis by its root mean square; there is no beta."""
    z = functional.rms_norm(x, x.shape[-1:], gamma, eps)
    return z if beta is None else z + beta


def _torch(name: str, layer: Any, **parts: Any) -> Any:
    return implementation(name, layer, distribution="torch", like="torch", **parts)


torch._dynamo.config.recompile_limit = 4096  # more shapes than a network has

ISSUES = "https://github.com/pytorch/pytorch/issues"
BATCH_NORM = (f"{ISSUES}/196699", f"{ISSUES}/186256")
LAYER_NORM = (f"{ISSUES}/196700", f"{ISSUES}/175754")
CHANNELS_SECOND = {"layouts": ("NC", "NCL", "NCHW")}
MAPS = {"layouts": ("NCHW",)}
ADAPTER = "torch"
IMPLEMENTATIONS = by_function(
    _torch(
        "torch.nn.functional.batch_norm",
        batch_norm,
        train=batch_norm_step,
        evaluate=batch_norm_evaluated,
        threads=BATCH_NORM,
        may_lack_gamma=True,
        **CHANNELS_SECOND,
    ),
    _torch(
        "torch.compile of batch_norm", batch_norm_compiled, threads=BATCH_NORM, **CHANNELS_SECOND
    ),
    _torch("batch_norm, channels last", batch_norm_channels_last, threads=BATCH_NORM, **MAPS),
    _torch(
        "torch.nn.functional.layer_norm",
        layer_norm,
        family="layer",
        threads=LAYER_NORM,
        may_lack_gamma=True,
    ),
    _torch("torch.compile of layer_norm", layer_norm_compiled, family="layer", threads=LAYER_NORM),
    _torch(
        "torch.nn.functional.group_norm",
        group_norm,
        family="group",
        groups=2,
        may_lack_gamma=True,
        **CHANNELS_SECOND,
    ),
    _torch(
        "torch.nn.functional.instance_norm",
        instance_norm,
        family="instance",
        layouts=("NCL", "NCHW"),
        may_lack_gamma=True,
    ),
    _torch("torch.nn.functional.rms_norm", rms_norm, family="rms"),
)
