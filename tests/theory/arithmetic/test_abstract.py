"""The abstract arithmetic proves what holds for every batch size, and nothing else."""

from itertools import count

import pytest
import sympy as sp

from theory import batchnorm
from theory.arithmetic import abstract, inner, mean, size, sqrt
from theory.arithmetic.abstract import (
    ONE,
    AbstractVector,
    Space,
    directional_derivative,
    gradient,
    is_zero,
)
from verify import primitives

SIGMA, SPREAD = sp.symbols("sigma sigma_0", positive=True)
GAMMA, BETA, MU = sp.symbols("gamma beta mu", real=True)
EPSILONS = {"eps = 0": sp.Integer(0), "eps > 0": SIGMA**2 - SPREAD**2}


class Unit:
    """A batch y = mu 1 + c of symbolic length and a loss <g,d> + <d,Hd>/2 at its output."""

    def __init__(self, eps):
        self.space = Space({frozenset({ONE, "c"}): sp.Integer(0)})
        self.m, self.eps = self.space.m, EPSILONS[eps]
        self.space.known[frozenset({"c"})] = self.m * (SPREAD if self.eps != 0 else SIGMA) ** 2
        self.y = MU * self.space.one + self.space.vector("c")
        self.g, self.u = self.space.vector("g"), self.space.vector("u")
        self.z = self.forward(self.y)

    def forward(self, y):
        return primitives.forward(y, self.m, GAMMA, BETA, self.eps, sqrt)

    def loss(self, y):
        d = self.forward(y) - self.z
        return self.g.inner(d) + d.inner(d.apply_operator()) / 2

    def gradient(self):
        return gradient(self.loss, self.y)


@pytest.fixture(params=EPSILONS)
def unit(request):
    return Unit(request.param)


def test_inner_products_are_bilinear_and_symmetric():
    space = Space()
    a, b, c = map(space.vector, "abc")
    x, y = sp.symbols("x y")
    assert is_zero((x * a + y * b).inner(c) - x * a.inner(c) - y * c.inner(b))
    assert not is_zero(a.inner(b) - a.inner(c))
    assert is_zero(a.apply_operator().inner(b) - b.apply_operator().inner(a))
    assert not is_zero(a.apply_operator().inner(b) - a.inner(b))
    assert a @ b == a.inner(b)


def test_the_ones():
    space = Space()
    a, one, m = space.vector("a"), space.one, space.m
    assert size(one) == m
    assert inner(one, one) == m
    assert mean(one) == 1
    assert is_zero(a.sum() - a.inner(one))
    assert is_zero(mean(a - mean(a)))
    assert is_zero(mean(3 + a - 2) - mean(a) - 1)
    assert is_zero(mean(2 - a) - 2 + mean(a))


def test_a_space_is_told_what_it_knows():
    space = Space({frozenset("ab"): sp.Integer(5), frozenset("a"): sp.Integer(2)})
    a, b = space.vector("a"), space.vector("b")
    assert (a + b).inner(a) == 7


@pytest.mark.parametrize("product", [lambda a, b: a * b, lambda a, b: b * (2 * a)])
def test_elementwise_products_are_refused(product):
    space = Space()
    with pytest.raises(TypeError, match="inner"):
        product(space.vector("a"), space.vector("b"))


@pytest.mark.parametrize(
    "operation", [lambda a: 1 / a, lambda a: a / a, lambda a: sqrt(a), lambda a: a**2]
)
def test_other_elementwise_functions_are_refused(operation):
    with pytest.raises(TypeError):
        operation(Space().vector("a"))


def test_directional_derivatives_in_closed_form():
    space = Space()
    x, u, w = map(space.vector, "xuw")
    assert is_zero(directional_derivative(lambda x: x.inner(x), x, u) - 2 * x.inner(u))
    assert is_zero(
        directional_derivative(lambda x: x * x.inner(w), x, u) - u * x.inner(w) - x * u.inner(w)
    )
    root = directional_derivative(lambda x: sqrt(x.inner(x)), x, u)
    assert is_zero(root - x.inner(u) / sp.sqrt(x.inner(x)))


