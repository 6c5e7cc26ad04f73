"""Vectors of symbolic length: what their inner products determine, and nothing else."""

from itertools import count

import pytest
import sympy as sp

from theory.arithmetic import abstract, inner, mean, size, sqrt
from theory.arithmetic.abstract import Space, directional_derivative, gradient, is_zero


@pytest.fixture
def space():
    return Space()


def test_inner_products_are_bilinear_and_symmetric(space):
    a, b, c = map(space.vector, "abc")
    x, y = sp.symbols("x y")
    assert is_zero((x * a + y * b).inner(c) - x * a.inner(c) - y * c.inner(b))
    assert not is_zero(a.inner(b) - a.inner(c))
    assert is_zero(a.apply_operator().inner(b) - b.apply_operator().inner(a))
    assert not is_zero(a.apply_operator().inner(b) - a.inner(b))
    assert a @ b == a.inner(b)


def test_the_ones(space):
    a, one, m = space.vector("a"), space.one, space.m
    assert (size(one), inner(one, one), mean(one)) == (m, m, 1)
    assert is_zero(a.sum() - a.inner(one))
    assert is_zero(mean(a - mean(a)))
    assert is_zero(mean(3 + a - 2) - mean(a) - 1)
    assert is_zero(mean(2 - a) - 2 + mean(a))


def test_a_space_is_told_what_it_knows():
    space = Space({frozenset("ab"): sp.Integer(5), frozenset("a"): sp.Integer(2)})
    a, b = space.vector("a"), space.vector("b")
    assert (a + b).inner(a) == 7


@pytest.mark.parametrize(
    "operation",
    [
        lambda a, b: a * b,
        lambda a, b: b * (2 * a),
        lambda a, b: 1 / a,
        lambda a, b: a / b,
        lambda a, b: sqrt(a),
        lambda a, b: a**2,
    ],
)
def test_elementwise_functions_are_refused(operation, space):
    with pytest.raises(TypeError):
        operation(space.vector("a"), space.vector("b"))


def test_directional_derivatives_in_closed_form(space):
    x, u, w = map(space.vector, "xuw")
    assert is_zero(directional_derivative(lambda x: x.inner(x), x, u) - 2 * x.inner(u))
    scaled = directional_derivative(lambda x: x * x.inner(w), x, u)
    assert is_zero(scaled - u * x.inner(w) - x * u.inner(w))
    root = directional_derivative(lambda x: sqrt(x.inner(x)), x, u)
    assert is_zero(root - x.inner(u) / sp.sqrt(x.inner(x)))


def test_gradients_in_closed_form(space):
    x, w = space.vector("x"), space.vector("w")
    cubic = gradient(lambda x: x.inner(x) * x.inner(w), x)
    assert is_zero(cubic - 2 * x * x.inner(w) - w * x.inner(x))
    assert is_zero(gradient(lambda x: x.inner(x.apply_operator()) / 2, x) - x.apply_operator())
    assert is_zero(gradient(mean, x) - space.one / space.m)


def test_a_gradient_is_not_disturbed_by_the_names_of_vectors(monkeypatch, space):
    """Its own fresh direction must not meet a vector that somebody called u0."""
    monkeypatch.setattr(abstract, "_fresh", count())
    x, w = space.vector("x"), space.vector("u0")
    assert is_zero(gradient(lambda x: x.inner(w) * w.inner(w), x) - w * w.inner(w))
