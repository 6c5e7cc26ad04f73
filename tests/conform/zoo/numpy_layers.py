"""Layers of NumPy alone: forward, and backward where it is theirs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def numpy_axes(x: np.ndarray) -> tuple[int, ...]:
    """Every axis but the channels'."""
    return tuple(axis for axis in range(x.ndim) if axis != 1)


def numpy_wide(parameter: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One number for each channel, in a shape that broadcasts."""
    return parameter.reshape(1, -1, *[1] * (x.ndim - 2))


def projections_forward(x: Any, gamma: Any, beta: Any, eps: float) -> tuple[np.ndarray, Any]:
    """Project on the complement of the ones, then divide by the length."""
    axes = numpy_axes(x)
    c = x - x.mean(axes, keepdims=True)
    sigma = np.sqrt((c * c).mean(axes, keepdims=True) + eps)
    yhat = c / sigma
    return numpy_wide(gamma, x) * yhat + numpy_wide(beta, x), (yhat, sigma, gamma)


def projections_backward(g: Any, cache: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Project the cotangent on the complements of the ones and of yhat, one after the other."""
    yhat, sigma, gamma = cache
    axes = numpy_axes(g)
    centred = g - g.mean(axes, keepdims=True)
    rest = centred - yhat * (yhat * centred).mean(axes, keepdims=True)
    return numpy_wide(gamma, g) / sigma * rest, (yhat * centred).sum(axes), g.sum(axes)


def chained_backward(
    g: Any, x: Any, gamma: Any, beta: Any, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate node by node, as the first paper on the layer prints it."""
    axes, m = numpy_axes(x), x.size // x.shape[1]
    c = x - x.mean(axes, keepdims=True)
    sigma = np.sqrt((c * c).mean(axes, keepdims=True) + eps)
    dyhat = g * numpy_wide(gamma, x)
    dvariance = (dyhat * c).sum(axes, keepdims=True) * (-0.5 / sigma**3)
    dcentre = dyhat / sigma + dvariance * 2 * c / m
    dmean = -dcentre.sum(axes, keepdims=True)
    return dcentre + dmean / m, (g * c / sigma).sum(axes), g.sum(axes)


def plain_forward(x: Any, gamma: Any, beta: Any, eps: float) -> np.ndarray:
    """Only the output."""
    return projections_forward(x, gamma, beta, eps)[0]


def exact_sums(values: np.ndarray) -> np.ndarray:
    """Correctly rounded sum of each channel."""
    rows = np.moveaxis(values, 1, 0).reshape(values.shape[1], -1)
    return np.array([math.fsum(row) for row in rows])


def exact_sums_forward(x: Any, gamma: Any, beta: Any, eps: float) -> np.ndarray:
    """Sums without an error, in float64 throughout, rounded once."""
    m = x.size // x.shape[1]
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        if not np.isfinite(wide).all():
            return plain_forward(x, gamma, beta, eps)
        c = wide - numpy_wide(exact_sums(wide) / m, x)
        sigma = np.sqrt(numpy_wide(exact_sums(c * c) / m, x) + eps)
        z = numpy_wide(gamma, x) * (c / sigma) + numpy_wide(beta, x)
    return z.astype(x.dtype)
