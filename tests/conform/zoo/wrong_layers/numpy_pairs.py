"""Faults in layers of NumPy: own backward passes, and memory that results share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from channels import batch_axes, batch_size, per_channel
from numpy_layers import (
    chained_backward,
    plain_forward,
    projections_backward,
    projections_forward,
)

from wrong_layers.fault import Fault

Gradients = tuple[np.ndarray, np.ndarray, np.ndarray]
_results: dict[Any, np.ndarray] = {}


def one_buffer_for_all_results(
    x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, eps: float
) -> np.ndarray:
    """Return the same memory from call to call, so that a result changes after it was given."""
    z = _results.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
    z[...] = plain_forward(x, gamma, beta, eps)
    return z


def parts(x: Any, gamma: Any, eps: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centred batch, sigma and gamma in the shape of the batch."""
    _, (yhat, sigma, _) = projections_forward(x, gamma, gamma, eps)
    return sigma * yhat, sigma, per_channel(gamma, x)


def variance_gradient_without_two(g: Any, x: Any, gamma: Any, beta: Any, eps: float) -> Gradients:
    """Lose the 2 of the square's derivative on the way through the variance."""
    axes, m = batch_axes(x), batch_size(x)
    c, sigma, scale = parts(x, gamma, eps)
    dvariance = (g * scale * c).sum(axes, keepdims=True) * (-0.5 / sigma**3)
    dcentre = g * scale / sigma + dvariance * c / m
    return dcentre - dcentre.mean(axes, keepdims=True), (g * c / sigma).sum(axes), g.sum(axes)


def mean_gradient_not_divided(g: Any, x: Any, gamma: Any, beta: Any, eps: float) -> Gradients:
    """Give each entry the whole gradient of the mean."""
    axes, m = batch_axes(x), batch_size(x)
    c, sigma, scale = parts(x, gamma, eps)
    dvariance = (g * scale * c).sum(axes, keepdims=True) * (-0.5 / sigma**3)
    dcentre = g * scale / sigma + dvariance * 2 * c / m
    return dcentre - dcentre.sum(axes, keepdims=True), (g * c / sigma).sum(axes), g.sum(axes)


def eps_left_out_of_the_backward(g: Any, x: Any, gamma: Any, beta: Any, eps: float) -> Gradients:
    """Recompute sigma without eps."""
    axes = batch_axes(x)
    c, sigma, scale = parts(x, gamma, 0.0)
    yhat = c / sigma
    centred = g - g.mean(axes, keepdims=True)
    rest = centred - yhat * (yhat * centred).mean(axes, keepdims=True)
    return scale / sigma * rest, (g * yhat).sum(axes), g.sum(axes)


def gradients_exchanged(g: Any, x: Any, gamma: Any, beta: Any, eps: float) -> Gradients:
    """Return the gradients of gamma and beta in the other order."""
    axes = batch_axes(x)
    c, sigma, scale = parts(x, gamma, eps)
    yhat = c / sigma
    centred = g - g.mean(axes, keepdims=True)
    rest = centred - yhat * (yhat * centred).mean(axes, keepdims=True)
    return scale / sigma * rest, g.sum(axes), (g * yhat).sum(axes)


_kept: dict[Any, np.ndarray] = {}


def kept_in_one_buffer(x: Any, gamma: Any, beta: Any, eps: float) -> tuple[np.ndarray, Any]:
    """Keep yhat for the backward in memory that the next forward writes over."""
    z, (yhat, sigma, gamma) = projections_forward(x, gamma, beta, eps)
    buffer = _kept.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
    buffer[...] = yhat
    return z, (buffer, sigma, gamma)


one_buffer_for_the_backward = SimpleNamespace(
    forward=kept_in_one_buffer,
    backward=projections_backward,
    __name__="one_buffer_for_the_backward",
)


def in_one_buffer(name: str, values: np.ndarray) -> np.ndarray:
    """Return these values in the memory of that name, type and shape."""
    buffer = _results.setdefault((name, values.shape, values.dtype), np.empty_like(values))
    buffer[...] = values
    return buffer


def one_buffer_for_all_gradients(g: Any, x: Any, gamma: Any, beta: Any, eps: float) -> Gradients:
    """Return the same three arrays from each backward."""
    dx, dgamma, dbeta = chained_backward(g, x, gamma, beta, eps)
    return in_one_buffer("x", dx), in_one_buffer("gamma", dgamma), in_one_buffer("beta", dbeta)


def evaluated_in_one_buffer(
    x: Any, gamma: Any, beta: Any, mean: Any, variance: Any, eps: float
) -> np.ndarray:
    """Evaluate, and return the same array each time."""
    yhat = (x - per_channel(mean, x)) / np.sqrt(per_channel(variance, x) + eps)
    return in_one_buffer("evaluated", per_channel(gamma, x) * yhat + per_channel(beta, x))


def tangent_in_one_buffer(
    x: Any, gamma: Any, beta: Any, eps: float, u: Any, a: Any, b: Any
) -> np.ndarray:
    """Push a tangent forward, and return the same array each time."""
    axes = batch_axes(x)
    c, sigma, scale = parts(x, gamma, eps)
    yhat = c / sigma
    centred = u - u.mean(axes, keepdims=True)
    moved = (centred - yhat * (yhat * centred).mean(axes, keepdims=True)) / sigma
    return in_one_buffer("tangent", scale * moved + per_channel(a, x) * yhat + per_channel(b, x))


one_buffer_for_evaluation = SimpleNamespace(
    forward=plain_forward,
    evaluate=evaluated_in_one_buffer,
    __name__="one_buffer_for_evaluation",
)
one_buffer_for_tangents = SimpleNamespace(
    forward=plain_forward, jvp=tangent_in_one_buffer, __name__="one_buffer_for_tangents"
)


def pair(backward: Any) -> SimpleNamespace:
    """The right forward with this backward."""
    return SimpleNamespace(forward=plain_forward, backward=backward, __name__=backward.__name__)


LATER = "a later call writes into"
FAULTS = (
    Fault(one_buffer_for_all_results, r"second call|repeated|buffer", "repeated"),
    Fault(one_buffer_for_the_backward, r"what a later forward left", "own gradient"),
    Fault(pair(one_buffer_for_all_gradients), LATER, "own gradient"),
    Fault(one_buffer_for_evaluation, LATER, "evaluation"),
    Fault(one_buffer_for_tangents, LATER, "own jvp"),
    Fault(pair(variance_gradient_without_two), r"-0\.5 instead of -1", "own gradient"),
    Fault(pair(mean_gradient_not_divided), r"mean|instead of", "own gradient"),
    Fault(pair(eps_left_out_of_the_backward), r"eps|sigma", "own gradient"),
    Fault(pair(gradients_exchanged), r"gamma|beta", "own gradient"),
)
