"""A zero test of expressions with roots that can say yes, no, and that it does not know."""

import numpy as np
import pytest
import sympy as sp

from theory import batchnorm
from theory.arithmetic.formulas import letter
from theory.arithmetic.symbolic import (
    UndecidedError,
    is_zero,
    vector,
)

A, B = sp.symbols("a b", real=True)
P = sp.Symbol("p", positive=True)


def test_sigma_of_two_is_neither_half_difference_but_its_size():
    y1, y2 = batch = vector("y", 2)
    sigma = batchnorm.standard_deviation(batch).item()
    assert is_zero(sigma**2 - (y1 - y2) ** 2 / 4)
    assert not is_zero(sigma - (y1 - y2) / 2)
    assert not is_zero(sigma + (y1 - y2) / 2)


ZERO = [
    sp.Integer(0),
    (A + B) ** 2 - A**2 - 2 * A * B - B**2,
    1 / (A - B) + 1 / (B - A),
    A / (A * B) - 1 / B,
    sp.sqrt(A + B) ** 3 - (A + B) * sp.sqrt(A + B),
    1 / sp.sqrt(A + B) - sp.sqrt(A + B) / (A + B),
    1 / (1 + sp.sqrt(2)) - sp.sqrt(2) + 1,
    (sp.sqrt(2) * A + sp.sqrt(15) * B) * sp.sqrt(6) - 2 * sp.sqrt(3) * A - 3 * sp.sqrt(10) * B,
    sp.sqrt(5 + 2 * sp.sqrt(6)) ** 2 - (sp.sqrt(2) + sp.sqrt(3)) ** 2,
    sp.sqrt(A**2 + 2 * A * B + B**2 + 1) - sp.sqrt((A + B) ** 2 + 1),
    sp.sqrt((9 * A**2 + 9 * B) / 4) - 3 * sp.sqrt(A**2 + B) / 2,
    sp.sqrt(A / P**2 + B / P**2) - sp.sqrt(A + B) / P,
    sp.sqrt(A / P + 1) - sp.sqrt(A * P + P**2) / P,
    sp.sqrt((P * A) ** 2 + (P * B) ** 2) - P * sp.sqrt(A**2 + B**2),
    sp.sqrt((A * B) ** 2 + A**2) - sp.Abs(A) * sp.sqrt(B**2 + 1),
    A * sp.Abs(B) / B - B * sp.Abs(A * B) / sp.Abs(A) * A / B**2,
    sp.sqrt(P**5 * A**2 + P**3) - P * sp.sqrt(P**3 * A**2 + P),
    sp.sqrt(B / (1 + A**2) + 1) * sp.sqrt(A**2 + 1) - sp.sqrt(A**2 + B + 1),
    sp.sqrt(sp.sqrt(A**2 + 1) + B) ** 4 - A**2 - 1 - 2 * B * sp.sqrt(A**2 + 1) - B**2,
]
NOT_ZERO = [
    sp.Integer(1),
    1 / (A - B) - 1 / (B - A),
    sp.sqrt(A + B) - sp.sqrt(A),
    sp.sqrt(A + B) + A + B,
    sp.sqrt(A**2 + 1) * sp.sqrt(B**2 + 1) - sp.sqrt(A**2 + B**2 + 1),
    sp.sqrt(2) - sp.Rational(99, 70),
    sp.sqrt(P**2 * A**2 + P**2) + P * sp.sqrt(A**2 + 1),
    sp.sqrt(A**2 + 2 * A * B + B**2 + 1) - sp.sqrt((A - B) ** 2 + 1),
]
RELATED = [
    sp.sqrt(A + 1) * sp.sqrt(B + 1) - sp.sqrt((A + 1) * (B + 1)),
    sp.sqrt(6) * sp.sqrt(A + B) - sp.sqrt(2) * sp.sqrt(3 * A + 3 * B),
    sp.sqrt(A**4 + 2 * A**2 + 1) - A**2 - 1,
    sp.sqrt((A * B) ** 2 + A**2) - A * sp.sqrt(B**2 + 1),  # it is not, for negative a
    sp.sqrt(2 * sp.sqrt(2) + 3) - 1 - sp.sqrt(2),
]
UNREADABLE = [
    sp.Float(0.5) - A,
    sp.exp(A),
    sp.Abs(sp.Symbol("z")),
    A ** sp.Rational(1, 3),
    A**B,
    sp.I,
    sp.pi,
]


@pytest.mark.parametrize("expression", ZERO, ids=str)
def test_zero(expression):
    assert is_zero(expression)


@pytest.mark.parametrize("expression", NOT_ZERO, ids=str)
def test_not_zero(expression):
    assert not is_zero(expression)


@pytest.mark.parametrize("expression", RELATED, ids=str)
def test_related_roots_are_not_judged(expression):
    """Each of these is zero where it is defined, or may be; none may be called nonzero."""
    with pytest.raises(UndecidedError, match="related"):
        is_zero(expression)


def test_related_roots_are_named_alike_whatever_was_met_before_and_long_ones_are_counted():
    a, b = letter("p"), letter("q")
    long = sum((letter(f"p{k}") for k in range(30)), start=a)
    for x, y in ((b, long), (long, b)):
        related = (x * y).sqrt() - x.sqrt() * y.sqrt()
        with pytest.raises(UndecidedError, match=r"related: q, 2 longer than can be shown;"):
            is_zero(related)


@pytest.mark.parametrize("expression", UNREADABLE, ids=str)
def test_other_expressions_are_refused(expression):
    with pytest.raises(TypeError, match="rational"):
        is_zero(expression)


def test_of_a_letter_that_may_be_negative_the_absolute_value_leaves_a_root():
    a, x = letter("a"), letter("x")
    scaled, size = ((a * x) ** 2 + a**2).sqrt(), (x**2 + 1).sqrt()
    assert is_zero(scaled - abs(a) * size)
    assert is_zero(a * x / scaled - a / abs(a) * x / size)
    assert not is_zero(scaled + abs(a) * size)
    with pytest.raises(UndecidedError, match="related"):
        is_zero(scaled - a * size)


def test_what_takes_more_products_than_allowed_is_given_up():
    expression = (A + B + 1) ** 4 - (A**2 + B**2 + 1 + 2 * A + 2 * B + 2 * A * B) ** 2
    assert is_zero(expression)
    with pytest.raises(UndecidedError, match=r"too large: it takes over 30 products"):
        is_zero(expression, most=30)


def test_denominators_of_unknown_sign_under_a_root_and_those_that_vanish_are_refused():
    with pytest.raises(TypeError, match="positive"):
        is_zero(sp.sqrt(1 / A + 1) - sp.sqrt(A + A**2) / A)  # false for negative a
    with pytest.raises(ZeroDivisionError, match="identically"):
        is_zero(1 / ((A + B) * (A - B) - A**2 + B**2))


def test_every_entry_counts():
    assert is_zero(np.array([[A - A, 0], [A * B - B * A, (A + 1) - A - 1]], dtype=object))
    assert not is_zero(np.array([A - A, A], dtype=object))
