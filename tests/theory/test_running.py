"""Evaluation mode against PyTorch's own and autograd."""

import numpy as np
import pytest
import torch
from test_operations import to_numpy
from torch.nn.functional import batch_norm

import theory

LAYOUTS = {"units": ((5, 3), (3,)), "maps": ((2, 3, 4, 2), (1, 3, 1, 1))}


def assert_entrywise(actual, expected, size):
    """Each entry is a chain of at most eight roundings of terms of the given size, on two sides.

    ``torch`` folds the running mean into an offset, gamma*mean/sigma, so that its terms are as
    large as gamma*(abs(y) + abs(mean))/sigma + abs(beta).
    """
    allowed = to_numpy(16 * 2.0**-53 * size)
    error = np.abs(to_numpy(actual) - to_numpy(expected))
    assert np.all(error <= allowed), f"differ by {np.max(error - allowed):.1e} more than allowed"


def hessian(w):
    """A symmetric Hessian that ties each example to the next, and each unit, differently."""
    couplings = torch.tensor([[2.0, 0.5, 1.0], [0.5, 1.0, 3.0], [1.0, 3.0, 0.25]], dtype=w.dtype)
    tied = torch.roll(w, 1, 0) + torch.roll(w, -1, 0)
    return tied + torch.einsum("ij,nj...->ni...", couplings, w)


@pytest.mark.parametrize(("eps", "offset"), [(0.0, 0.0), (1e-5, 1e8), (1.0, 0.0)])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_formulas_are_what_autograd_computes(layout, eps, offset):
    shape, of_units = LAYOUTS[layout]
    rng = np.random.default_rng(0)
    y, g, u = (torch.asarray(rng.standard_normal(shape)) for _ in range(3))
    y = y + offset
    numbers = [[-0.7, 1.5, 0.0], [0.3, 0.0, -2.0], [0.1, -5.0, offset], [0.25, 9.0, 0.5]]
    flat = torch.tensor(numbers, dtype=y.dtype)
    gamma, beta, centre, spread = (a.reshape(of_units) for a in flat)

    def z(y):
        positive = eps or 5e-324  # no sum is moved by it; PyTorch 2.11 refuses zero
        return batch_norm(y, flat[2], flat[3], flat[0], flat[1], eps=positive)

    at = z(y)

    def loss(y):
        d = z(y) - at
        return (g * d).sum() + (d * hessian(d)).sum() / 2

    gradient = torch.func.grad(loss)
    size, bent = abs(gamma) / (spread + eps) ** 0.5, torch.func.jvp(gradient, (y,), (u,))[1]
    forward = theory.running_forward(y, centre, spread, gamma, beta, eps)
    assert_entrywise(forward, at, size * (abs(y) + abs(centre)) + abs(beta))
    found = theory.running_gradient(g, spread, gamma, eps)
    assert_entrywise(found, gradient(y), size * abs(g))
    found = theory.running_hvp(hessian, u, spread, gamma, eps)
    assert_entrywise(found, bent, size * hessian(size * abs(u)))


def test_numbers_may_stand_for_one_unit():
    y = np.array([1.0, 3.0])
    forward = theory.running_forward(y, 1.0, 4.0, gamma=3, beta=1)
    np.testing.assert_array_equal(forward, [1.0, 4.0])
    np.testing.assert_array_equal(theory.running_gradient(y, 4.0, gamma=2), y)
