"""Vectors of symbolic length: what their inner products do not determine is refused.

What they do is seen by the statements that are proved with them.
"""

from itertools import count

import pytest
import sympy as sp

from theory.arithmetic import abstract, sqrt
from theory.arithmetic.abstract import Space, gradient, is_zero


@pytest.fixture
def space():
    return Space()


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


def test_a_gradient_is_not_disturbed_by_the_names_of_vectors(monkeypatch, space):
    """Its own fresh direction must not meet a vector that somebody called u0."""
    monkeypatch.setattr(abstract, "_fresh", count())
    x, w = space.vector("x"), space.vector("u0")
    assert is_zero(gradient(lambda x: x.inner(w) * w.inner(w), x) - w * w.inner(w))
