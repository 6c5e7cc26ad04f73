"""Right layers whose arguments are others, or in another order, than x, gamma, beta, eps."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from channels import mean, per_channel
from numpy_layers import own_eps_backward, own_eps_forward, rms_backward, rms_forward, rms_jvp
from own_backward import layer_with
from torch import Tensor


class RootMeanSquare(torch.autograd.Function):
    """RMS normalisation without beta, by hand; its backward adds another eps."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, gamma: Tensor, eps: float, eps_back: float) -> Tensor:
        """Divide by the root of the mean square."""
        ctx.save_for_backward(x, gamma)
        ctx.eps = eps_back
        return gamma * x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, ...]:
        """Apply the rule."""
        x, gamma = ctx.saved_tensors
        root = torch.sqrt((x * x).mean(-1, keepdim=True) + ctx.eps)
        yhat, pulled = x / root, gamma * g
        slope = (pulled - yhat * (yhat * pulled).mean(-1, keepdim=True)) / root
        return slope, (g * yhat).flatten(0, -2).sum(0), None, None


def rms(x: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Have no beta."""
    return RootMeanSquare.apply(x, gamma, eps, eps)


def rms_of_its_own_eps(x: Tensor, weight: Tensor) -> Tensor:
    """Have neither beta nor an argument eps."""
    return RootMeanSquare.apply(x, weight, 1e-6, 1e-6)


numpy_rms = SimpleNamespace(forward=rms_forward, backward=rms_backward, jvp=rms_jvp)


def eps_second(x: Tensor, eps: float, gamma: Tensor, beta: Tensor) -> Tensor:
    """Have eps before the parameters."""
    return layer_with()(x, gamma, beta, eps)


def beta_first(beta: Tensor, gamma: Tensor, x: Tensor, *, epsilon: float = 1e-5) -> Tensor:
    """Have everything the other way round."""
    return layer_with()(x, gamma, beta, epsilon)


def parameters_optional(
    x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Have gamma and beta, or one of them, or neither."""
    c = x - mean(x)
    yhat = c / torch.sqrt(mean(c * c) + eps)
    z = yhat if weight is None else per_channel(weight, x) * yhat
    return z if bias is None else z + per_channel(bias, x)


numpy_own_eps = SimpleNamespace(forward=own_eps_forward, backward=own_eps_backward)
