"""Exact numbers and exact derivatives: field laws, signs, and the closed forms at exact points."""

from fractions import Fraction
from itertools import product
from operator import add, mul, sub, truediv

import numpy as np
import pytest
from flint import arb, ctx, fmpq, fmpz
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from theory import batchnorm
from theory.arithmetic import inner, mean, sqrt
from theory.arithmetic.exact import (
    DifferentFieldsError,
    Quadratic,
    derivative,
    gradient,
    number,
    rational_array,
)
from verify import primitives

RATIONALS = st.fractions(min_value=-30, max_value=30, max_denominator=12)
ROOT2, ROOT3, ROOT6 = (Quadratic(0, 1, d) for d in (2, 3, 6))
BIG_PRIME = fmpz(2) ** 89 - 1


RADICANDS = st.sampled_from([2, 3, 6, 7])


@st.composite
def numbers(draw, d=RADICANDS):
    return Quadratic(draw(RATIONALS), draw(RATIONALS), draw(d))


def ball(x):
    return arb(x.p) + arb(x.q) * arb(x.d).sqrt()


@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
@settings(max_examples=50)
@given(x=numbers(st.just(6)), y=numbers(st.sampled_from([6, 24, Fraction(2, 3)])))
def test_operations_agree_with_balls(operation, x, y):
    assume(operation is not truediv or y)
    with ctx.workprec(400):
        assert ball(operation(x, y)).overlaps(operation(ball(x), ball(y)))
        assert ball(operation(x, y)).rad() < 1e-80


@settings(max_examples=50)
@given(x=numbers(), y=RATIONALS)
@pytest.mark.parametrize("kind", [Fraction, fmpq, int, np.int64, fmpz])
def test_it_mixes_with_other_exact_numbers_on_either_side(kind, x, y):
    y = (
        fmpq(y.numerator, y.denominator)
        if kind is fmpq
        else kind(y if kind is Fraction else int(y))
    )
    exact = number(y)
    assert (x + y, y + x) == (x + exact, x + exact)
    assert (x - y, y - x) == (x - exact, exact - x)
    assert (x * y, y * x) == (x * exact, x * exact)
    assert (x < y, y < x, x == y) == (x < exact, exact < x, x == exact)
    if exact:
        assert x / y == x / exact
    if x:
        assert y / x == exact / x


@settings(max_examples=50)
@given(x=numbers(), y=numbers())
def test_order_agrees_with_balls_also_across_fields(x, y):
    with ctx.workprec(400):
        difference = ball(x) - ball(y)
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
        assert (Fraction(p, q) - ROOT2).sign() == (1 if p * p > 2 * q * q else -1)
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
        (Quadratic(1, -1, 5), "1 - sqrt(5)"),
        (Quadratic(1, 3, 4), "7"),
        (Quadratic(1, 3, 0), "1"),
        (Quadratic(0), "0"),
        (ROOT2 * ROOT2 / 3, "2/3"),
    ],
)
def test_canonical_form(value, printed):
    assert str(value) == printed


def test_equal_numbers_are_equal_and_hash_alike():
    assert Quadratic(0, 1, 8) == 2 * ROOT2 == 4 / ROOT2
    assert Quadratic(0, 2, 4) == 4 == Fraction(4)
    assert hash(Quadratic(0, 2, 4)) == hash(4)
    assert hash(Quadratic(fmpq(1, 3))) == hash(Fraction(1, 3))
    assert ROOT2 != ROOT3
    assert ROOT2 != -ROOT2
    assert ROOT2 != "sqrt(2)"


def test_radicands_too_large_to_factor_still_combine():
    other_prime = fmpz(2) ** 107 - 1
    d = BIG_PRIME * other_prime
    a, b = Quadratic(0, 1, d), Quadratic(0, 1, d * BIG_PRIME**2 * 9)
    assert b - 3 * BIG_PRIME * a == 0
    assert b / a == 3 * BIG_PRIME
    assert Quadratic(0, 1, other_prime**2 * BIG_PRIME**2).sign() == 1
    assert Quadratic(BIG_PRIME**2 * other_prime**2).sqrt() == d


@settings(max_examples=50)
@given(x=numbers())
def test_a_square_root_squares_to_its_number(x):
    assert (x * x).sqrt() == abs(x)
    if x.q == 0 and x.p >= 0:
        assert x.sqrt() ** 2 == x


def test_square_roots_that_are_not_in_the_field():
    with pytest.raises(DifferentFieldsError, match="balls"):
        (2 + ROOT3).sqrt()  # (sqrt(6) + sqrt(2))/2
    with pytest.raises(DifferentFieldsError, match="balls"):
        ROOT2.sqrt()
    with pytest.raises(ValueError, match="negative"):
        (1 - ROOT2).sqrt()
    with pytest.raises(ValueError, match="radicand"):
        Quadratic(0, 1, -2)


@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
def test_independent_radicands_are_refused(operation):
    with pytest.raises(DifferentFieldsError, match=r"sqrt\(2\) and sqrt\(3\)"):
        operation(ROOT2, ROOT3)


@pytest.mark.parametrize("x", [0.5, np.float64(0.5), np.float32(0.5)])
@pytest.mark.parametrize("operation", [add, sub, mul, truediv])
def test_floats_are_refused_inside_formulas(operation, x):
    for a, b in ((ROOT2, x), (x, ROOT2)):
        with pytest.raises(TypeError, match="float"):
            operation(a, b)


def test_division_by_zero():
    with pytest.raises(ZeroDivisionError, match="variance"):
        1 / (ROOT2 * ROOT2 - 2)
    with pytest.raises(ZeroDivisionError, match="variance"):
        batchnorm.normalize(rational_array([3, 3, 3]))


