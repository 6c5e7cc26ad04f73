"""Proofs for batches of 2, 3 and 4, and a zero test that can say no."""

import numpy as np
import pytest
import sympy as sp

from theory import batchnorm
from theory.arithmetic import inner, sqrt
from theory.arithmetic.symbolic import (
    SymbolicBatch,
    UndecidedError,
    derivative,
    gradient,
    is_zero,
    symmetric_matrix,
)
from verify import primitives

A, B, X, Y = sp.symbols("a b x y", real=True)
P, Q = sp.symbols("p q", positive=True)
EPSILONS = ("zero", "positive")


class Unit(SymbolicBatch):
    """A symbolic batch and a loss <g,d> + <d,Hd>/2 at its layer's output."""

    def __init__(self, m, eps):
        super().__init__(m, eps)
        self.z = self.forward(self.y)

    def forward(self, y):
        return primitives.forward(y, self.m, self.gamma, self.beta, self.eps, sqrt)

    def loss(self, y):
        d = self.forward(y) - self.z
        return self.g @ d + d @ (self.hessian @ d) / 2

    def hessian_in_y(self):
        return derivative(lambda y: gradient(self.loss, y), self.y, self.direction)

    def claimed_hessian(self, hvp=batchnorm.hvp):
        return hvp(self.y, self.g, lambda w: self.hessian @ w, self.direction, self.gamma, self.eps)


@pytest.fixture(params=[(m, eps) for m in (2, 3, 4) for eps in EPSILONS], ids=str)
def unit(request):
    return Unit(*request.param)


@pytest.fixture(params=EPSILONS)
def unit_of_three(request):
    return Unit(3, request.param)


def test_fact_c1(unit):
    claimed = batchnorm.gradient(unit.y, unit.g, unit.gamma, unit.eps)
    assert is_zero(gradient(unit.loss, unit.y) - claimed)


def test_fact_c2(unit):
    claimed = batchnorm.jvp(unit.y, unit.direction, unit.gamma, unit.eps)
    assert is_zero(derivative(unit.forward, unit.y, unit.direction) - claimed)


def test_hessian(unit):
    assert is_zero(unit.hessian_in_y() - unit.claimed_hessian())


def wrong_gradients(unit):
    """Fact C.1 with one slip each."""
    m, y, g, gamma = unit.m, unit.y, unit.g, unit.gamma
    sigma = batchnorm.standard_deviation(y, unit.eps)
    yhat = batchnorm.normalize(y, unit.eps)
    along = inner(yhat, g)
    return {
        "sign": gamma / (m * sigma) * (m * g - g.sum() + yhat * along),
        "no mean": gamma / (m * sigma) * (m * g - yhat * along),
        "no correlation": gamma / (m * sigma) * (m * g - g.sum()),
        "m - 1": gamma / ((m - 1) * sigma) * (m * g - g.sum() - yhat * along),
        "no gamma": batchnorm.gradient(y, g, 1, unit.eps),
        "another eps": batchnorm.gradient(y, g, gamma, unit.eps + sp.Rational(1, 10**9)),
        "sigma negated": -batchnorm.gradient(y, g, gamma, unit.eps),
    }


@pytest.mark.parametrize("slip", list(wrong_gradients(Unit(2, "zero"))))
def test_a_wrong_gradient_is_not_proved(unit_of_three, slip):
    unit = unit_of_three
    assert not is_zero(gradient(unit.loss, unit.y) - wrong_gradients(unit)[slip])


def test_a_wrong_hessian_is_not_proved(unit_of_three):
    unit = unit_of_three
    actual, claimed = unit.hessian_in_y(), unit.claimed_hessian()
    bent = batchnorm.curvature(unit.y, unit.g, unit.direction, unit.gamma, unit.eps)
    assert not is_zero(actual - claimed - bent)
    assert not is_zero(actual - claimed - 2 * bent)
    yhat = batchnorm.normalize(unit.y, unit.eps)
    cubic = yhat * inner(yhat, unit.g) * inner(yhat, unit.direction)
    assert not is_zero(actual - claimed - cubic)


