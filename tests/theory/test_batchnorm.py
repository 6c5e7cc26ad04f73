"""The closed forms against autograd of the layer written literally.

How many digits they keep is seen in ``test_far_sizes.py``, against exact numbers.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from test_operations import assert_same, by_name

from theory import batchnorm

LAYOUTS = {
    "one unit": ((7,), 0, (1,)),
    "units": ((7, 3), 0, (3,)),
    "maps": ((4, 3, 2, 2), (0, 2, 3), (1, 3, 1, 1)),
}
GAMMAS = [-0.7, 1.5, 0.0]


class Case(NamedTuple):
    """A batch, and the 2-jet <g, d> + <d, Hd>/2 of a loss that ties units, H = diag(h) + q q'."""

    y: Any
    g: Any
    u: Any
    h: Any
    q: Any
    gamma: Any
    beta: Any
    eps: Any
    axis: Any

    def hessian_of_loss(self, w):
        return self.h * w + self.q * (self.q * w).sum()


def make_case(layout="units", eps=0.0, offset=0.0):
    shape, axis, units = LAYOUTS[layout]
    rng = np.random.default_rng(0)
    y, g, u, h, q = (torch.asarray(rng.standard_normal(shape)) for _ in range(5))
    gamma = torch.asarray(GAMMAS[: max(units)], dtype=torch.float64).reshape(units)
    beta = torch.asarray(rng.standard_normal(units))
    return Case(y + offset, g, u, h, q, gamma, beta, eps, axis)


def of_batch_or_units(value, c):
    """A value with its batch axes kept, of length one where it is a number for each unit."""
    is_of_batch = value.shape == c.y.shape
    return value if is_of_batch else value.reshape(c.y.mean(c.axis, keepdim=True).shape)


@cache
def by_autograd(layout, eps):
    """What torch computes for the layer and for a loss behind it, by the formulas' names."""
    c = make_case(layout, eps)

    def z(y, gamma=c.gamma, beta=c.beta):
        spread = torch.var(y, c.axis, correction=0, keepdim=True)
        return gamma * (y - torch.mean(y, c.axis, keepdim=True)) / torch.sqrt(spread + c.eps) + beta

    def loss(y, gamma=c.gamma, beta=c.beta, is_curved=True):
        d = z(y, gamma, beta) - z(c.y).detach()
        return (c.g * d).sum() + is_curved * (d * c.hessian_of_loss(d)).sum() / 2

    def bent(is_curved):
        slope = torch.func.grad(lambda y: loss(y, is_curved=is_curved))
        return torch.func.jvp(slope, (c.y,), (c.u,))[1]

    gradients = torch.func.grad(loss, (0, 1, 2))(c.y, c.gamma, c.beta)
    derivatives = dict(zip(("gradient", "gradient_gamma", "gradient_beta"), gradients, strict=True))
    jvp = torch.func.jvp(z, (c.y,), (c.u,))[1]
    return {
        "forward": z(c.y),
        "jvp": jvp,
        "hvp": bent(True),
        "curvature": -bent(False),
    } | derivatives


@pytest.mark.parametrize("eps", [0.0, 0.75])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_formulas_are_what_autograd_computes(layout, eps):
    case = make_case(layout, eps)
    arguments = case._asdict() | {"hessian_of_loss": case.hessian_of_loss}
    for name, expected in by_autograd(layout, eps).items():
        found = by_name(getattr(batchnorm, name), arguments)
        assert_same(found, of_batch_or_units(expected, case))
