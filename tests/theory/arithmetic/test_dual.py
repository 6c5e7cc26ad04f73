"""Dual numbers against closed forms; nested derivatives, and levels that must not be confused."""

from fractions import Fraction
from operator import add, mul, sub, truediv

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.arithmetic.dual import Dual, derivative, infinitesimal, rate

RATIONALS = st.fractions(min_value=-9, max_value=9, max_denominator=9)
X = sp.Symbol("x", positive=True)


def over(a, b):
    """A quotient whose denominator has no real zero."""
    return a / (b * b + 1)


@settings(max_examples=25)
@given(x=RATIONALS, u=RATIONALS, c=RATIONALS)
@pytest.mark.parametrize("operation", [add, sub, mul, over])
def test_each_operation_has_the_slope_that_sympy_finds(operation, x, u, c):
    s = sp.Symbol("s")
    for f in (
        lambda x: operation(x, x * x + 1),
        lambda x: operation(x, c),
        lambda x: operation(c, x),
        lambda x: operation(operation(x, 3), 2),
    ):
        slope = sp.diff(f(s), s).subs(s, sp.Rational(x)) * sp.Rational(u)
        assert sp.Rational(derivative(f, x, u)) == slope


@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
@pytest.mark.parametrize("other", [3, np.int64(3), Fraction(3)])
def test_whole_numbers_on_either_side_keep_it_exact(operation, other):
    at = (Fraction(2, 3), Fraction(1, 7))
    for f in (lambda x: operation(x, other), lambda x: operation(other, x)):
        value = derivative(f, *at)
        assert isinstance(value, Fraction)
        assert float(value) == pytest.approx(
            (f(float(at[0]) + 1e-6) - f(float(at[0]) - 1e-6)) / 2e-6 * float(at[1])
        )


@pytest.mark.parametrize("power", [1, 2, 5])
def test_powers(power):
    assert derivative(lambda x: x**power, Fraction(2), Fraction(3)) == 3 * power * 2 ** (power - 1)


@pytest.mark.parametrize("power", [0, -1, -2])
def test_powers_that_are_not_positive(power):
    expected = 3 * power * Fraction(2) ** (power - 1)
    assert derivative(lambda x: x**power, Fraction(2), Fraction(3)) == expected


def test_square_root():
    assert derivative(lambda x: x.sqrt(), X, 1) == 1 / (2 * sp.sqrt(X))
    assert derivative(lambda x: x.sqrt(), fmpq(9, 4), fmpq(1)) == fmpq(1, 3)
    assert derivative(lambda x: x.sqrt(), arb(4), arb(1)) == 0.25


def test_a_derivative_of_a_derivative():
    def slope(x):
        return derivative(lambda x: 1 / (x * x), x, Fraction(1))

    assert slope(Fraction(2)) == Fraction(-2, 8)
    assert derivative(slope, Fraction(2), Fraction(1)) == Fraction(6, 16)
    third = derivative(lambda x: derivative(slope, x, Fraction(1)), Fraction(2), Fraction(1))
    assert third == Fraction(-24, 32)


def test_perturbation_confusion():
    """d/dx x*(d/dy (x + y)) is 1; where both derivatives share their t it comes out as 2."""
    outer = derivative(
        lambda x: x * derivative(lambda y: x + y, Fraction(1), Fraction(1)),
        Fraction(1),
        Fraction(1),
    )
    assert outer == 1


def test_perturbation_confusion_across_a_product():
    """d/dx of d/dy (x*y)^2 = 2*x^2*y at y = x*x: 2*x^4 if y is bound inside, so 8*x^3."""
    value = derivative(
        lambda x: derivative(lambda y: (x * y) ** 2, x * x, Fraction(1)), Fraction(3), Fraction(1)
    )
    assert value == 8 * 27


def test_a_constant_has_no_rate():
    t = infinitesimal()
    assert rate(Fraction(5), t) == 0
    assert rate(infinitesimal() * Fraction(5), t) == 0
    assert derivative(lambda x: Fraction(7), Fraction(1), Fraction(1)) == 0


@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
def test_arrays_on_either_side_are_met_entry_by_entry(operation):
    t = infinitesimal()
    d = Dual(fmpq(2), fmpq(3), t.level)
    array = np.array([fmpq(1, 2), fmpq(5)], dtype=object)
    for result, expected in (
        (operation(d, array), [operation(d, a) for a in array]),
        (operation(array, d), [operation(a, d) for a in array]),
    ):
        assert result.shape == (2,)
        assert [(r.value, r.rate) for r in result] == [(e.value, e.rate) for e in expected]


def test_the_product_rule_would_be_missed_by_a_wrong_rule():
    """The checks above can fail: a product rule with one of its two terms does not pass."""

    class Wrong(Dual):
        def __mul__(self, other):
            return Dual(self.value * other.value, self.value * other.rate, self.level)

    t = infinitesimal()
    x = Wrong(Fraction(3), Fraction(1), t.level)
    assert rate(x * x, t) != 6
    assert rate(Dual(x.value, x.rate, t.level) * Dual(x.value, x.rate, t.level), t) == 6