@pytest.mark.parametrize("power", [-3, -1, 0, 1, 2, 5])
def test_powers(power):
    x = 1 + ROOT2
    expected = Quadratic(1)
    for _ in range(abs(power)):
        expected = expected * x if power > 0 else expected / x
    assert x**power == expected


def test_input_is_taken_exactly():
    assert number(0.1) == Fraction(0.1) != Fraction(1, 10)
    assert number(np.float32(0.1)) == Fraction(float(np.float32(0.1)))
    assert number("0.1") == Fraction(1, 10)
    assert rational_array(i for i in range(3)).tolist() == [0, 1, 2]
    assert rational_array([[1, "1/2"], [ROOT2, fmpq(3)]]).shape == (2, 2)
    for bad in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="finite"):
            number(bad)
    with pytest.raises(TypeError, match="rational"):
        number(1j)


def test_a_batch_of_three_with_rational_entries_never_has_a_rational_sigma():
    """Of m = 3: 9 v = 2(a^2 + ab + b^2), and a^2 + ab + b^2 is never twice a square."""
    for a, b in product(range(-6, 7), repeat=2):
        sigma = batchnorm.standard_deviation(rational_array([0, a, a + b])).item()
        assert (sigma.q != 0) == ((a, b) != (0, 0))
    assert batchnorm.standard_deviation(rational_array([0, 2])) == 1


@pytest.mark.parametrize("shape", [(5,), (4, 2), (2, 3, 2, 2)])
def test_formulas_run_unchanged_and_are_exact(shape):
    axis = (0, 2, 3) if len(shape) == 4 else 0
    y = rational_array(np.random.default_rng(0).standard_normal(shape))
    yhat = batchnorm.normalize(y, axis=axis)
    m = y.size // (shape[1] if len(shape) > 1 else 1)
    assert yhat.shape == shape
    assert (mean(yhat, axis) == 0).all()
    assert (inner(yhat, yhat, axis) == m).all()


class Unit:
    """A batch with integer entries and a loss <g,d> + <d,Hd>/2 at its output."""

    def __init__(self, m, eps):
        rng = np.random.default_rng(m)
        self.y, self.g, self.u = rational_array(rng.integers(-9, 10, (3, m)))
        half = rng.integers(-5, 6, (m, m))
        self.H = rational_array(half + half.T)
        self.m, self.eps, self.gamma, self.beta = m, number(eps), number("-3/7"), number(2)
        self.z = self.forward(self.y)

    def forward(self, y):
        return primitives.forward(y, self.m, self.gamma, self.beta, self.eps, sqrt)

    def loss(self, y):
        d = self.forward(y) - self.z
        return self.g @ d + d @ (self.H @ d) / 2


@pytest.fixture(params=[(2, 0), (3, 0), (3, "1/7"), (5, 1e-5)], ids=str)
def unit(request):
    return Unit(*request.param)


def test_gradient_hessian_and_jacobian_are_exactly_the_closed_forms(unit):
    args = unit.gamma, unit.eps
    slope = gradient(unit.loss, unit.y)
    assert (slope == batchnorm.gradient(unit.y, unit.g, *args)).all()
    moved = derivative(unit.forward, unit.y, unit.u)
    assert (moved == batchnorm.jvp(unit.y, unit.u, *args)).all()
    bent = derivative(lambda y: gradient(unit.loss, y), unit.y, unit.u)
    expected = batchnorm.hvp(unit.y, unit.g, lambda w: unit.H @ w, unit.u, *args)
    assert (bent == expected).all()


def wrong_gradients(unit):
    """Fact C.1 with one slip each."""
    m, g, gamma = unit.m, unit.g, unit.gamma
    sigma = batchnorm.standard_deviation(unit.y, unit.eps)
    yhat = batchnorm.normalize(unit.y, unit.eps)
    along = inner(yhat, g)
    return {
        "sign": gamma / (m * sigma) * (m * g - g.sum() + yhat * along),
        "no mean": gamma / (m * sigma) * (m * g - yhat * along),
        "m - 1": gamma / ((m - 1) * sigma) * (m * g - g.sum() - yhat * along),
        "no gamma": batchnorm.gradient(unit.y, g, 1, unit.eps),
    }


@pytest.mark.parametrize("slip", ["sign", "no mean", "m - 1", "no gamma"])
def test_a_wrong_formula_is_noticed(unit, slip):
    slope = gradient(unit.loss, unit.y)
    vanishes = unit.m == 2 and unit.eps == 0  # where a factor in front does not matter
    assert (slope == 0).all() == vanishes
    if not (vanishes and slip in ("m - 1", "no gamma")):
        assert (slope != wrong_gradients(unit)[slip]).any()


def test_gradient_wants_a_scalar_function():
    with pytest.raises(ValueError, match="scalar"):
        gradient(lambda y: y, rational_array([1, 2]))


def test_derivatives_of_constants_and_in_numbers():
    y = rational_array([1, 2])
    assert (gradient(lambda y: 5, y) == 0).all()
    assert derivative(lambda x: x.sqrt() * 3, number(2), 1) == 3 / (2 * ROOT2)
    assert (derivative(lambda y: y * y, np.array([1, 2]), np.array([1, 1])) == [2, 4]).all()
    third = number(derivative(lambda x: x / 3, 1, 1))
    assert third == Fraction(1, 3)


@settings(max_examples=50)
@given(x=RATIONALS, u=RATIONALS)
def test_third_derivatives_nest(x, u):
    def cube(y):
        return (y @ y) * y[0]

    def second(y):
        return derivative(lambda y: gradient(cube, y), y, rational_array([u, 1]))

    third = derivative(second, rational_array([x, 1]), rational_array([1, 0]))
    assert (third == [6 * u, 2]).all()
