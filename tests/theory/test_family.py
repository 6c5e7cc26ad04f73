"""The family's derivatives are those of its definition."""

import numpy as np
import pytest
import torch
from torch.func import jvp

from theory import family

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
