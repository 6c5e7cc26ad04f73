"""Exact numbers against balls of 400 bits, and exact derivatives."""

from fractions import Fraction
from operator import add, eq, lt, mul, sub, truediv

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from theory.arithmetic.dual import levels
from theory.arithmetic.exact import (
    DifferentFieldsError,
    Quadratic,
    derivative,
    entry_by_entry,
    gradient,
    number,
    rational_array,
)

OPERATIONS = [add, sub, mul, truediv]
RATIONALS = st.fractions(min_value=-30, max_value=30, max_denominator=12)
ROOT2, ROOT3 = (Quadratic(0, 1, d) for d in (2, 3))


@st.composite
def numbers(draw, d):
    return Quadratic(draw(RATIONALS), draw(RATIONALS), draw(st.sampled_from(d)))


ANY = numbers([2, 3, 6, 7]) | RATIONALS.map(Quadratic)


@pytest.mark.parametrize("operation", OPERATIONS)
@settings(max_examples=50)
@given(x=numbers([6]), y=numbers([6, 24, Fraction(2, 3)]))
def test_operations_agree_with_balls(operation, x, y):
    assume(operation is not truediv or y)
    with ctx.workprec(400):
        found, expected = operation(x, y).ball(), operation(x.ball(), y.ball())
        assert found.overlaps(expected)
        assert found.rad() < 1e-80
        assert operation(x, y.ball()).overlaps(expected)


@pytest.mark.parametrize("kind", [Fraction, fmpq, int, np.int64, fmpz])
@settings(max_examples=25)
@given(x=ANY, y=st.integers(-9, 9).filter(bool))
def test_other_exact_numbers_stand_on_either_side(kind, x, y):
    other, exact = kind(y), Quadratic(y)
    assume(x)
    for operation in (*OPERATIONS, lt, eq):
        assert operation(x, other) == operation(x, exact)
        assert operation(other, x) == operation(exact, x)


@settings(max_examples=50)
@given(x=ANY, y=ANY)
def test_order_agrees_with_balls_also_across_fields(x, y):
    with ctx.workprec(400):
        difference = x.ball() - y.ball()
    if x == y:
        assert not x < y
        assert hash(x) == hash(y)
        assert difference.contains(arb(0))
    else:
        assert (x < y) == bool(difference < 0)
        assert (x > y) == bool(difference > 0)


def test_signs_that_floats_get_wrong():
    """Convergents of sqrt(2), closer to it than a float can tell."""
    p, q = 1, 1
    for _ in range(60):
        p, q = p + 2 * q, p + q
        assert (Fraction(p, q) > ROOT2) == (p * p > 2 * q * q)
    assert float(Fraction(p, q) - ROOT2) == pytest.approx(
        float(Fraction(p * p - 2 * q * q, q * q)) / (2 * 2**0.5), rel=1e-12
    )


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (Quadratic(fmpq(2, 3), fmpq(-1, 6), 6), "2/3 - 1/6*sqrt(6)"),
        (Quadratic(0, 1, 8), "2*sqrt(2)"),
        (Quadratic(0, -1, fmpq(1, 2)), "-1/2*sqrt(2)"),
        (Quadratic(1, 1, 5), "1 + sqrt(5)"),
        (Quadratic(1, 3, 4), "7"),
        (Quadratic(1, 3, 0), "1"),
        (ROOT2 * ROOT2 / 3, "2/3"),
        ((1 + ROOT2) ** 3, "7 + 5*sqrt(2)"),
        ((1 + ROOT2) ** -2, "3 - 2*sqrt(2)"),
    ],
)
def test_canonical_form(value, printed):
    assert str(value) == printed


def test_equal_numbers_are_equal_and_hash_alike():
    assert Quadratic(0, 1, 8) == 2 * ROOT2 == 4 / ROOT2
    assert Quadratic(0, 2, 4) == 4 == Fraction(4)
    assert hash(Quadratic(0, 2, 4)) == hash(4)
    assert hash(Quadratic(fmpq(1, 3))) == hash(Fraction(1, 3))
    assert ROOT2 not in (ROOT3, -ROOT2, "sqrt(2)")


