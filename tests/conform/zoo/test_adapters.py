"""An adapter's arrays are exact and its derivatives nest: a cubic, whose derivatives are known."""

from __future__ import annotations

import numpy as np
import pytest

from verify.conform.adapters import AdapterError, NotOffered, find, known

SHAPE = (3, 2)


@pytest.fixture(params=known())
def adapter(request):
    try:
        found = find(request.param)
    except (AdapterError, ImportError) as error:
        pytest.skip(f"{error}")
    return found


@pytest.fixture
def numbers():
    generator = np.random.default_rng(0)
    names = ("x", "u", "w", "g")
    return {name: np.round(generator.standard_normal(SHAPE), 3) for name in names} | {
        "gamma": np.array([2.0, -0.5]),
        "a": np.array([0.25, 3.0]),
    }


def cubic(x, gamma):
    return gamma * (x * x * x)


def along(adapter, inputs, direction):
    try:
        return adapter.jvp(cubic, inputs, direction)
    except NotOffered as reason:
        pytest.skip(str(reason))


def backward(adapter, inputs, g):
    try:
        return adapter.vjp(cubic, inputs, g)
    except NotOffered as reason:
        pytest.skip(str(reason))


def test_arrays_keep_their_numbers_in_every_dtype(adapter):
    values = np.array([[1.0, -2.5], [0.125, 96.0]])
    for dtype in adapter.dtypes:
        array = adapter.array(values, dtype)
        assert adapter.dtype(array) == dtype
        np.testing.assert_array_equal(adapter.numpy(array), values)


def test_gradients_are_those_of_the_cubic(adapter, numbers):
    inputs = tuple(adapter.array(numbers[name], "float64") for name in ("x", "gamma"))
    g = adapter.array(numbers["g"], "float64")
    in_x, in_gamma = map(adapter.numpy, backward(adapter, inputs, g))
    x, gamma = numbers["x"], numbers["gamma"]
    np.testing.assert_allclose(in_x, 3 * gamma * x**2 * numbers["g"], rtol=1e-14)
    np.testing.assert_allclose(in_gamma, (x**3 * numbers["g"]).sum(0), rtol=1e-13)


def test_a_tangent_is_that_of_the_cubic(adapter, numbers):
    inputs = tuple(adapter.array(numbers[name], "float64") for name in ("x", "gamma"))
    direction = tuple(adapter.array(numbers[name], "float64") for name in ("u", "a"))
    found = adapter.numpy(along(adapter, inputs, direction))
    x, gamma = numbers["x"], numbers["gamma"]
    expected = 3 * gamma * x**2 * numbers["u"] + numbers["a"] * x**3
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("outer", ["reverse", "forward"])
def test_derivatives_of_gradients_nest(adapter, numbers, outer):
    x, gamma, u = (adapter.array(numbers[name], "float64") for name in ("x", "gamma", "u"))
    g = adapter.array(numbers["g"], "float64")

    def gradient(at):
        return adapter.vjp(lambda y: cubic(y, gamma), (at,), g)[0]

    try:
        if outer == "reverse":
            found = adapter.vjp(gradient, (x,), u)[0]
        else:
            found = adapter.jvp(gradient, (x,), (u,))
    except NotOffered as reason:
        pytest.skip(str(reason))
    expected = 6 * numbers["gamma"] * numbers["x"] * numbers["u"] * numbers["g"]
    np.testing.assert_allclose(adapter.numpy(found), expected, rtol=1e-13)


def test_an_input_that_is_its_own_cotangent_is_counted_once(adapter, numbers):
    x, gamma = (adapter.array(numbers[name], "float64") for name in ("x", "gamma"))

    def gradient(at):
        return backward(adapter, (at, gamma), x)[0]

    try:
        found = adapter.vjp(gradient, (x,), x)[0]
    except NotOffered as reason:
        pytest.skip(str(reason))
    expected = 6 * numbers["gamma"] * numbers["x"] ** 3
    np.testing.assert_allclose(adapter.numpy(found), expected, rtol=1e-13)


def test_what_does_not_depend_on_an_input_has_the_gradient_zero(adapter, numbers):
    x, gamma = (adapter.array(numbers[name], "float64") for name in ("x", "gamma"))
    try:
        found = adapter.vjp(lambda y, _: y * 2.0, (x, gamma), x)
    except NotOffered as reason:
        pytest.skip(str(reason))
    np.testing.assert_array_equal(adapter.numpy(found[1]), np.zeros(2))
