"""An adapter's arrays are exact and its derivatives nest: a cubic, whose derivatives are known."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from verify.conform.adapters import AdapterError, NotOffered, find, known

GENERATOR = np.random.default_rng(0)
NUMBERS = {name: np.round(GENERATOR.standard_normal((3, 2)), 3) for name in "xuwg"} | {
    "gamma": np.array([2.0, -0.5]),
    "a": np.array([0.25, 3.0]),
}
X, U, G, GAMMA, A = (NUMBERS[name] for name in ("x", "u", "g", "gamma", "a"))


@pytest.fixture(params=known())
def adapter(request):
    try:
        return find(request.param)
    except (AdapterError, ImportError) as error:
        pytest.skip(f"{error}")


@contextmanager
def as_far_as_offered():
    try:
        yield
    except NotOffered as reason:
        pytest.skip(str(reason))


def arrays(adapter, *names):
    return tuple(adapter.array(NUMBERS[name], "float64") for name in names)


def cubic(x, gamma):
    return gamma * (x * x * x)


def test_arrays_keep_their_numbers_in_every_dtype(adapter):
    values = np.array([[1.0, -2.5], [0.125, 96.0]])
    for dtype in adapter.dtypes:
        array = adapter.array(values, dtype)
        assert adapter.dtype(array) == dtype
        np.testing.assert_array_equal(adapter.numpy(array), values)


def test_gradients_are_those_of_the_cubic(adapter):
    with as_far_as_offered():
        slopes = adapter.vjp(cubic, arrays(adapter, "x", "gamma"), *arrays(adapter, "g"))
    in_x, in_gamma = map(adapter.numpy, slopes)
    np.testing.assert_allclose(in_x, 3 * GAMMA * X**2 * G, rtol=1e-14)
    np.testing.assert_allclose(in_gamma, (X**3 * G).sum(0), rtol=1e-13)


def test_a_tangent_is_that_of_the_cubic(adapter):
    with as_far_as_offered():
        found = adapter.jvp(cubic, arrays(adapter, "x", "gamma"), arrays(adapter, "u", "a"))
    expected = 3 * GAMMA * X**2 * U + A * X**3
    np.testing.assert_allclose(adapter.numpy(found), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("outer", ["reverse", "forward"])
def test_derivatives_of_gradients_nest(adapter, outer):
    x, gamma, u, g = arrays(adapter, "x", "gamma", "u", "g")

    def gradient(at):
        return adapter.vjp(lambda y: cubic(y, gamma), (at,), g)[0]

    with as_far_as_offered():
        is_reverse = outer == "reverse"
        found = (
            adapter.vjp(gradient, (x,), u)[0] if is_reverse else adapter.jvp(gradient, (x,), (u,))
        )
    np.testing.assert_allclose(adapter.numpy(found), 6 * GAMMA * X * U * G, rtol=1e-13)


def test_an_input_that_is_its_own_cotangent_is_counted_once(adapter):
    x, gamma = arrays(adapter, "x", "gamma")
    with as_far_as_offered():
        found = adapter.vjp(lambda at: adapter.vjp(cubic, (at, gamma), x)[0], (x,), x)[0]
    np.testing.assert_allclose(adapter.numpy(found), 6 * GAMMA * X**3, rtol=1e-13)


def test_what_does_not_depend_on_an_input_has_the_gradient_zero(adapter):
    x, gamma = arrays(adapter, "x", "gamma")
    with as_far_as_offered():
        found = adapter.vjp(lambda y, _: y * 2.0, (x, gamma), x)
    np.testing.assert_array_equal(adapter.numpy(found[1]), np.zeros(2))
