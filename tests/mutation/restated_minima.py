"""What is said of minima (Observation 4.3, Lemma 4.5), restated in matrices of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from paper_numbers import Array, Numbers, Sides


def orthogonal(a: Array, b: Array) -> Array:
    """What of a is orthogonal to b, times the square of b."""
    return (b @ b) * a - b * (b @ a)


def layer_at(n: Numbers, y: Array) -> Array:
    """The layer's output for any batch."""
    return n.layer(torch.as_tensor(y)).numpy()


def other_input(n: Numbers) -> Sides:
    """Another batch, with this one's mean and deviation for beta and gamma."""
    yhat = n.normalize(torch.as_tensor(n.v)).numpy()
    return n.sigma * yhat + n.y.mean(), n.v


def fixed(n: Numbers) -> Sides:
    """The squared distances of the batch from both outputs that one input can have."""
    above, below = layer_at(n, n.y) - n.y, layer_at(n, -n.y) - n.y
    return (above @ above) * (below @ below), 0.0


def linear_layer(n: Numbers) -> Sides:
    """The network without the layer, at other weights and another bias."""
    return n.z, n.gamma / n.sigma * n.y + n.beta - n.gamma / n.sigma * n.y.mean()


def without_bias(n: Numbers) -> Sides:
    """The residual's sum, at the minimum of least squares in one weight."""
    return np.sum(orthogonal(n.u, n.y)), 0.0


def with_constants(n: Numbers) -> Sides:
    """The chain rule for <v, z - y>^2/2."""
    return (n.v @ (n.z - n.y)) * (n.v @ n.dense(n.layer, n.y) @ n.u), 0.0


def distance(n: Numbers) -> Sides:
    """The squared distance to the line, and the printed bound."""
    off = n.u - n.v * (n.v @ n.u) / (n.v @ n.v)
    return off @ off, (n.u - n.v) @ (n.u - n.v) - (n.v @ n.v - n.v @ n.u) ** 2 / (n.v @ n.v)


def fitted(n: Numbers) -> Sides:
    """The derivative at the fitted gamma and beta."""
    e = orthogonal(n.v, n.y)
    t = n.y + e
    gamma = (t @ n.yhat) / (n.yhat @ n.yhat)
    residual = gamma * n.yhat + t.mean() - t
    return gamma * residual @ n.dense(n.normalize, n.y) @ orthogonal(n.u, e), 0.0


def own_optimum(n: Numbers) -> Sides:
    """The chain rule on the ray."""
    away = n.bound * n.y
    return (layer_at(n, away) - n.y) @ n.dense(n.layer, away) @ n.y, 0.0


def gain(n: Numbers) -> Sides:
    """Equations (59) to (62): how much nearer the line's nearest point is than W*."""
    k = (n.v @ n.u) / (n.v @ n.v)
    left = (n.u - k * n.v) @ (n.u - k * n.v) - (n.u - n.v) @ (n.u - n.v)
    return left, left


def same(value: Callable[[Numbers], Any]) -> Callable[[Numbers], Sides]:
    """Both sides alike."""
    return lambda n: (value(n), value(n))


MINIMA: dict[str, Callable[[Numbers], Sides]] = {
    "S-obs-4.3/activations": same(lambda n: n.y),
    "S-obs-4.3/activations/deviation": lambda n: (n.yhat * np.std(n.y) + n.y.mean(), n.y),
    "S-obs-4.3/activations/beta-given": lambda n: (n.sigma * n.yhat + n.beta, n.y),
    "S-obs-4.3/activations/any-input": other_input,
    "S-obs-4.3/activations/fixed": fixed,
    "S-obs-4.3/minima/bias": linear_layer,
    "S-obs-4.3/minima/no-bias": without_bias,
    "S-obs-4.3/minima/no-bias/corrected": lambda n: (0.0, 0.0),
    "S-obs-4.3/minima/fixed": with_constants,
    "S-obs-4.3/minima/fixed/corrected": with_constants,
    "S-lemma-4.5/trainable": distance,
    "S-lemma-4.5/trainable/optimum": same(lambda n: n.y),
    "S-lemma-4.5/trainable/optimum/negative": same(lambda n: n.y),
    "S-lemma-4.5/no-bias": fitted,
    "S-lemma-4.5/no-bias/corrected": lambda n: (0.0, 0.0),
    "S-lemma-4.5/fixed": with_constants,
    "S-lemma-4.5/fixed/corrected": with_constants,
    "S-lemma-4.5/fixed/own-optimum": own_optimum,
    "S-lemma-4.5/scale-invariance": lambda n: (layer_at(n, n.bound * n.y), n.z),
    "S-lemma-4.5/any-multiple": lambda n: (layer_at(n, -n.bound * n.y), n.z),
    "S-eq-59": gain,
    "S-eq-60": gain,
    "S-eq-61": gain,
    "S-eq-62": gain,
}
