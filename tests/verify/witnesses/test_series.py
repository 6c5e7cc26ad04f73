"""Balls: certified derivatives by power series, and comparisons with three outcomes."""

from fractions import Fraction
from operator import add, mul, sub, truediv

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.arithmetic import exact, sqrt
from theory.claim import Relation
from verify.tolerance import Outcome
from verify.witnesses import series
from verify.witnesses.exact import compared
from verify.witnesses.series import NestingError, Series, ball, derivative, gradient

HOLDS, VIOLATED, UNDECIDED = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED
TINY = arb(2) ** -200
"""At 256 bits, the closed forms on the batches below lose less than 56 of them."""
NAN = arb("nan")


@pytest.fixture(autouse=True)
def _precision():
    with ctx.workprec(256):
        yield


def balls(values):
    return np.frompyfunc(ball, 1, 1)(np.asarray(values, dtype=object))


def is_close(a, b):
    """Whether two arrays of balls overlap and are narrow, so that any visible slip parts them."""
    a, b = balls(a), balls(b)
    is_narrow = all(difference.abs_upper() < TINY for difference in np.ravel(a - b))
    return is_narrow and compared(a, b, Relation.EQUAL) is not VIOLATED


def second_derivative(f, x, u, w):
    """One coefficient of one power series."""
    return derivative(lambda x: derivative(f, x, w), x, u)


