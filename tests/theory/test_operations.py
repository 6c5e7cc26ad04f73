"""The primitives on arrays and numbers; and the one comparison that the tests here use."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from theory.arithmetic import inner, mean, size, sqrt

ROUNDINGS = 8
"""Two sides, each a chain of at most four sums over the batch: mean, variance, two more."""


def to_numpy(x):
    return x.detach().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)


def channels_last(a):
    """The same array, with the second axis the last in memory."""
    return np.moveaxis(np.moveaxis(a, 1, -1).copy(), -1, 1) if a.ndim > 1 else a


def by_name(function, arguments):
    """The value of a function, given what it takes of some arguments by name."""
    names = inspect.signature(function).parameters
    return function(**{name: value for name, value in arguments.items() if name in names})


def unit_norm(x, axis=0):
    """Euclidean norm over the batch, one for each unit."""
    return np.sqrt(np.sum(np.abs(to_numpy(x)) ** 2, axis=axis, keepdims=True))


def deviation(y, eps=0, axis=0):
    """Sigma in each unit, from NumPy's own variance."""
    return np.sqrt(np.var(to_numpy(y), axis=axis, keepdims=True) + eps)


def condition(y, eps=0, axis=0):
    """The condition number 1 + |mean|/sigma of normalising each unit."""
    return 1 + np.abs(np.mean(to_numpy(y), axis=axis, keepdims=True)) / deviation(y, eps, axis)


def assert_close(actual, expected, magnitude, y, eps=0, axis=0):
    """Compare up to roundoff: ROUNDINGS * m * u * (1 + |mean|/sigma) * magnitude.

    A sum of m terms is off by at most m*u times the sum of their sizes (u, the unit roundoff).
    For the mean that is m*u*(|mean| + sigma), so that yhat, of size one, is off by m*u times its
    condition number 1 + |mean|/sigma; every closed form is a short chain of such sums, each at
    most ``magnitude`` (a product of norms, one for each unit).  A magnitude of 0 asks for 0.
    """
    actual, expected, m = to_numpy(actual), to_numpy(expected), size(y, axis)
    assert actual.shape == expected.shape
    roundoff = m * np.finfo(actual.dtype).eps / 2 * condition(y, eps, axis)
    allowed = np.broadcast_to(ROUNDINGS * roundoff * magnitude, actual.shape)
    error = np.abs(actual - expected)
    if not np.all(error <= allowed):
        worst = np.unravel_index(np.argmax(error - allowed), error.shape)
        raise AssertionError(
            f"at {tuple(map(int, worst))}: {actual[worst]!r} and {expected[worst]!r} differ by "
            f"{error[worst]:.2e}, allowed {allowed[worst]:.2e}; m = {m}, eps = {eps}"
        )


def test_comparison_sees_a_few_more_roundings_and_what_is_not_finite():
    y = np.array([0.0, 0.0, 2.0, 2.0])  # m = 4, mean = sigma = 1: the condition number is 2
    unit = 4 * 2 * np.finfo(float).eps / 2
    assert_close(y, y + 0.9 * ROUNDINGS * unit, 1.0, y)
    assert_close(y, y, 0.0, y)
    for magnitude, error in ((1.0, 1.1 * ROUNDINGS * unit), (0.0, unit), (1.0, np.nan)):
        with pytest.raises(AssertionError, match="differ by"):
            assert_close(y, y + error, magnitude, y)


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
