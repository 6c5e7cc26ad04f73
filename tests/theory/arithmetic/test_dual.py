"""Dual numbers against sympy; nested derivatives, and levels that must not be confused."""

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
ONE, TWO = Fraction(1), Fraction(2)


def over(a, b):
    """A quotient whose denominator has no real zero."""
    return a / (b * b + 1)


@pytest.mark.parametrize("operation", [add, sub, mul, over])
@settings(max_examples=10)
@given(x=RATIONALS, u=RATIONALS, c=RATIONALS)
def test_each_operation_has_the_slope_that_sympy_finds(operation, x, u, c):
    s = sp.Symbol("s")
    for f in (
        lambda x: operation(x, x * x + 1),
        lambda x: operation(x, c),
        lambda x: operation(c, x),
        lambda x: operation(operation(3, x), np.int64(2)),
    ):
        found = derivative(f, x, u)
        assert isinstance(found, Fraction)
        assert found == sp.diff(f(s), s).subs(s, sp.Rational(x)) * sp.Rational(u)


@pytest.mark.parametrize("power", [-2, -1, 0, 1, 5])
def test_powers(power):
    assert derivative(lambda x: x**power, TWO, Fraction(3)) == 3 * power * TWO ** (power - 1)


def test_square_root():
    x = sp.Symbol("x", positive=True)
    assert derivative(lambda x: x.sqrt(), x, 1) == 1 / (2 * sp.sqrt(x))
    assert derivative(lambda x: x.sqrt(), fmpq(9, 4), fmpq(1)) == fmpq(1, 3)
    assert derivative(lambda x: x.sqrt(), arb(4), arb(1)) == 0.25


def test_an_absolute_value_has_no_slope_at_zero():
    assert [derivative(abs, x, ONE) for x in (TWO, -TWO)] == [1, -1]
    assert derivative(lambda x: derivative(lambda x: x * abs(x), x, ONE), -TWO, ONE) == -2
    with pytest.raises(ZeroDivisionError):
        derivative(abs, Fraction(0), ONE)


def test_a_derivative_of_a_derivative():
    def slope(x):
        return derivative(lambda x: 1 / (x * x), x, ONE)

    assert derivative(slope, TWO, ONE) == Fraction(6, 16)
    assert derivative(lambda x: derivative(slope, x, ONE), TWO, ONE) == Fraction(-24, 32)


def test_perturbation_confusion():
    """Where both derivatives share their t, these come out as 2 and as 6 x^5."""
    value = derivative(lambda x: x * derivative(lambda y: x + y, ONE, ONE), ONE, ONE)
    assert value == 1

    def inner(x):
        return derivative(lambda y: (x * y) ** 2, x * x, ONE)  # 2 x^4

    assert derivative(inner, Fraction(3), ONE) == 8 * 27


def test_a_constant_has_no_rate():
    t = infinitesimal()
    assert rate(Fraction(5), t) == 0
    assert rate(infinitesimal() * Fraction(5), t) == 0


@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
def test_arrays_on_either_side_are_met_entry_by_entry(operation):
    d = Dual(fmpq(2), fmpq(3), infinitesimal().level)
    array = np.array([fmpq(1, 2), fmpq(5)], dtype=object)
    for result, expected in (
        (operation(d, array), [operation(d, a) for a in array]),
        (operation(array, d), [operation(a, d) for a in array]),
    ):
        assert [(r.value, r.rate) for r in result] == [(e.value, e.rate) for e in expected]
