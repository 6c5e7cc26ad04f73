r"""Proposition 9: the Hessian in one output channel's bias and kernel.

.. math:: \nabla^2_{\hat w}\mathcal L = \hat{\mathcal H}^\top S\,\hat{\mathcal H},
          \qquad S = \tfrac1N \mathrm{diag}(\nabla^2 L(a^{(1)}), \ldots, \nabla^2 L(a^{(N)}))

The claimed side is matrix free, the actual one a second derivative by autograd through PyTorch's
convolution, both in random directions.  Behind a later Batch Normalization the loss is no mean of
losses of single examples: the printed S, of one block for each example, must then fail, and the
whole S must not.

Source: Lange, Helfrich and Ye 2022, Prop. 9.
"""

from __future__ import annotations

from verify.convolutions import arrays, network
from verify.convolutions.arrays import ArrayLayer, Curvature
from verify.convolutions.checks import (
    LATER_BLOCKS,
    LATER_WHOLE,
    PER_SAMPLE,
    Check,
    equal_vectors,
)
from verify.convolutions.losses import LaterBatchNorm, SampleLoss, block_diagonal
from verify.convolutions.meter import Meter
from verify.subjects.convolutions import Layer
from verify.tolerance import Array, Outcome

STATEMENT = "L-prop-9"


def examine(layer: Layer, on_backend: ArrayLayer, seed: int, meter: Meter) -> list[Check]:
    """Return the checks of the three readings."""
    drawn = SampleLoss.draw(len(layer.maps), layer.shape.output_size, seed)
    device = network.torch_device(on_backend.backend)
    there = drawn.map(on_backend.backend.asarray)
    in_torch = drawn.map(lambda x: network.tensor(x, device))
    with meter("Hessian, autograd"):
        actual = arrays.scaled(network.hessian_products(layer, in_torch.value, device), layer)
    with meter("Hessian, closed form"):
        claimed = _products(layer, on_backend, there.hessian)
    samples = arrays.samples(layer, on_backend, there.hessian)
    compared = equal_vectors(actual, claimed, samples, on_backend.rows)
    first = Check(STATEMENT, PER_SAMPLE, *compared)
    with meter("Hessian, later batch norm"):
        return [first, *_later(layer, on_backend, there, in_torch)]


def _later(
    layer: Layer, on_backend: ArrayLayer, there: SampleLoss, in_torch: SampleLoss
) -> list[Check]:
    later, later_in_torch = LaterBatchNorm(there), LaterBatchNorm(in_torch)
    device = network.torch_device(on_backend.backend)
    products = network.hessian_products(layer, later_in_torch.value, device)
    actual = arrays.scaled(products, layer)
    whole = _products(layer, on_backend, later.hessian)
    blocks = _products(layer, on_backend, lambda a: block_diagonal(later.hessian(a)))
    samples = arrays.samples(layer, on_backend, later.hessian)
    # Rounding moves the blocks as little as the whole.
    moved = [blocks + (sample - whole) for sample in samples]
    in_blocks = equal_vectors(actual, blocks, moved, on_backend.rows)
    as_whole = equal_vectors(actual, whole, samples, on_backend.rows)
    return [
        Check(STATEMENT, LATER_BLOCKS, *in_blocks, Outcome.VIOLATED),
        Check(STATEMENT, LATER_WHOLE, *as_whole),
    ]


def _products(layer: Layer, on_backend: ArrayLayer, curvature: Curvature) -> Array:
    return arrays.scaled(arrays.curved_products(on_backend, curvature), layer)
