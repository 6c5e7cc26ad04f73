"""Dual numbers: powers, roots, and levels of nested derivatives that must not be confused."""

from fractions import Fraction
from operator import add, mul, sub, truediv

import numpy as np
import pytest
import sympy as sp
from flint import arb, fmpq

from theory.arithmetic.dual import Dual, derivative, infinitesimal, rate

ONE, TWO = Fraction(1), Fraction(2)


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
