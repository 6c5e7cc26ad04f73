"""What the formulas of each module must pass: comparisons of the tests next door, and a few more.

Each raises an AssertionError where a formula gives something else.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import test_batchnorm
import test_convolution
import test_dense
import test_lp_normalization
import test_preconditioning
import test_running
import torch
from torch.autograd.functional import hessian, jacobian

import theory.claim
from theory import batchnorm, dense, lp_normalization, preconditioning, running
from theory.claim import Reading, Unit
from theory.convolution import correlations, gramian, moments, unfolded, windows
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import Batch
from verify.witnesses.autograd import CALCULUS

ROWS = ([3, -1, 2, 0], [1, -2, 3, 1], [-3, 3, -1, 2], [2, 1, -3, -1], [1, 2, 3, 4])
"""A batch, two directions, and the coefficients of a loss; no two numbers of them alike."""
batch, direction, other, linear, quartic = (torch.tensor(r, dtype=torch.float64) for r in ROWS)
curved = torch.outer(direction, direction) + torch.diag(other * other)
GAMMA, BETA, EPS = -1.5, 0.5, 0.75


def loss(z: torch.Tensor) -> torch.Tensor:
    """A loss of the layer's output."""
    return linear @ z + z @ curved @ z / 2 + quartic @ z**4


def of_letters() -> None:
    """The papers' letters, in each reading."""
    for reading in Reading:
        eps = 0.0 if reading is Reading.NO_EPSILON else EPS
        in_yhat = 0.0 if reading is Reading.UNIT_VARIANCE else eps
        gamma, beta, epsilon = map(torch.tensor, (GAMMA, BETA, eps))
        unit = Batch(
            y=batch, gamma=gamma, beta=beta, eps=epsilon, direction=direction, other_direction=other
        )
        letters = Unit(PrimitiveNetwork(unit, len(batch), loss, CALCULUS), reading)
        y, sigma = batch - batch.mean(), (batch.var(correction=0) + eps) ** 0.5
        z = GAMMA * y / sigma + BETA
        assert (letters.m, letters.gamma, letters.beta) == (len(y), GAMMA, BETA)
        for found, expected in (
            (letters.sigma, sigma.reshape(1)),
            (letters.one, torch.ones_like(y)),
            (letters.yhat, y / (batch.var(correction=0) + in_yhat) ** 0.5),
            (letters.g, jacobian(loss, z)),
            (letters.H(direction), hessian(loss, z) @ direction),
        ):
            torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)


def of_batchnorm() -> None:
    """Units, and maps."""
    y = np.array(ROWS[0], dtype=float)
    np.testing.assert_allclose(batchnorm.variance(y), [np.var(y)])
    np.testing.assert_allclose(batchnorm.standard_deviation(y, EPS), [np.sqrt(np.var(y) + EPS)])
    test_batchnorm.test_formulas_are_what_autograd_computes("maps", EPS)


def of_running() -> None:
    """Evaluation mode."""
    np.testing.assert_allclose(running.update(0.5, 2.0, 0.1), 0.65)
    test_running.test_formulas_are_what_autograd_computes("units", 1.0)


def of_dense() -> None:
    """Matrices of units, and of maps."""
    for layout in test_dense.LAYOUTS:
        test_dense.test_matrices_are_what_products_with_them_are(layout)


def of_lp_normalization() -> None:
    """Every kind of exponent, and entries whose powers leave the range."""
    for p in (1, 1.5, 2, np.inf):
        test_lp_normalization.test_formulas_are_what_autograd_computes("units", p, 0.7)
        for y in (ROWS[0], [0.25, -0.125]):
            y = torch.tensor(y, dtype=torch.float64)
            slopes = lp_normalization.slopes(y, p, EPS)
            np.testing.assert_allclose(lp_normalization.slopes_of_any_size(y, p, EPS), slopes)
            root = EPS if p == np.inf else EPS ** (1 / p)
            t = max(*abs(y).tolist(), root)
            shares = y / t, [EPS / (t if p == np.inf else t**p)], [t]
            for found, expected in zip(lp_normalization.shares(y, p, EPS), shares, strict=True):
                np.testing.assert_allclose(found, expected)
    assert lp_normalization.shares(np.zeros(2), 2)[2] == 1
    with np.errstate(over="ignore"):
        assert lp_normalization.shares(np.array([2e-310]), np.inf, 1e-310)[1] == 0.5
    for given in test_lp_normalization.FAR_BELOW:
        test_lp_normalization.test_slopes_are_those_of_entries_far_below_the_norm(*given)
    for p, size in ((3, 1e-15), (1.5, 1e-40)):
        test_lp_normalization.test_no_power_leaves_the_range(p, size)
    for p in (2, 3, np.inf):
        test_lp_normalization.test_a_subnormal_epsilon_is_one(p, np.float64, 1e-310)


def of_preconditioning() -> None:
    """A dense layer behind Batch Normalization."""
    test_preconditioning.test_formulas_give_what_matrices_give("NumPy")
    test_preconditioning.test_scale_factor()
    test_preconditioning.test_defaults_are_those_of_the_algorithm()


def of_convolution() -> None:
    """Convolutions as products with the unfolded matrix."""
    assert windows.Geometry(5, padding="valid").output(2) == 0
    maps = test_convolution.whole((3, 2, 6, 5))
    around = ((0, 0), (0, 0), (1, 1), (2, 2))
    np.testing.assert_array_equal(windows.pad(maps, 1, 2), np.pad(maps, around))
    for k, options, chunk in GEOMETRIES:
        test_convolution.compare(maps, k, chunk, options)
    test_convolution.test_an_offset_costs_variances_no_digits(np.float64, 1e12, 3, "valid")
    for c, r, s in ((2, 2, 5), (2, 6, 3), (2, 3, 3), (2, 3, 4), (2, 1, 2), (5, 5, 8)):
        test_convolution.compare(test_convolution.whole((1, c, r, s)), 5, None, {})
    long = test_convolution.whole((1, 2, 2, 5000))
    flat = np.moveaxis(long, 1, -1).reshape(-1, 2)
    np.testing.assert_array_equal(gramian.gram(long, 1)[1:, 1:], flat.T @ flat)


GEOMETRIES = (
    (3, {}, None),
    (3, {}, 1),
    (5, {}, None),
    (3, {"stride": 2}, None),
    (3, {"dilation": 2}, None),
    (5, {"padding": "valid"}, None),
)
"""The kernel, how it moves, and how many examples are taken at once."""


OF_MODULES: dict[ModuleType, Callable[[], None]] = {
    batchnorm: of_batchnorm,
    dense: of_dense,
    lp_normalization: of_lp_normalization,
    running: of_running,
    theory.claim: of_letters,
    preconditioning: of_preconditioning,
    **dict.fromkeys((unfolded, gramian, moments, windows, correlations), of_convolution),
}
