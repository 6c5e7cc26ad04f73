"""The family's derivatives are those of its definition; centred, those of batch normalisation."""

import numpy as np
import pytest
import torch
from torch.func import jvp

from theory import batchnorm, family

Y, U, V, W = torch.asarray(np.random.default_rng(5).standard_normal((4, 7, 3)))
EPS = 0.3


def definition(c):
    return c / torch.sqrt(torch.mean(c * c, 0, keepdim=True) + EPS)


def along(function, direction):
    return lambda c: jvp(function, (c,), (direction,))[1]


@pytest.mark.parametrize(
    ("derivative", "directions"),
    [(family.first, (U,)), (family.second, (U, V)), (family.third, (U, V, W))],
)
def test_derivatives_are_those_of_the_definition(derivative, directions):
    expected = definition
    for direction in directions:
        expected = along(expected, direction)
    found = derivative(*family.standardize(Y, EPS), *directions)
    np.testing.assert_allclose(found, expected(Y), rtol=1e-12, atol=1e-13)


def test_centred_it_is_batch_normalisation():
    y, u, v = (batchnorm.centre(x) for x in (Y, U, V))
    standard = family.standardize(y, EPS)
    np.testing.assert_allclose(standard[0], batchnorm.normalize(Y, EPS), rtol=1e-13)
    np.testing.assert_allclose(standard[1], batchnorm.standard_deviation(Y, EPS), rtol=1e-13)
    first = family.first(*standard, u)
    np.testing.assert_allclose(first, batchnorm.jvp(Y, U, 1, EPS), rtol=1e-12, atol=1e-14)
    second = -family.second(*standard, u, v)
    expected = batchnorm.curvature(Y, V, U, 1, EPS)
    np.testing.assert_allclose(second, expected, rtol=1e-12, atol=1e-14)
