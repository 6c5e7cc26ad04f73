"""Where the channels are, in any framework: axis 1; every other axis is the batch."""

from __future__ import annotations

from math import prod
from typing import Any


def batch_axes(x: Any) -> tuple[int, ...]:
    """Every axis but the channels'."""
    return tuple(axis for axis in range(x.ndim) if axis != 1)


def batch_size(x: Any) -> int:
    """m, how many entries a channel has."""
    return prod(x.shape[axis] for axis in batch_axes(x))


def per_channel(parameter: Any, x: Any) -> Any:
    """One number for each channel, in a shape that broadcasts against ``x``."""
    return parameter.reshape(1, -1, *[1] * (x.ndim - 2))


def mean(x: Any) -> Any:
    """Mean of each channel; the other axes are kept with length one."""
    return x.mean(batch_axes(x), keepdim=True)


def affine(yhat: Any, gamma: Any, beta: Any) -> Any:
    """Gamma times yhat plus beta, channel by channel."""
    return per_channel(gamma, yhat) * yhat + per_channel(beta, yhat)
