"""The primitives on arrays and numbers; and the one comparison that the tests here use."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from theory.arithmetic import Vector, inner, mean, norm_squared, size, sqrt

ROUNDINGS = 8
"""Two sides, each a chain of at most four sums over the batch: mean, variance, two more."""


def to_numpy(x):
    return x.detach().numpy() if isinstance(x, torch.Tensor) else np.asarray(x)


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


class Ones:
    """The vector of ones of symbolic length."""

    def inner(self, other):
        return sp.Symbol("m") if isinstance(other, Ones) else NotImplemented

    def length(self):
        return sp.Symbol("m")

    def mean(self):
        return 1


@pytest.mark.parametrize("magnitude", [1.0, 0.0])
def test_comparison_sees_an_error_of_a_few_more_roundings(magnitude):
    y = np.array([0.0, 0.0, 2.0, 2.0])  # m = 4, mean = sigma = 1: the condition number is 2
    unit = 4 * 2 * np.finfo(float).eps / 2
    assert_close(y, y + 0.9 * ROUNDINGS * unit * magnitude, magnitude, y)
    with pytest.raises(AssertionError, match="differ by"):
        assert_close(y, y + 1.1 * ROUNDINGS * unit, magnitude, y)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_comparison_sees_what_is_not_finite(wrong):
    y = np.array([0.0, 2.0])
    with pytest.raises(AssertionError, match="differ by"):
        assert_close(np.array([wrong, 2.0]), y, 1.0, y)


@pytest.mark.parametrize(
    ("shape", "axis"), [((5,), 0), ((5, 3), 0), ((5, 3), 1), ((2, 3, 4, 5), (0, 2, 3))]
)
def test_sums_run_over_the_batch_axes_and_keep_them(shape, axis):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (2, *shape)).astype(float)  # small integers: sums are exact
    m = np.sum(np.ones(shape), axis=axis, keepdims=True)
    np.testing.assert_array_equal(inner(a, b, axis), np.sum(a * b, axis=axis, keepdims=True))
    np.testing.assert_array_equal(mean(a, axis), np.sum(a, axis=axis, keepdims=True) / m)
    np.testing.assert_array_equal(norm_squared(a, axis), inner(a, a, axis))
    assert size(a, axis) == m.flat[0]


def test_inner_product_conjugates_nothing():
    a = np.array([1j, 2.0])
    np.testing.assert_array_equal(inner(a, a), [3.0 + 0j])
    assert inner(a, a) != np.vecdot(a, a)


def test_a_vector_that_is_no_array_answers_for_itself():
    one = Ones()
    assert isinstance(one, Vector)
    assert not isinstance(np.ones(3), Vector)
    assert inner(one, one) == norm_squared(one) == size(one) == sp.Symbol("m")
    assert mean(one) == 1


@pytest.mark.parametrize(
    ("x", "root"),
    [
        (np.array([4.0, 9.0]), np.array([2.0, 3.0])),
        (np.float32(4), np.float32(2)),
        (torch.tensor([4.0]), torch.tensor([2.0])),
        (4, 2),
        (2.25, 1.5),
        (Fraction(9, 4), 1.5),
        (sp.Integer(2), sp.sqrt(2)),
    ],
)
def test_square_root_keeps_to_its_arithmetic(x, root):
    assert np.all(to_numpy(sqrt(x) == root))
    assert type(sqrt(x)) is type(root) or x in (4, 2.25)


def test_square_root_asks_each_object_of_an_array():
    symbol = sp.Symbol("x")
    roots = sqrt(np.array([sp.Integer(8), symbol], dtype=object))
    assert list(roots) == [2 * sp.sqrt(2), sp.sqrt(symbol)]
