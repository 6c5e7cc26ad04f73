"""What the formulas of each module must pass: comparisons of the tests next door, and a few more.

Each raises an AssertionError where a formula gives something else.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import test_batchnorm
import test_convolution
import test_preconditioning
import test_running
import torch
from torch.autograd.functional import hessian, jacobian

import theory.claim
from theory import batchnorm, preconditioning, running
from theory.claim import Reading, letters_of
from theory.convolution import correlations, gramian, moments, unfolded, windows
from verify.network import PrimitiveNetwork
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
        unit = map(torch.tensor, (GAMMA, BETA, eps))
        letters = letters_of(
            PrimitiveNetwork(batch, len(batch), *unit, direction, loss, CALCULUS), reading
        )
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
    for name in test_batchnorm.FORMULAS:
        test_batchnorm.test_formula_is_what_autograd_computes(name, "maps")


def of_running() -> None:
    """Evaluation mode."""
    np.testing.assert_allclose(running.update(0.5, 2.0, 0.1), 0.65)
    test_running.test_formulas_are_what_autograd_computes("units", 1.0, 0.0)


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
    for r, s in ((2, 5), (6, 3), (3, 4), (1, 2)):
        test_convolution.compare(test_convolution.whole((2, 2, r, s)), 5, None, {})


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
    running: of_running,
    theory.claim: of_letters,
    preconditioning: of_preconditioning,
    **dict.fromkeys((unfolded, gramian, moments, windows, correlations), of_convolution),
}