def test_a_slip_in_the_primitives_is_noticed(unit_of_three, monkeypatch):
    def unbiased(y, m, eps, sqrt):
        deviation = y - y.sum() / m
        return sqrt((deviation @ deviation) / (m - 1) + eps)

    unit = unit_of_three
    monkeypatch.setattr(primitives, "standard_deviation", unbiased)
    slope = derivative(unit.forward, unit.y, unit.direction)
    assert not is_zero(slope - batchnorm.jvp(unit.y, unit.direction, unit.gamma, unit.eps))


def test_what_holds_for_two_only():
    """At m = 2 and eps = 0 the layer's output is a sign: its Jacobian vanishes; not so at m = 3."""
    for m, eps, expected in ((2, "zero", True), (2, "positive", False), (3, "zero", False)):
        unit = Unit(m, eps)
        slope = derivative(unit.forward, unit.y, unit.direction)
        assert is_zero(slope) == expected


def test_sigma_of_two_is_neither_half_difference_but_its_size():
    y1, y2 = SymbolicBatch(2).y
    sigma = batchnorm.standard_deviation(SymbolicBatch(2).y).item()
    assert is_zero(sigma**2 - (y1 - y2) ** 2 / 4)
    assert not is_zero(sigma - (y1 - y2) / 2)
    assert not is_zero(sigma + (y1 - y2) / 2)


def test_both_readings_of_sigma_in_one_expression():
    """Sigma with eps and without: two roots that are independent, also at m = 2."""
    for m in (2, 3):
        unit = Unit(m, "positive")
        with_eps = batchnorm.standard_deviation(unit.y, unit.eps).item()
        without = batchnorm.standard_deviation(unit.y).item()
        assert is_zero((with_eps - without) * (with_eps + without) - unit.eps)
        assert is_zero(1 / (with_eps - without) - (with_eps + without) / unit.eps)
        assert not is_zero(with_eps - without)
        assert not is_zero(with_eps * without - batchnorm.variance(unit.y).item())


ZERO = [
    sp.Integer(0),
    (A + B) ** 2 - A**2 - 2 * A * B - B**2,
    1 / (A - B) + 1 / (B - A),
    A / (A * B) - 1 / B,
    sp.sqrt(A + B) ** 2 - A - B,
    sp.sqrt(A + B) ** 3 - (A + B) * sp.sqrt(A + B),
    1 / sp.sqrt(A + B) - sp.sqrt(A + B) / (A + B),
    1 / (1 + sp.sqrt(2)) - sp.sqrt(2) + 1,
    (sp.sqrt(2) + sp.sqrt(3)) ** 2 - 5 - 2 * sp.sqrt(6),
    (sp.sqrt(2) * A + sp.sqrt(15) * B) * sp.sqrt(6) - 2 * sp.sqrt(3) * A - 3 * sp.sqrt(10) * B,
    sp.sqrt(5 + 2 * sp.sqrt(6)) ** 2 - (sp.sqrt(2) + sp.sqrt(3)) ** 2,
    sp.sqrt(A**2 + 2 * A * B + B**2 + 1) - sp.sqrt((A + B) ** 2 + 1),
    sp.sqrt(9 * A**2 + 9 * B) - 3 * sp.sqrt(A**2 + B),
    sp.sqrt((A**2 + B) / 4) - sp.sqrt(A**2 + B) / 2,
    sp.sqrt(A / P**2 + B / P**2) - sp.sqrt(A + B) / P,
    sp.sqrt(A / P + 1) - sp.sqrt(A * P + P**2) / P,
    sp.sqrt(A / P + 1) * sp.sqrt(P) - sp.sqrt(A + P) / sp.sqrt(P) * sp.sqrt(P),
    sp.sqrt(B / (1 + A**2) + 1) * sp.sqrt(A**2 + 1) - sp.sqrt(A**2 + B + 1),
    sp.sqrt(sp.sqrt(A**2 + 1) + B) ** 4 - A**2 - 1 - 2 * B * sp.sqrt(A**2 + 1) - B**2,
]
NOT_ZERO = [
    sp.Integer(1),
    A - B,
    1 / (A - B) - 1 / (B - A),
    sp.sqrt(A + B) - sp.sqrt(A),
    sp.sqrt(A + B) + A + B,
    sp.sqrt(A**2 + 1) - A,
    sp.sqrt(A**2 + 1) * sp.sqrt(B**2 + 1) - sp.sqrt(A**2 + B**2 + 1),
    sp.sqrt(2) - sp.Rational(99, 70),
    sp.sqrt(A**2 + 2 * A * B + B**2 + 1) - sp.sqrt((A - B) ** 2 + 1),
]


