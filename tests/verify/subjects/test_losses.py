"""A loss is one function in every arithmetic, and cases take the losses of hypotheses."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import ctx

from theory.arithmetic import sqrt
from theory.arithmetic.exact import number, rational_array
from theory.santurkar2018 import theorem_4_1, theorem_4_2
from theory.santurkar2018.version_1 import lemma_3_3
from verify.backends import Backend
from verify.operators import Operand
from verify.subjects import losses
from verify.subjects.losses import Loss
from verify.subjects.unit import adapted
from verify.subjects.unit_strata import STRATA, draw
from verify.witnesses.arrays import loss_in
from verify.witnesses.series import ball

Z = ["1/2", -1, 2]
SYMMETRIC = [[2, 1, 0], [1, "-1/2", 3], [0, 3, 1]]
LOSSES = {
    "quadratic": ([1, -2, "1/4"], SYMMETRIC),
    "ridged": ([1, -2, "1/4"], SYMMETRIC, [2, -1, 1]),
    "isotropic": ([1, -2, "1/4"], "3/2"),
    "general": ([1, -2, "1/4"], SYMMETRIC, [1, 0, -1], [0, 0, 0], [1, 2, 3]),
    "separable": ([1, -2, "1/4"], [2, "-1/2", 1], [1, 0, -1], [0, 0, 0], [1, 2, 3]),
    "relu_network": ([1, 2, -1], [1, -1, 2], "1/2", [0, 1, 2]),
    "later_batchnorm": ([1, 0, -1],),
}
VALUES = {
    "quadratic": number("-3/2"),
    "ridged": number("-11/34"),
    "isotropic": number("111/16"),
    "general": number("-279/16"),
    "separable": number("-175/16"),
    "relu_network": number("65/8"),
    "later_batchnorm": number("19/10") + 3 / sqrt(number(10)),
}
"""By hand: Bz = (0, 7, -1), relu(az + s) = (1, 0, 0), <c, z> = 4, and z has mean 1/2 and
variance 3/2."""


def numbers(values, convert):
    array = np.asarray(values, dtype=object)
    return np.frompyfunc(convert, 1, 1)(array) if array.ndim else convert(values)


def loss(name, convert):
    """The loss with its parameters in some arithmetic."""
    parameters = tuple(numbers(p, convert) for p in LOSSES[name])
    return Loss(getattr(losses, name), parameters)


def in_ball(value):
    return ball(str(value))


def floats(values):
    return np.asarray(numbers(values, lambda v: float(Fraction(v))), dtype=float)


def in_floats(name):
    return Loss(getattr(losses, name), tuple(map(floats, LOSSES[name])))


@pytest.mark.parametrize("name", LOSSES)
def test_every_arithmetic_gives_the_value_found_by_hand(name):
    assert loss(name, number)(rational_array(Z)) == VALUES[name]
    value = float(sp.N(str(VALUES[name]), 30))
    assert float(in_floats(name)(floats(Z))) == pytest.approx(value, rel=1e-15)
    with ctx.workprec(256):
        enclosed = loss(name, in_ball)(numbers(Z, in_ball))
        assert float(enclosed.mid()) == pytest.approx(value, rel=1e-15)
        assert enclosed.rad() < 1e-60
    library = Backend("array-api-strict")
    given = loss_in(library, in_floats(name))(Operand(library.asarray(floats(Z))))
    assert library.to_numpy(given.array).item() == pytest.approx(value, rel=1e-14)
    letters = losses._WRITTEN[name][1]
    assert len(letters) == len(LOSSES[name])
    assert all(letter in losses._WRITTEN[name][0] for letter in letters)


@pytest.mark.parametrize("function", [losses.general, losses.separable])
def test_softplus_is_what_the_arithmetic_supplies(function):
    curvature = np.zeros((2, 2) if function is losses.general else 2)
    zero, weight, slope = np.zeros(2), np.array([1.0, 2.0]), np.array([3.0, -0.5])
    given = Loss(function, (zero, curvature, zero, weight, slope))
    z = np.array([0.5, 1.0])
    assert given(z) == 0
    assert given(z, lambda x: x + 1) == 2.5 + 2 * 0.5
    by_hand = np.log1p(np.exp(1.5)) + 2 * np.log1p(np.exp(-0.5))
    assert given(z, lambda x: np.logaddexp(x, 0)) == pytest.approx(by_hand)


CASE = draw(STRATA[0], 0, 0)


def test_a_case_takes_the_loss_and_the_numbers_of_a_reading_and_hypotheses():
    assert adapted(CASE, theorem_4_1.PRINTED).eps == 0
    assert adapted(CASE, theorem_4_1.SHARED) is CASE
    descent = adapted(CASE, theorem_4_2.DESCENT)
    assert (descent.eps, descent.gamma) == (0, 1 + CASE.gamma**2)
    assert descent.loss.function is losses.isotropic
    relu = CASE.with_relu_network_loss()
    assert relu.loss.function is losses.relu_network
    np.testing.assert_array_equal(relu.loss.parameters[-1], CASE.y * CASE.y + 1)
    later = CASE.with_later_batchnorm_loss()
    assert later.loss == Loss(losses.later_batchnorm, (CASE.direction,))


def test_where_sigma_is_zero_nothing_is_imposed_and_nothing_is_said():
    constant = replace(CASE, y=0 * CASE.y, other_direction=0 * CASE.y)
    assert np.isnan(adapted(constant, lemma_3_3.PRINTED).direction).all()
