"""Jacobian, Hessian and projection as matrices, against PyTorch's derivatives of each unit."""

from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch.autograd.functional import hessian, jacobian

from theory import dense

LAYOUTS = {
    "one unit": ((5,), 0, 1e-5),
    "units, eps = 0": ((6, 3), 0, 0.0),
    "maps": ((2, 3, 2, 2), (0, 2, 3), 0.3),
    "maps, axes in another order": ((2, 3, 2, 2), (3, 0, -2), 0.3),
}


class Case(NamedTuple):
    """A batch, one gamma for each unit, and the loss's gradient and Hessian in z(y)."""

    y: torch.Tensor
    g: torch.Tensor
    H: torch.Tensor
    gamma: torch.Tensor
    eps: float
    axis: int | tuple[int, ...]


def make(layout):
    shape, axis, eps = LAYOUTS[layout]
    drawn = torch.Generator().manual_seed(0)
    y, g = torch.randn(2, *shape, dtype=torch.float64, generator=drawn)
    gamma = g.mean(axis, keepdim=True) + 2
    m = y.numel() // gamma.numel()
    units = [n for n in gamma.shape if n > 1]
    H = torch.randn(m, m, *units, dtype=torch.float64, generator=drawn)
    return Case(y, g, H + H.transpose(0, 1), gamma, eps, axis)


def columns(x, axis):
    """Batch axes first, in their order, the last one fastest: (m, unit)."""
    batch = sorted(i % x.ndim for i in np.atleast_1d(axis))
    x = x.movedim(batch, list(range(len(batch))))
    return x.reshape(x.shape[: len(batch)].numel(), -1)


def by_autograd(case):
    """Jacobians, Hessians and deviations of each unit; matrices as (m, m, unit)."""
    found = []
    y, g, gamma = (columns(x, case.axis) for x in (case.y, case.g, case.gamma))
    H = case.H.reshape(*case.H.shape[:2], -1)
    for unit in range(y.shape[1]):

        def layer(x, unit=unit):
            centred = x - x.mean()
            return gamma[0, unit] * centred / ((centred**2).mean() + case.eps).sqrt()

        def loss(x, unit=unit, layer=layer):
            moved = layer(x) - layer(y[:, unit])
            return g[:, unit] @ moved + moved @ H[:, :, unit] @ moved / 2

        at = y[:, unit]
        found.append((jacobian(layer, at), hessian(loss, at), (at.var(correction=0)).sqrt()))
    return [torch.stack(each, dim=-1) for each in zip(*found, strict=True)]


def of_library(case):
    y, eps, axis = case.y, case.eps, case.axis
    J = dense.jacobian(y, case.gamma, eps, axis)
    B = dense.hessian(y, case.g, case.H, case.gamma, eps, axis)
    assert J.shape == B.shape == case.H.shape
    return [x.reshape(*x.shape[:2], -1) for x in (J, B, dense.projection(y, eps, axis))]


def assert_same(found, expected):
    """Up to the roundings of sums of at most eight terms of size one."""
    allowed = 2**-46 * max(float(expected.abs().max()), 1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices_are_what_autograd_computes(layout):
    case = make(layout)
    J, B, P = of_library(case)
    in_y, in_y_twice, deviation = by_autograd(case)
    assert_same(J, in_y)
    assert_same(B, in_y_twice)
    sigma, gamma = (deviation**2 + case.eps).sqrt(), columns(case.gamma, case.axis)
    assert_same(P, in_y * sigma / gamma)
    projected = columns(dense.project(case.y, case.g, case.eps, case.axis), case.axis)
    assert_same(projected, torch.einsum("iju,ju->iu", P, columns(case.g, case.axis)))