@pytest.mark.parametrize("expression", ZERO, ids=str)
def test_zero(expression):
    assert is_zero(expression)


@pytest.mark.parametrize("expression", NOT_ZERO, ids=str)
def test_not_zero(expression):
    assert not is_zero(expression)
    point = {A: sp.Rational(1, 3), B: sp.Rational(5, 7)}
    assert abs(expression.subs(point).evalf(50)) > 1e-9


@pytest.mark.parametrize(
    "expression",
    [
        sp.sqrt(A + 1) * sp.sqrt(B + 1) - sp.sqrt((A + 1) * (B + 1)),
        sp.sqrt(6) * sp.sqrt(A + B) - sp.sqrt(2) * sp.sqrt(3 * A + 3 * B),
        sp.sqrt(A**4 + 2 * A**2 + 1) - A**2 - 1,
        sp.sqrt(P**2 + 2 * P + 1) - P - 1,
        sp.sqrt(2 * sp.sqrt(2) + 3) - 1 - sp.sqrt(2),
    ],
    ids=str,
)
def test_related_roots_are_not_judged(expression):
    """Each of these is zero where it is defined, or may be; none may be called nonzero."""
    with pytest.raises(UndecidedError, match="related"):
        is_zero(expression)


@pytest.mark.parametrize(
    "expression",
    [sp.Float(0.5) - A, sp.exp(A), sp.Abs(A), A ** sp.Rational(1, 3), A**B, sp.I, sp.pi * A],
    ids=str,
)
def test_other_expressions_are_refused(expression):
    with pytest.raises(TypeError, match="rational"):
        is_zero(expression)


def test_what_takes_more_products_than_allowed_is_given_up():
    expression = (A + B + 1) ** 4 - (A**2 + B**2 + 1 + 2 * A + 2 * B + 2 * A * B) ** 2
    assert is_zero(expression)
    with pytest.raises(UndecidedError, match=r"too large: it takes 57 products"):
        is_zero(expression, most=30)


def test_a_radicand_over_a_denominator_of_unknown_sign_is_refused():
    with pytest.raises(TypeError, match="positive"):
        is_zero(sp.sqrt(1 / A + 1) - sp.sqrt(A + A**2) / A)  # false for negative a


def test_a_vanishing_denominator():
    expression = 1 / ((A + B) * (A - B) - A**2 + B**2)
    with pytest.raises(ZeroDivisionError, match="identically"):
        is_zero(expression)


def test_every_entry_counts():
    assert is_zero(np.array([[A - A, 0], [A * B - B * A, (A + 1) - A - 1]], dtype=object))
    assert not is_zero(np.array([A - A, A], dtype=object))


def test_letters():
    batch = SymbolicBatch(3)
    assert batch.eps == 0
    assert [str(y) for y in batch.y] == ["y1", "y2", "y3"]
    assert (batch.hessian == batch.hessian.T).all()
    assert len(set(symmetric_matrix("K", 3).flat)) == 6
    with pytest.raises(ValueError, match="at least one"):
        SymbolicBatch(0)
    with pytest.raises(ValueError, match="positive"):
        SymbolicBatch(2, eps="small")


def test_derivatives_in_closed_form():
    x = np.array([X, Y], dtype=object)
    slope = gradient(lambda x: sqrt(x @ x) * x[0], x)
    assert is_zero(slope - [sp.diff(sp.sqrt(X**2 + Y**2) * X, s) for s in (X, Y)])
    bent = derivative(lambda x: gradient(lambda x: x[0] ** 3 * x[1], x), x, np.array([1, 0]))
    assert is_zero(bent - [6 * X * Y, 3 * X**2])
    assert is_zero(derivative(lambda x: x / 3, X, 1) - sp.Rational(1, 3))
    with pytest.raises(ValueError, match="scalar"):
        gradient(lambda x: x, x)
