"""Where the channels are: axis 1 of ``(batch, channel, ...)``; every other axis is the batch."""

from __future__ import annotations

from math import prod

from torch import Tensor


def batch_axes(x: Tensor) -> tuple[int, ...]:
    """Every axis but the channels'."""
    return tuple(axis for axis in range(x.ndim) if axis != 1)


def batch_size(x: Tensor) -> int:
    """m, how many entries a channel has."""
    return prod(x.shape[axis] for axis in batch_axes(x))


def per_channel(parameter: Tensor, x: Tensor) -> Tensor:
    """One number for each channel, in a shape that broadcasts against ``x``."""
    return parameter.reshape(1, -1, *[1] * (x.ndim - 2))


def mean(x: Tensor) -> Tensor:
    """Mean of each channel; the other axes are kept with length one."""
    return x.mean(batch_axes(x), keepdim=True)


def affine(yhat: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
    """Gamma times yhat plus beta, channel by channel."""
    return per_channel(gamma, yhat) * yhat + per_channel(beta, yhat)
