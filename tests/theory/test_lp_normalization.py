"""l_p normalisation against its definition, through torch autograd; what it refuses is beside."""

from math import inf

import numpy as np
import pytest
import torch
from mpmath import mp, mpf, workdps
from test_batchnorm import LAYOUTS, make_case, of_batch_or_units
from test_operations import assert_same, by_name

from theory import lp
from theory.arithmetic import size

EXPONENTS = (1, 2, inf)
UNIT_ROUNDOFF = 2.0**-53


def definition(p, eps, axis):
    """The average norm, and the normalised batch, literally, on torch's tensors."""

    def norm(y):
        if p == inf:
            return y.abs().amax(axis, keepdim=True) + eps
        return (y.abs().pow(p).mean(axis, keepdim=True) + eps).pow(1 / p)

    return norm, lambda y: (y - y.mean(axis, keepdim=True)) / norm(y)


@pytest.mark.parametrize("eps", [0.0, 0.7])
@pytest.mark.parametrize("p", [*EXPONENTS, 1.5])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_formulas_are_what_autograd_computes(layout, p, eps):
    case = make_case(layout, eps, offset=0.4)
    y, g, u, _, _, gamma, beta, eps, axis = case
    norm, yhat = definition(p, eps, axis)

    def z(y, gamma):
        return gamma * yhat(y) + beta

    gradient, gradient_gamma = torch.func.vjp(z, y, gamma)[1](g)
    expected = {
        lp.power_mean: norm(y),
        lp.slopes: size(y, axis) * torch.func.grad(lambda y: norm(y).sum())(y),
        lp.normalize: yhat(y),
        lp.forward: z(y, gamma),
        lp.jvp: torch.func.jvp(lambda y: z(y, gamma), (y,), (u,))[1],
        lp.gradient: gradient,
        lp.gradient_gamma: gradient_gamma,
    }
    for formula, value in expected.items():
        found = by_name(formula, case._asdict() | {"p": p})
        assert_same(found, of_batch_or_units(value, case))


@pytest.mark.parametrize(
    ("p", "y", "slopes"),
    [
        (1, [0.0, -2.0, 5.0, 0.0], [0.0, -1.0, 1.0, 0.0]),
        (inf, [3.0, -3.0, 1.0, 3.0], [4 / 3, -4 / 3, 0.0, 4 / 3]),
        (inf, [0.0, 0.0], [0.0, 0.0]),
        (2, [0.0, 0.0], [0.0, 0.0]),
    ],
)
def test_at_a_kink_the_slopes_are_those_of_automatic_differentiation(p, y, slopes):
    y, eps = np.array(y), 0.5
    np.testing.assert_array_equal(lp.slopes(y, p, eps), slopes)
    norm, _ = definition(p, eps, 0)
    by_autograd = len(y) * torch.func.grad(lambda y: norm(y).sum())(torch.asarray(y))
    np.testing.assert_allclose(by_autograd, slopes, rtol=4 * UNIT_ROUNDOFF)


@pytest.mark.parametrize("p", EXPONENTS)
def test_limits_are_what_the_documentation_says(p):
    for y in (np.array([-3.0]), np.array([2.0, 2.0, 2.0])):
        g = np.arange(1.0, len(y) + 1)
        np.testing.assert_array_equal(lp.forward(y, p, 2.0, 0.7), 0.7 + 0 * y)
        np.testing.assert_array_equal(lp.gradient(y, g, p), (g - g.mean()) / abs(y[0]))
        np.testing.assert_array_equal(lp.jvp(y, y, p), 0 * y)
    zeros = np.zeros((3, 2))
    np.testing.assert_array_equal(lp.forward(zeros, p, beta=0.5, eps=1e-5), zeros + 0.5)


@pytest.mark.parametrize(
    ("p", "size"), [(3, 1e-15), (2, 1e-30), (3, 1e14), (50, 1e3), (1.5, 1e-40)]
)
def test_no_power_leaves_the_range(p, size):
    """In single precision, against the definition in numbers of many digits."""
    y = np.array([1.298779, 0.8658527, -0.4329263]).astype(np.float32) * np.float32(size)
    with workdps(50):
        exact = [mpf(float(x)) for x in y]
        norm = (mp.fsum(abs(x) ** mpf(p) for x in exact) / 3) ** (1 / mpf(p))
        expected = [float((x - mp.fsum(exact) / 3) / norm) for x in exact]
    if size > 1e-38:  # less has few digits itself
        np.testing.assert_allclose(lp.forward(y, p), expected, rtol=4e-6)
        np.testing.assert_allclose(lp.power_mean(y, p), [float(norm)], rtol=4e-6)
    assert np.all(np.isfinite(lp.forward(y, p)))


@pytest.mark.parametrize("p", [40, 1e8, 1e12, 1e17, 1e300])
def test_a_large_exponent_costs_slopes_no_digits(p):
    y = np.array([1.0, 2.0, 6.0])
    of_largest = 3 * (1 / 3) ** (1 / p) / (1 + (1 / 3) ** p)
    np.testing.assert_allclose(lp.slopes(y, p), [0, 0, of_largest], rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(lp.gradient(y, np.array([1, -0.5, 2]), p)[2], 5 / 72, rtol=0.06)


@pytest.mark.parametrize(("dtype", "eps"), [(np.float32, 1e-40), (np.float64, 1e-310)])
@pytest.mark.parametrize("p", [1, 2, 3, inf])
def test_a_subnormal_epsilon_is_one(p, dtype, eps):
    zeros = np.zeros(3, dtype)
    np.testing.assert_array_equal(lp.forward(zeros, p, beta=2.0, eps=eps), zeros + 2)
    small = dtype(eps) * np.array([1, -2, 4], dtype)
    if p == 2:  # of which the root of eps is far larger
        found = lp.normalize(small, p, eps)
        np.testing.assert_allclose(found, np.array([0, -3, 3]) * eps**0.5, 1e-5, 1e-5 * eps**0.5)


@pytest.mark.parametrize("convert", [np.asarray, torch.asarray])
@pytest.mark.parametrize("p", [1, 1.5, 2, 3, inf])
def test_subnormal_entries_are_numbers_in_every_library(p, convert):
    y = np.array([1.0, -1.0, 1.0]) * 2.0**-1060
    found = np.asarray(lp.normalize(convert(y), p))
    np.testing.assert_allclose(found, np.array([2, -4, 2]) / 3, rtol=1e-14)


FAR_BELOW = [
    (np.array([1e-30, 3e-30, -2e-30], np.float32), 1, 1e20, [1, 1, -1]),
    (np.array([1e-170, 3e-170]), inf, 1e160, [0, 2]),
    (np.array([1e-160]), 1.5, 1e240, [1e-160]),
    (np.array([1e200, -1e-200]), 1, 0.0, [1, -1]),
    (np.array([1e-200, -1e-210]), 2, 1e20, [1e-210, -1e-220]),
]


@pytest.mark.parametrize(("y", "p", "eps", "expected"), FAR_BELOW)
def test_slopes_are_those_of_entries_far_below_the_norm(y, p, eps, expected):
    np.testing.assert_allclose(lp.slopes(y, p, eps), expected, rtol=1e-6 if p == 1 else 1e-14)
