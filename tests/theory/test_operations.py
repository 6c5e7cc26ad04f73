"""The primitives on arrays and numbers; and what the tests here share."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from theory.arithmetic import inner, mean, size, sqrt


def to_numpy(x):
    return x.detach().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)


def channels_last(a):
    """The same array, with the second axis the last in memory."""
    return np.moveaxis(np.moveaxis(a, 1, -1).copy(), -1, 1) if a.ndim > 1 else a


def by_name(function, arguments):
    """The value of a function, given what it takes of some arguments by name."""
    names = inspect.signature(function).parameters
    return function(**{name: value for name, value in arguments.items() if name in names})


def assert_same(found, expected):
    """Up to some hundred units of roundoff of the largest entry."""
    found, expected = map(to_numpy, (found, expected))
    assert found.shape == expected.shape
    allowed = 2**-46 * np.max(np.abs(expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize(
    ("shape", "axis"), [((5,), 0), ((5, 3), 0), ((5, 3), 1), ((2, 3, 4, 5), (0, 2, 3))]
)
def test_sums_run_over_the_batch_axes_and_keep_them(shape, axis):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (2, *shape)) + 1j  # small whole numbers: sums are exact
    m = np.sum(np.ones(shape), axis=axis, keepdims=True)
    np.testing.assert_array_equal(inner(a, b, axis), np.sum(a * b, axis=axis, keepdims=True))
    np.testing.assert_array_equal(mean(a, axis), np.sum(a, axis=axis, keepdims=True) / m)
    assert size(a, axis) == m.flat[0]


@pytest.mark.parametrize(
    ("x", "root"),
    [
        (np.array([4.0, 9.0]), np.array([2.0, 3.0])),
        (np.float32(4), np.float32(2)),
        (torch.tensor([4.0]), torch.tensor([2.0])),
        (2.25, 1.5),
        (Fraction(9, 4), 1.5),
        (sp.Integer(2), sp.sqrt(2)),
        (np.array([sp.Integer(8)], dtype=object), np.array([2 * sp.sqrt(2)], dtype=object)),
    ],
)
def test_square_root_keeps_to_its_arithmetic(x, root):
    assert sqrt(x) == root if np.ndim(x) == 0 else all(sqrt(x) == root)
    assert type(sqrt(x)) is type(root)