def test_gradients_in_closed_form():
    space = Space()
    x, w = space.vector("x"), space.vector("w")
    assert is_zero(
        gradient(lambda x: x.inner(x) * x.inner(w), x) - 2 * x * x.inner(w) - w * x.inner(x)
    )
    assert is_zero(gradient(lambda x: x.inner(x.apply_operator()) / 2, x) - x.apply_operator())
    assert is_zero(gradient(lambda x: mean(x), x) - space.one / space.m)


def test_nested_gradients():
    space = Space()
    x, u = space.vector("x"), space.vector("u")
    cubed = directional_derivative(lambda x: gradient(lambda x: x.inner(x) ** 2, x), x, u)
    assert is_zero(cubed - 4 * u * x.inner(x) - 8 * x * x.inner(u))
    through = gradient(lambda x: directional_derivative(lambda x: x.inner(x) ** 2, x, u), x)
    assert is_zero(cubed - through)


def test_a_gradient_is_not_disturbed_by_the_names_of_vectors(monkeypatch):
    """Its own fresh direction must not meet a vector that somebody called u0."""
    monkeypatch.setattr(abstract, "_fresh", count())
    space = Space()
    x, w = space.vector("x"), space.vector("u0")
    assert is_zero(gradient(lambda x: x.inner(w) * w.inner(w), x) - w * w.inner(w))


def test_fact_c1_for_every_batch_size(unit):
    assert is_zero(unit.gradient() - batchnorm.gradient(unit.y, unit.g, GAMMA, unit.eps))


def test_fact_c2_for_every_batch_size(unit):
    slope = directional_derivative(unit.forward, unit.y, unit.u)
    assert is_zero(slope - batchnorm.jvp(unit.y, unit.u, GAMMA, unit.eps))


def test_hessian_for_every_batch_size(unit):
    actual = directional_derivative(lambda y: gradient(unit.loss, y), unit.y, unit.u)
    claimed = batchnorm.hvp(unit.y, unit.g, AbstractVector.apply_operator, unit.u, GAMMA, unit.eps)
    assert is_zero(actual - claimed)
    assert not is_zero(actual - claimed - batchnorm.curvature(unit.y, unit.g, unit.u, GAMMA))


def wrong_gradients(unit):
    """Fact C.1 with one slip each: a sign, a term dropped, m - 1 for m, sigma without eps."""
    m, g, y = unit.m, unit.g, unit.y
    sigma = batchnorm.standard_deviation(y, unit.eps)
    yhat = batchnorm.normalize(y, unit.eps)
    along, total = inner(yhat, g), inner(unit.space.one, g)
    return {
        "sign": GAMMA / (m * sigma) * (m * g - total + yhat * along),
        "no mean": GAMMA / (m * sigma) * (m * g - yhat * along),
        "no correlation": GAMMA / (m * sigma) * (m * g - total),
        "m - 1": GAMMA / ((m - 1) * sigma) * (m * g - total - yhat * along),
        "variance over m - 1": batchnorm.gradient(y, g, GAMMA, unit.eps) / sqrt(m / (m - 1)),
        "no gamma": batchnorm.gradient(y, g, 1, unit.eps),
        "another eps": batchnorm.gradient(y, g, GAMMA, unit.eps + 1),
    }


@pytest.mark.parametrize("slip", list(wrong_gradients(Unit("eps = 0"))))
def test_a_wrong_formula_is_not_proved(unit, slip):
    assert not is_zero(unit.gradient() - wrong_gradients(unit)[slip])


def test_a_variance_over_m_minus_one_in_the_primitives_is_not_proved(unit, monkeypatch):
    def unbiased(y, m, eps, sqrt):
        deviation = y - y.sum() / m
        return sqrt((deviation @ deviation) / (m - 1) + eps)

    monkeypatch.setattr(primitives, "standard_deviation", unbiased)
    slope = directional_derivative(unit.forward, unit.y, unit.u)
    assert not is_zero(slope - batchnorm.jvp(unit.y, unit.u, GAMMA, unit.eps))
