"""The closed forms against autograd of the layer written literally."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import assume
from hypothesis import strategies as st
from test_operations import assert_close, by_name, deviation, to_numpy, unit_norm

from theory import batchnorm
from theory.arithmetic import inner, size

LAYOUTS = {
    "one unit": ((7,), 0, (1,)),
    "units": ((7, 3), 0, (3,)),
    "maps": ((4, 3, 2, 2), (0, 2, 3), (1, 3, 1, 1)),
}
GAMMAS = [-0.7, 1.5, 0.0]
SHIFT = 2.0**27
"""About 1e8; a batch on a grid of 2**-20 is moved by it without rounding."""


class Case(NamedTuple):
    """A batch, and the 2-jet <g, d> + <d, Hd>/2 of a loss, H = diag(h) + q q' in each unit."""

    y: Any
    g: Any
    u: Any
    h: Any
    q: Any
    gamma: Any
    beta: Any
    eps: Any
    axis: Any

    def H(self, w):
        return self.h * w + self.q * inner(self.q, w, self.axis)


def make_case(layout="units", eps=0.0, offset=0.0, seed=0):
    shape, axis, units = LAYOUTS[layout]
    rng = np.random.default_rng(seed)
    y, g, u, h, q = (torch.asarray(rng.standard_normal(shape)) for _ in range(5))
    y = torch.round(y * 2**20) / 2**20 + offset
    gamma = torch.asarray(GAMMAS[: max(units)], dtype=torch.float64).reshape(units)
    beta = torch.asarray(rng.standard_normal(units))
    return Case(y, g, u, h, q, gamma, beta, eps, axis)


def first_rows(m, eps):
    case = make_case(eps=eps)
    return case._replace(**{name: getattr(case, name)[:m] for name in ("y", "g", "u", "h", "q")})


CASES = {
    "one unit": make_case("one unit"),
    "units": make_case("units", 1e-5),
    "far units": make_case("units", 0.0, SHIFT),
    "maps": make_case("maps", 0.75),
    "far maps": make_case("maps", 1e-5, SHIFT),
    "m = 1": first_rows(1, 1e-5),
    "m = 2": first_rows(2, 0.0),
    "constant batch": make_case(eps=1e-5)._replace(y=torch.full((7, 3), 3.0, dtype=torch.float64)),
    "ones upstream": make_case()._replace(g=torch.ones(7, 3, dtype=torch.float64)),
}


def primitive(y, gamma, beta, eps, axis):
    """The layer, written literally."""
    spread = torch.var(y, axis, correction=0, keepdim=True)
    return gamma * (y - torch.mean(y, axis, keepdim=True)) / torch.sqrt(spread + eps) + beta


@cache
def by_autograd(name, kind):
    """What torch computes for a derivative of the layer, or of the loss behind it."""
    c = CASES[kind]

    def z(y, gamma=c.gamma, beta=c.beta):
        return primitive(y, gamma, beta, c.eps, c.axis)

    at = z(c.y)

    def loss(y, gamma=c.gamma, beta=c.beta):
        d = z(y, gamma, beta) - at
        return (c.g * d).sum() + (d * c.H(d)).sum() / 2 * (name != "curvature")

    gradient = torch.func.grad(loss)
    return {
        "forward": lambda: at,
        "jvp": lambda: torch.func.jvp(z, (c.y,), (c.u,))[1],
        "gradient": lambda: gradient(c.y),
        "hvp": lambda: torch.func.jvp(gradient, (c.y,), (c.u,))[1],
        "curvature": lambda: -torch.func.jvp(gradient, (c.y,), (c.u,))[1],
        "gradient_gamma": lambda: torch.func.grad(loss, 1)(c.y, c.gamma),
        "gradient_beta": lambda: torch.func.grad(loss, 2)(c.y, c.gamma, c.beta),
    }[name]()


FORMULAS = ("forward", "jvp", "gradient", "hvp", "curvature", "gradient_gamma", "gradient_beta")


def value(name, case):
    """What a formula gives."""
    arguments = case._asdict() | {"hessian_of_loss": case.H}
    return by_name(getattr(batchnorm, name), arguments)


def magnitude(name, c):
    """A bound on the terms of a formula in each unit: norms of what is multiplied in it."""
    g, u, q = (unit_norm(a, c.axis) for a in (c.g, c.u, c.q))
    gamma, sigma = np.abs(to_numpy(c.gamma)), deviation(c.y, c.eps, c.axis)
    H = np.max(np.abs(to_numpy(c.h)), axis=c.axis, keepdims=True) + q**2
    root = size(c.y, c.axis) ** 0.5
    curvature = gamma / sigma**2 * g * u
    return {
        "forward": gamma * root + np.abs(to_numpy(c.beta)),
        "jvp": gamma / sigma * u,
        "gradient": gamma / sigma * g,
        "hvp": (gamma / sigma) ** 2 * H * u + curvature,
        "curvature": curvature,
        "gradient_gamma": g * root,
        "gradient_beta": g * root,
    }[name]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("name", FORMULAS)
def test_formula_is_what_autograd_computes(name, kind):
    case = CASES[kind]
    actual = value(name, case)
    expected = by_autograd(name, kind).reshape(actual.shape)
    assert_close(actual, expected, magnitude(name, case), case.y, case.eps, case.axis)


def test_loss_may_tie_units_together():
    case = make_case()

    def loss(z):
        return torch.logsumexp(z.flatten(), 0)

    def layer(y):
        return primitive(y, case.gamma, case.beta, case.eps, case.axis)

    slope, z = torch.func.grad(loss), layer(case.y)
    expected = torch.func.jvp(torch.func.grad(lambda y: loss(layer(y))), (case.y,), (case.u,))[1]
    actual = batchnorm.hvp(
        case.y, slope(z), lambda w: torch.func.jvp(slope, (z,), (w,))[1], case.u, case.gamma
    )
    steep = np.max(np.abs(GAMMAS) / deviation(case.y))  # derivatives of the loss are at most 1
    spread = (steep**2 + steep / np.min(deviation(case.y))) * np.linalg.norm(case.u)
    assert_close(actual, expected, spread, case.y)


@st.composite
def batches(draw):
    """One unit, eps = 0, entries that are eighths, whose sums are exact: for tests of matrices."""
    m = draw(st.integers(2, 8))
    eighths = st.lists(st.integers(-9999, 9999), min_size=m, max_size=m)
    y, g, u = (np.array(draw(eighths)) / 8.0 for _ in range(3))
    assume(np.ptp(y) > 0)
    gamma = np.array([draw(st.integers(-99, 99)) / 8.0])
    return Case(y, g, u, np.zeros(m), np.zeros(m), gamma, np.zeros(1), 0.0, 0)
