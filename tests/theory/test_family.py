"""The family's derivatives: those of batch normalisation at centred vectors, symmetric, nested."""

from __future__ import annotations

import numpy as np
import pytest

from theory import batchnorm, family

RANDOM = np.random.default_rng(5)
Y, U, V, W = RANDOM.standard_normal((4, 7, 3))
EPS = 0.3


def standard(y=Y):
    return family.standardize(y, EPS)


def test_centred_it_is_batch_normalisation():
    yhat, sigma = standard(batchnorm.centre(Y))
    np.testing.assert_allclose(yhat, batchnorm.normalize(Y, EPS), rtol=1e-13)
    first = family.first(yhat, sigma, batchnorm.centre(U))
    np.testing.assert_allclose(first, batchnorm.jvp(Y, U, 1, EPS), rtol=1e-12, atol=1e-14)
    second = family.second(yhat, sigma, batchnorm.centre(U), batchnorm.centre(V))
    np.testing.assert_allclose(
        second, -batchnorm.curvature(Y, V, U, 1, EPS), rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("swapped", [(V, U, W), (W, V, U), (U, W, V)])
def test_the_third_derivative_is_symmetric(swapped):
    expected = family.third(*standard(), U, V, W)
    np.testing.assert_allclose(
        family.third(*standard(), *swapped), expected, rtol=1e-11, atol=1e-13
    )


def test_derivatives_are_self_adjoint():
    for derivative, directions in (
        (family.first, ()),
        (family.second, (V,)),
        (family.third, (V, V)),
    ):
        left = np.sum(W * derivative(*standard(), U, *directions), axis=0)
        right = np.sum(U * derivative(*standard(), W, *directions), axis=0)
        np.testing.assert_allclose(left, right, rtol=1e-11)


@pytest.mark.parametrize(
    ("lower", "higher", "directions"),
    [
        (lambda y: standard(y)[0], family.first, ()),
        (lambda y: family.first(*standard(y), V), family.second, (V,)),
        (lambda y: family.second(*standard(y), V, W), family.third, (V, W)),
    ],
)
def test_each_derivative_is_the_slope_of_the_one_below(lower, higher, directions):
    h = 1e-5
    slope = (lower(Y + h * U) - lower(Y - h * U)) / (2 * h)
    np.testing.assert_allclose(higher(*standard(), U, *directions), slope, rtol=1e-6, atol=1e-8)
