r"""The Gram matrix :math:`\hat{\mathcal H}^\top\hat{\mathcal H}` against PyTorch's convolution.

Its products with random directions are the gradient of half the squared norm of the convolution.

Source: Lange, Helfrich and Ye 2022, Lemma 8.
"""

from __future__ import annotations

from typing import Any

from theory import convolution
from verify.convolutions import arrays, network
from verify.convolutions.arrays import ArrayLayer
from verify.convolutions.checks import Check, equal_vectors
from verify.subjects.convolutions import Layer

STATEMENT = "L-lemma-8"


def examine(layer: Layer, there: ArrayLayer, gram: Any) -> Check:
    """Return the check of a Gram matrix."""
    to_numpy = there.backend.to_numpy
    directions = convolution.flatten(there.direction_weights, there.direction_biases)
    product = gram @ directions
    kernels, biases = convolution.unflatten(product, layer.shape.kernel)
    claimed = arrays.scaled((to_numpy(kernels), to_numpy(biases)), layer)
    device = network.torch_device(there.backend)
    actual = arrays.scaled(network.gram_products(layer, device), layer)
    samples = arrays.samples(layer, there, lambda a: arrays.exact)
    compared = equal_vectors(actual, claimed, samples, there.rows)
    return Check(STATEMENT, "Gram matrix", *compared)