FUNCTIONS = {
    "x ** 4": (lambda x: x**4, lambda x: 4 * x**3, lambda x: 12 * x**2),
    "x ** -2": (lambda x: x**-2, lambda x: -2 / x**3, lambda x: 6 / x**4),
    "x ** 0": (lambda x: x**0, lambda x: arb(0), lambda x: arb(0)),
    "sqrt": (lambda x: x.sqrt(), lambda x: 1 / (2 * x.sqrt()), lambda x: -1 / (4 * x * x.sqrt())),
    "constant": (lambda x: arb(5), lambda x: arb(0), lambda x: arb(0)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_first_and_second_derivatives_in_closed_form(name):
    f, first, second = FUNCTIONS[name]
    x, u, w = ball("7/3"), ball("5/3"), ball(-2)
    assert is_close(derivative(f, x, u), first(x) * u)
    assert is_close(second_derivative(f, x, u, w), second(x) * u * w)


@settings(max_examples=25)
@given(st.lists(st.fractions(-3, 3, max_denominator=8), min_size=9, max_size=9))
def test_mixed_derivatives_of_a_polynomial_are_those_of_dual_numbers(values):
    def f(x):
        return x[0] * x[0] * x[1] * x[2] + x[1] ** 3 - 2 * x[0] / (1 + x[2] * x[2])

    def hessian_times(arithmetic, x, u):
        return arithmetic.derivative(lambda x: arithmetic.gradient(f, x), x, u)

    with ctx.workprec(256):
        x, u, w = np.array(values, dtype=object).reshape(3, 3)
        expected = [ball(value.p) for value in hessian_times(exact, x, u)]
        assert is_close(hessian_times(series, x, u), expected)
        mixed = sum(e * ball(v) for e, v in zip(expected, w, strict=True))
        assert is_close(second_derivative(f, x, u, w), mixed)
        assert is_close(second_derivative(f, x, w, u), mixed)


def test_nested_derivatives_and_siblings_do_not_disturb_each_other():
    value = derivative(lambda x: x * derivative(lambda y: x + y, 1, 1), 1, 1)
    assert is_close(value, ball(1))
    value = derivative(lambda x: derivative(lambda y: (x * y) ** 2, x * x, 1), 3, 1)
    assert is_close(value, ball(8 * 27))

    def cubed(x):
        return derivative(lambda y: y * y * x, x, 1) * derivative(lambda y: y * x, x, 1)

    assert is_close(derivative(cubed, 2, 1), ball(6 * 4))  # of 2 x^3


def test_nesting_too_deep_is_refused_and_leaves_no_trace():
    def third(x):
        return derivative(lambda x: second_derivative(lambda x: x**3, x, 1, 1), x, 1)

    with pytest.raises(NestingError, match="deeper than 2"):
        third(1)
    assert is_close(second_derivative(lambda x: x**3, 1, 1, 1), ball(6))


def test_a_series_cut_short_is_refused(monkeypatch):
    monkeypatch.setattr(ctx, "cap", 4)
    with pytest.raises(ValueError, match="too short"):
        second_derivative(lambda x: x * x, 1, 1, 1)


@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
def test_other_numbers_on_either_side(operation):
    x, u = ball("2/7"), ball(1)
    for other in (3, np.int64(3), 0.5, Fraction(1, 3), fmpq(1, 3), arb(3)):
        constant = ball(other)
        expected = derivative(lambda x, c=constant: operation(x, c), x, u)
        assert is_close(derivative(lambda x, c=other: operation(x, c), x, u), expected)
        if not isinstance(other, Fraction):  # a Fraction on the left does not ask the right
            expected = derivative(lambda x, c=constant: operation(c, x), x, u)
            assert is_close(derivative(lambda x, c=other: operation(c, x), x, u), expected)


def test_numbers_are_taken_exactly():
    for bits in (16, 256):
        with ctx.workprec(bits):
            assert ball(0.1).contains(arb(0.1))
            assert ball("1/3").contains(arb(1) / 3)
            assert (ball(2**200 + 1) - ball(2**200)).contains(1)
    assert (ball(0.1), ball(2**200 + 1) - ball(2**200)) == (arb(0.1), 1)
    assert ball(np.float32(0.1)) == ball(float(np.float32(0.1)))
    assert ball(0.1) != ball("0.1")
    assert balls([[1, "1/2"], [0.5, fmpq(1, 2)]]).shape == (2, 2)
    for bad in (float("inf"), np.float64("nan")):
        with pytest.raises(ValueError, match="finite"):
            ball(bad)
    with pytest.raises(TypeError, match="number"):
        ball(None)


def test_division_by_what_may_be_zero_is_nan_and_decides_nothing():
    assert derivative(lambda x: x / (x * x), 0, 1).is_nan()
    assert derivative(lambda x: 1 / x, arb(0, 1), 1).is_nan()
    assert derivative(lambda x: x.sqrt(), 0, 1).is_nan()
    for relation in Relation:
        assert compared(NAN, ball(1), relation) is UNDECIDED


@pytest.mark.parametrize(
    ("relation", "less", "equal", "more"),
    [
        (Relation.EQUAL, VIOLATED, HOLDS, VIOLATED),
        (Relation.AT_MOST, HOLDS, HOLDS, VIOLATED),
        (Relation.AT_LEAST, VIOLATED, HOLDS, HOLDS),
        (Relation.LESS_THAN, HOLDS, VIOLATED, VIOLATED),
        (Relation.MORE_THAN, VIOLATED, VIOLATED, HOLDS),
    ],
)
def test_comparison(relation, less, equal, more):
    assert compared(1, 2, relation) is less
    assert compared(2, 2, relation) is equal
    assert compared(3, 2, relation) is more
    assert compared(arb(2, 1), 2, relation) is UNDECIDED
    assert compared(arb(1, 0.25), arb(2, 0.25), relation) is less
    wide = np.array([ball(1), arb(2, 1)], dtype=object)
    assert compared(wide, [2, 2], relation) is (UNDECIDED if less is HOLDS else VIOLATED)


def test_balls_that_touch():
    touching = arb(3, 1), arb(3, 1).upper()
    assert compared(*touching, Relation.AT_MOST) is HOLDS
    assert compared(*touching, Relation.LESS_THAN) is UNDECIDED
    assert compared(*touching, Relation.MORE_THAN) is VIOLATED
    assert compared(*touching, Relation.AT_LEAST) is UNDECIDED


def test_derivatives_are_independent_of_dual_numbers(monkeypatch):
    """The power series go through no rule of the other exact witness."""
    monkeypatch.setattr("theory.arithmetic.dual.Dual.__init__", None)
    found = gradient(lambda y: sqrt(y @ y) * y[0], balls([3, 4]))
    assert is_close(found, balls(["34/5", "12/5"]))


def test_gradient_wants_a_scalar_function():
    with pytest.raises(ValueError, match="scalar"):
        gradient(lambda x: x, [1, 2])
    assert is_close(gradient(lambda x: 5, [1, 2]), [0, 0])


def test_what_is_no_number_is_refused():
    one = Series(series._constant(1))
    for operation in (lambda: one + "1", lambda: one + None, lambda: one**0.5):
        with pytest.raises(TypeError):
            operation()
