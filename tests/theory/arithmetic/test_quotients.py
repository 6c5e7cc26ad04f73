"""Quotients in lowest terms: squares of roots are known, what vanishes is no denominator."""

import pytest
import sympy as sp

from theory.arithmetic.quotients import factored, lowest_terms

x, y = sp.symbols("x y", real=True)


def test_squares_of_roots_and_of_absolute_values_are_known() -> None:
    s, t = sp.sqrt(x**2 + y), sp.sqrt(y / (x**2 + 1))
    assert lowest_terms(s**3 - s * y) == x**2 * s
    assert lowest_terms(t * t * (x**2 + 1) - y) == 0
    assert lowest_terms(abs(x - y) * abs(y - x) - x**2 - y**2) == -2 * x * y
    assert lowest_terms(1 / (s - x) - (s + x) / y) == 0
    assert lowest_terms(s - x) != 0
    assert lowest_terms(sp.sqrt(1 + s) ** 2 - 1) == s


def test_roots_that_look_different_are_one() -> None:
    assert lowest_terms(sp.sqrt((x + y) ** 2 - y**2) - sp.sqrt(x**2 + 2 * x * y)) == 0
    a, b = sp.symbols("a b", positive=True)
    assert lowest_terms(sp.sqrt(x**2 * a + x**2 * b) - abs(x) * sp.sqrt(a + b)) == 0
    assert lowest_terms(abs(x * y - y**2) - abs(y) * abs(y - x)) == 0


def test_a_denominator_that_vanishes_is_refused() -> None:
    with pytest.raises(ZeroDivisionError, match="vanishes identically"):
        lowest_terms(1 / ((x + y) ** 2 - x**2 - 2 * x * y - y**2))
    with pytest.raises(ZeroDivisionError, match="vanishes identically"):
        lowest_terms(y + 1 / (x - x))


def test_a_function_that_is_no_root_and_no_absolute_value_is_a_letter() -> None:
    largest = sp.Max(x, y)
    assert lowest_terms((largest**2 - x**2) / (largest - x)) == largest + x
    assert factored(2 * largest) == 2 * largest