def test_radicands_too_large_to_factor_still_combine():
    prime, other = fmpz(2) ** 89 - 1, fmpz(2) ** 107 - 1
    d = prime * other
    a, b = Quadratic(0, 1, d), Quadratic(0, 1, d * prime**2 * 9)
    assert b - 3 * prime * a == 0
    assert b / a == 3 * prime
    assert Quadratic(0, 1, d**2) == Quadratic(d**2).sqrt() == d


@settings(max_examples=50)
@given(x=ANY, p=RATIONALS)
def test_a_square_root_squares_to_its_number(x, p):
    assert (x * x).sqrt() == abs(x)
    assert Quadratic(abs(p)).sqrt() ** 2 == abs(p)


REFUSED = {
    "(sqrt(6) + sqrt(2))/2": (lambda: (2 + ROOT3).sqrt(), DifferentFieldsError, "balls"),
    "fourth root": (ROOT2.sqrt, DifferentFieldsError, "balls"),
    "negative": ((1 - ROOT2).sqrt, ValueError, "negative"),
    "negative radicand": (lambda: Quadratic(0, 1, -2), ValueError, "radicand"),
    "zero": (lambda: 1 / (ROOT2 * ROOT2 - 2), ZeroDivisionError, "variance"),
    "infinity": (lambda: number(float("inf")), ValueError, "finite"),
    "complex": (lambda: number(1j), TypeError, "rational"),
    "no scalar": (lambda: gradient(abs, rational_array([1, 2])), ValueError, "scalar"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_exact_value_is_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_independent_radicands_and_floats_are_refused_in_every_operation(operation):
    with pytest.raises(DifferentFieldsError, match=r"sqrt\(2\) and sqrt\(3\)"):
        operation(ROOT2, ROOT3)
    for x in (0.5, np.float64(0.5), np.float32(0.5)):
        for a, b in ((ROOT2, x), (x, ROOT2)):
            with pytest.raises(TypeError, match="float"):
                operation(a, b)


def test_input_is_taken_exactly():
    assert number(0.1) == Fraction(0.1) != Fraction(1, 10)
    assert number(np.float32(0.1)) == Fraction(float(np.float32(0.1)))
    assert number("0.1") == Fraction(1, 10)
    assert rational_array(i for i in range(3)).tolist() == [0, 1, 2]
    assert rational_array([[1, "1/2"], [ROOT2, fmpq(3)]]).shape == (2, 2)


def of_three(y):
    deviation = y - y.sum() / 3
    return (y @ y) * (deviation @ deviation).sqrt() / y[0]


def test_a_gradient_asks_its_function_once():
    asked = []
    y = rational_array([1, 3, 5])
    found = gradient(lambda y: asked.append(levels(y[0])) or of_three(y), y)
    assert [*map(len, asked)] == [1]
    assert (found == entry_by_entry(derivative, of_three, y)).all()


def test_the_gradient_of_a_gradient_is_the_same_entry_by_entry():
    y, u = rational_array([1, 3, 5]), rational_array([2, -1, 1])

    def slope(y):
        return gradient(of_three, y) @ u

    expected = [derivative(lambda y: gradient(of_three, y), y, e) @ u for e in np.eye(3, dtype=int)]
    assert (gradient(slope, y) == expected).all()


def test_levels_are_found_in_vectors_of_rates():
    met = []
    y, u = rational_array([1, 3]), rational_array([2, 1])
    gradient(lambda x: met.append(levels(derivative(lambda z: z @ z, x, u))) or x @ x, y)
    derivative(lambda x: gradient(lambda z: met.append(levels(z[0] * x[0])) or z @ z, x), y, u)
    assert [*map(len, met)] == [1, 2]
