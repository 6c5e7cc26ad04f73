"""Layers of NumPy alone: forward, and backward where it is theirs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from channels import affine, batch_axes, batch_size, per_channel


def projections_forward(x: Any, gamma: Any, beta: Any, eps: float) -> tuple[np.ndarray, Any]:
    """Project on the complement of the ones, then divide by the length."""
    axes = batch_axes(x)
    c = x - x.mean(axes, keepdims=True)
    sigma = np.sqrt((c * c).mean(axes, keepdims=True) + eps)
    yhat = c / sigma
    return affine(yhat, gamma, beta), (yhat, sigma, gamma)


def projections_backward(g: Any, cache: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Project the cotangent on the complements of the ones and of yhat, one after the other."""
    yhat, sigma, gamma = cache
    axes = batch_axes(g)
    centred = g - g.mean(axes, keepdims=True)
    rest = centred - yhat * (yhat * centred).mean(axes, keepdims=True)
    return per_channel(gamma, g) / sigma * rest, (yhat * centred).sum(axes), g.sum(axes)


def chained_backward(
    g: Any, x: Any, gamma: Any, beta: Any, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate node by node, as the first paper on the layer prints it."""
    axes, m = batch_axes(x), batch_size(x)
    c = x - x.mean(axes, keepdims=True)
    sigma = np.sqrt((c * c).mean(axes, keepdims=True) + eps)
    dyhat = g * per_channel(gamma, x)
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
    m = batch_size(x)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        if not np.isfinite(wide).all():
            return plain_forward(x, gamma, beta, eps)
        c = wide - per_channel(exact_sums(wide) / m, x)
        sigma = np.sqrt(per_channel(exact_sums(c * c) / m, x) + eps)
        z = affine(c / sigma, gamma, beta)
    return z.astype(x.dtype)


def rms_forward(x: np.ndarray, weight: np.ndarray, epsilon: float) -> np.ndarray:
    """The same in NumPy."""
    return weight * x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


def rms_backward(
    dz: np.ndarray, x: np.ndarray, weight: np.ndarray, epsilon: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return two gradients."""
    root = np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    yhat, pulled = x / root, weight * dz
    slope = (pulled - yhat * (yhat * pulled).mean(-1, keepdims=True)) / root
    return slope, (dz * yhat).reshape(-1, dz.shape[-1]).sum(0)


def rms_jvp(
    x: np.ndarray, weight: np.ndarray, epsilon: float, dx: np.ndarray, dweight: np.ndarray
) -> np.ndarray:
    """Return the tangent."""
    root = np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    yhat = x / root
    return weight * (dx - yhat * (yhat * dx).mean(-1, keepdims=True)) / root + dweight * yhat


def own_eps_forward(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Have no argument eps."""
    return plain_forward(x, gamma, beta, 1e-5)


def own_eps_backward(g: np.ndarray, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> Any:
    """Have none in the backward either."""
    return chained_backward(g, x, gamma, beta, 1e-5)
