"""Jacobian, Hessian and projection as matrices: what their products with directions are."""

import pytest
import torch
from test_operations import assert_same

from theory import batchnorm, dense

LAYOUTS = {
    "one unit": ((5,), 0, 1e-5),
    "units, eps = 0": ((6, 3), 0, 0.0),
    "maps": ((2, 3, 2, 2), (0, 2, 3), 0.3),
    "maps, axes in another order": ((2, 3, 2, 2), (3, 0, -2), 0.3),
}


def columns(x, axis):
    """Batch axes first, in their order, the last one fastest: (m, unit)."""
    batch = sorted({i % x.ndim for i in (axis if isinstance(axis, tuple) else (axis,))})
    x = x.movedim(batch, list(range(len(batch))))
    return x.reshape(x.shape[: len(batch)].numel(), -1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices_are_what_products_with_them_are(layout):
    shape, axis, eps = LAYOUTS[layout]
    drawn = torch.Generator().manual_seed(0)
    y, g, u = torch.randn(3, *shape, dtype=torch.float64, generator=drawn)
    gamma = g.mean(axis, keepdim=True) + 2
    m, units = y.numel() // gamma.numel(), [n for n in gamma.shape if n > 1]
    H = torch.randn(m, m, *units, dtype=torch.float64, generator=drawn)
    H = H + H.transpose(0, 1)
    c = {name: columns(x, axis) for name, x in (("y", y), ("g", g), ("u", u), ("gamma", gamma))}

    def times(matrix, w):
        return torch.einsum("iju,ju->iu", matrix.reshape(m, m, -1), w)

    J, B = dense.jacobian(y, gamma, eps, axis), dense.hessian(y, g, H, gamma, eps, axis)
    assert J.shape == B.shape == H.shape
    assert_same(times(J, c["u"]), batchnorm.jvp(c["y"], c["u"], c["gamma"], eps))
    bent = batchnorm.hvp(c["y"], c["g"], lambda w: times(H, w), c["u"], c["gamma"], eps)
    assert_same(times(B, c["u"]), bent)
    P, sigma = dense.projection(y, eps, axis), batchnorm.standard_deviation(c["y"], eps)
    projected = sigma * batchnorm.jvp(c["y"], c["g"], 1, eps)
    assert_same(times(P, c["g"]), projected)
    assert_same(columns(dense.project(y, g, eps, axis), axis), projected)
