"""A loss is one function in every arithmetic, and its derivatives are those found by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch
from flint import ctx

from theory.arithmetic import exact, sqrt
from theory.arithmetic.exact import number, rational_array
from theory.arithmetic.symbolic import vector
from theory.santurkar2018 import theorem_4_1, theorem_4_2
from theory.santurkar2018.version_1 import lemma_3_3
from verify.arrays import loss_in
from verify.backends import Backend
from verify.cases import losses
from verify.cases.case import Case, adapted
from verify.cases.losses import Loss
from verify.cases.strata import STRATA, draw
from verify.witnesses import ball

Z = ["1/2", -1, 2]
SYMMETRIC = [[2, 1, 0], [1, "-1/2", 3], [0, 3, 1]]
LOSSES = {
    "quadratic": ([1, -2, "1/4"], SYMMETRIC),
    "isotropic": ([1, -2, "1/4"], "3/2"),
    "general": ([1, -2, "1/4"], SYMMETRIC, [1, 0, -1], [0, 0, 0], [1, 2, 3]),
    "separable": ([1, -2, "1/4"], [2, "-1/2", 1], [1, 0, -1], [0, 0, 0], [1, 2, 3]),
    "relu_network": ([1, 2, -1], [1, -1, 2], "1/2", [0, 1, 2]),
    "later_batchnorm": ([1, 0, -1],),
}
VALUES = {
    "quadratic": number("-3/2"),
    "isotropic": number("111/16"),
    "general": number("-279/16"),
    "separable": number("-175/16"),
    "relu_network": number("65/8"),
    "later_batchnorm": number("19/10") + 3 / sqrt(number(10)),
}
"""By hand: Bz = (0, 7, -1), relu(az + s) = (1, 0, 0), and z has mean 1/2 and variance 3/2."""


def numbers(values, convert):
    array = np.asarray(values, dtype=object)
    return np.frompyfunc(convert, 1, 1)(array) if array.ndim else convert(values)


def loss(name, convert):
    """The loss with its parameters in some arithmetic."""
    parameters = tuple(numbers(p, convert) for p in LOSSES[name])
    return Loss(getattr(losses, name), parameters)


def floats(values):
    return np.asarray(numbers(values, lambda v: float(Fraction(v))), dtype=float)


def in_floats(name):
    return Loss(getattr(losses, name), tuple(map(floats, LOSSES[name])))


def in_torch(name):
    return Loss(getattr(losses, name), tuple(torch.tensor(floats(p)) for p in LOSSES[name]))


def value(name):
    return float(sp.N(str(VALUES[name]), 30))


@pytest.mark.parametrize("name", LOSSES)
def test_exact_values_are_those_found_by_hand(name):
    assert loss(name, number)(rational_array(Z)) == VALUES[name]


@pytest.mark.parametrize("name", LOSSES)
def test_floats_balls_and_tensors_give_the_exact_value(name):
    expected = value(name)
    assert float(in_floats(name)(floats(Z))) == pytest.approx(expected, rel=1e-15)
    assert in_torch(name)(torch.tensor(floats(Z))).item() == pytest.approx(expected, rel=1e-15)
    with ctx.workprec(256):
        enclosed = loss(name, lambda v: ball.ball(str(v)))(ball.balls([str(v) for v in Z]))
        assert float(enclosed.mid()) == pytest.approx(expected, rel=1e-15)
        assert enclosed.rad() < 1e-60


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("backend", ["numpy", "torch", "array-api-strict"])
def test_array_libraries_give_the_exact_value(name, backend):
    library = Backend(backend)
    given = loss_in(library, in_floats(name))(library.asarray(floats(Z)))
    assert library.to_numpy(given).item() == pytest.approx(value(name), rel=1e-14)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "relu_network"])
def test_symbols_give_the_exact_value(name):
    z = vector("z", 3)
    in_symbols = loss(name, lambda v: sp.Rational(str(v)))(z)
    at = dict(zip(z, [sp.Rational(str(v)) for v in Z], strict=True))
    assert float(in_symbols.subs(at)) == pytest.approx(value(name), rel=1e-15)


def by_hand_quadratic(z, a, B):
    return a + B @ z


def by_hand_isotropic(z, a, h):
    return a + h * z


def by_hand_general(z, a, B, q, w, s):
    return a + B @ z + 4 * q * z**3 + w * s / (1 + np.exp(-s * z))


def by_hand_separable(z, a, b, q, w, s):
    return a + b * z + 4 * q * z**3 + w * s / (1 + np.exp(-s * z))


def by_hand_relu_network(z, a, b, s, t):
    hidden = a * z + s
    error = b * np.maximum(hidden, 0) - z - t
    return error * (a * b * (hidden > 0) - 1)


def by_hand_later_batchnorm(z, t):
    m = len(z)
    sigma = np.sqrt(z.var() + 1)
    zhat = (z - z.mean()) / sigma
    g = zhat - t
    return (g - g.mean() - zhat * (zhat @ g) / m) / sigma


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_those_found_by_hand(name):
    by_hand = globals()[f"by_hand_{name}"](floats(Z), *map(floats, LOSSES[name]))
    z = torch.tensor(floats(Z), requires_grad=True)
    (gradient,) = torch.autograd.grad(in_torch(name)(z), z)
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-13)
    exactly = exact.gradient(loss(name, number), rational_array(Z))
    np.testing.assert_allclose([float(sp.N(str(e))) for e in exactly], by_hand, rtol=1e-13)


def test_softplus_is_what_the_arithmetic_supplies():
    parameters = (np.zeros(2), np.zeros((2, 2)), np.zeros(2), np.array([1.0, 2.0]), np.ones(2))
    given = Loss(losses.general, parameters)
    z = np.array([0.0, 1.0])
    assert given(z, lambda x: x + 1) == 1 + 4
    assert given(z) == 0
    assert given(z, lambda x: np.logaddexp(x, 0)) == pytest.approx(np.log(2) + 2 * np.log1p(np.e))


def test_the_gradient_of_softplus_is_that_found_by_hand():
    case = draw(STRATA[0], 0, 2)
    tensors = tuple(torch.tensor(p) for p in case.loss.parameters)
    z = torch.tensor(case.y, requires_grad=True)
    softplus = torch.nn.functional.softplus
    (gradient,) = torch.autograd.grad(replace(case.loss, parameters=tensors)(z, softplus), z)
    by_hand = by_hand_general(case.y, *case.loss.parameters)
    np.testing.assert_allclose(gradient, by_hand, rtol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_is_written_with_a_letter_for_each_parameter(name):
    given = in_floats(name)
    assert len(given.letters) == len(given.parameters)
    assert all(letter in given.formula for letter in given.letters)
    assert set(losses._WRITTEN) == set(LOSSES)


@pytest.fixture
def case():
    return draw(STRATA[0], 0, 0)


def test_a_case_takes_the_loss_that_a_hypothesis_gives_it(case):
    assert isinstance(case, Case)
    bowl = case.with_isotropic_loss(-1 * case.direction, 1)
    np.testing.assert_allclose(
        by_hand_isotropic(case.y, *bowl.loss.parameters), case.y - case.direction
    )
    relu = case.with_relu_network_loss()
    assert relu.loss.function is losses.relu_network
    np.testing.assert_array_equal(relu.loss.parameters[-1], case.y * case.y + 1)
    later = case.with_later_batchnorm_loss()
    assert later.loss.function is losses.later_batchnorm
    assert later.loss.parameters == (case.direction,)
    assert all(changed.y is case.y for changed in (bowl, relu, later))


def test_a_case_is_adapted_to_the_reading_and_the_hypotheses(case):
    assert adapted(case, theorem_4_1.PRINTED).eps == 0
    assert adapted(case, theorem_4_1.SHARED) is case
    descent = adapted(case, theorem_4_2.DESCENT)
    assert descent.eps == 0
    assert descent.gamma == 1 + case.gamma**2
    assert descent.loss.function is losses.isotropic


def test_where_sigma_is_zero_nothing_is_imposed_and_nothing_is_said(case):
    constant = replace(case, y=0 * case.y, other_direction=0 * case.y)
    assert np.isnan(adapted(constant, lemma_3_3.PRINTED).direction).all()
