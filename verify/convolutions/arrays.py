"""A layer in the arrays of a backend, and products with its unfolded matrix there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from theory import convolution
from verify.backends import Backend
from verify.convolutions.losses import Operator
from verify.subjects.convolutions import Layer, Shape
from verify.tolerance import STEP, Array

SAMPLES = 3
"""Evaluations with perturbed factors, which measure the condition."""
Noise = Callable[[Any], Any]
Curvature = Callable[[Any], Operator]
"""Given the channel's output a, the operator S at a."""


@dataclass(frozen=True)
class ArrayLayer:
    """The arrays of a :class:`~verify.subjects.convolutions.Layer`, in a backend's library."""

    shape: Shape
    backend: Backend
    maps: Any
    weights: Any
    bias: Any
    direction_weights: Any
    direction_biases: Any

    @classmethod
    def of(cls, layer: Layer, backend: Backend) -> ArrayLayer:
        """Move a layer to the backend's device."""
        arrays = (layer.maps, layer.weights, layer.bias)
        directions = (layer.direction_weights, layer.direction_biases)
        return cls(layer.shape, backend, *map(backend.asarray, (*arrays, *directions)))

    @property
    def rows(self) -> int:
        """N r' s'."""
        return self.shape.rows(self.maps.shape[0])


def exact(x: Any) -> Any:
    """Perturb nothing."""
    return x


def noise(backend: Backend, seed: int) -> Noise:
    """Return a function that multiplies each entry by 1 + STEP times a number in [-1, 1]."""
    draw = np.random.default_rng(seed)
    return lambda x: x * backend.asarray(1 + STEP * draw.uniform(-1, 1, tuple(x.shape)))


def curved_products(
    layer: ArrayLayer, curvature: Curvature, perturb: Noise = exact
) -> tuple[Array, Array]:
    r"""Return :math:`\hat{\mathcal H}^\top S\,\hat{\mathcal H} v` for each direction v.

    No matrix is formed: one convolution, S, and the transpose.  Each product that is summed has a
    factor that ``perturb`` meets: the parameters in the convolutions, the maps after them.

    Args:
        layer: with D directions.
        curvature: given the channel's output a, the operator S at a.
        perturb: what is done to every factor.

    Returns:
        ``(D, channel, k, k)`` and ``(D,)``.

    Source: Lange, Helfrich and Ye 2022, Prop. 9.
    """
    h, stride = layer.maps, layer.shape.stride
    outputs = convolution.apply(h, perturb(layer.weights), perturb(layer.bias), stride=stride)
    S = curvature(perturb(outputs))
    directions = (perturb(layer.direction_weights), perturb(layer.direction_biases))
    along = perturb(convolution.apply(h, *directions, stride=stride))
    curved = perturb(S(along))
    kernels, biases = convolution.apply_transposed(h, curved, **layer.shape.geometry)
    return layer.backend.to_numpy(kernels), layer.backend.to_numpy(biases)


def samples(layer: Layer, there: ArrayLayer, curvature: Curvature) -> list[Array]:
    """Return the products with perturbed factors, scaled, which measure their condition."""
    return [
        scaled(curved_products(there, curvature, noise(there.backend, seed)), layer)
        for seed in range(SAMPLES)
    ]


def scaled(products: tuple[Array, Array], layer: Layer) -> Array:
    """Return products as ``(direction, k^2 c + 1)``, each channel divided by its scale.

    So that no channel is hidden behind the largest: with the directions' own scales this is the
    Hessian between columns of equal size, as in eq. (13).
    """
    kernels, biases = products
    entries = kernels / layer.scales[:, None, None]
    return np.concatenate([biases[:, None], entries.reshape(len(entries), -1)], axis=1)
