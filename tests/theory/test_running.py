"""Evaluation mode against PyTorch's own and autograd."""

import numpy as np
import pytest
import torch
from test_batchnorm import make_case
from test_operations import assert_same
from torch.nn.functional import batch_norm

import theory


@pytest.mark.parametrize("eps", [0.0, 1.0])
@pytest.mark.parametrize("layout", ["units", "maps"])
def test_formulas_are_what_autograd_computes(layout, eps):
    c = make_case(layout)
    middle, spread = torch.tensor([[0.1, -5.0, 0.3], [0.25, 9.0, 0.5]], dtype=c.y.dtype)

    def z(y):
        positive = eps or 5e-324  # no sum is moved by it; PyTorch 2.11 refuses zero
        return batch_norm(y, middle, spread, c.gamma.flatten(), c.beta.flatten(), eps=positive)

    def loss(y):
        d = z(y) - z(c.y).detach()
        return (c.g * d).sum() + (d * c.hessian_of_loss(d)).sum() / 2

    gradient = torch.func.grad(loss)
    middle_each, spread_each = (a.reshape(c.gamma.shape) for a in (middle, spread))
    found = theory.running_forward(c.y, middle_each, spread_each, c.gamma, c.beta, eps)
    assert_same(found, z(c.y))
    assert_same(theory.running_gradient(c.g, spread_each, c.gamma, eps), gradient(c.y))
    bent = torch.func.jvp(gradient, (c.y,), (c.u,))[1]
    found = theory.running_hvp(c.hessian_of_loss, c.u, spread_each, c.gamma, eps)
    assert_same(found, bent)


def test_numbers_may_stand_for_one_unit():
    y = np.array([1.0, 3.0])
    forward = theory.running_forward(y, 1.0, 4.0, gamma=3, beta=1)
    np.testing.assert_array_equal(forward, [1.0, 4.0])
    np.testing.assert_array_equal(theory.running_gradient(y, 4.0, gamma=2), y)
