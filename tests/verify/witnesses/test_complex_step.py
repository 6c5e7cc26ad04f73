"""Complex steps: derivatives to roundoff in every array library, of the first order alone."""

from dataclasses import replace

import numpy as np
import pytest

from theory.arithmetic import inner
from theory.language.expression import equal
from theory.santurkar2018 import facts, theorem_4_2
from theory.unit import g
from verify.backends import Backend
from verify.subjects.unit_strata import STRATA, draw
from verify.witnesses import autograd, complex_step
from verify.witnesses.table import is_of_first_order

NUMPY = Backend("numpy")
BACKENDS = [
    NUMPY,
    Backend("torch"),
    *(Backend("array-api-strict", device) for device in ("CPU_DEVICE", "device1", "device2")),
]


@pytest.fixture(params=BACKENDS, ids=lambda b: f"{b.name}:{b.device}")
def backend(request):
    return request.param


def test_a_derivative_along_a_direction(backend):
    x, u = (backend.asarray(v) for v in ([3.0, 4.0], [1.0, -2.0]))
    xp = backend.namespace
    scalar = complex_step.derivative(lambda x: xp.sqrt(x @ x), x, u)
    assert backend.to_numpy(scalar) == pytest.approx(-1, rel=1e-15)
    vector = complex_step.derivative(lambda x: xp.exp(x) * x[0], x, u)
    expected = [4 * np.exp(3), np.exp(4) - 6 * np.exp(4)]
    np.testing.assert_allclose(backend.to_numpy(vector), expected, rtol=1e-14)
    assert vector.device == backend.native_device


def test_a_gradient_in_which_nothing_is_conjugated(backend):
    x = backend.asarray([1.0, -2.0, 0.5])
    slopes = complex_step.gradient(lambda x: inner(x, x)[0] / (1 + x[2] ** 2), x)
    np.testing.assert_allclose(backend.to_numpy(slopes), [1.6, -3.2, 0.8 - 5.25 / 1.25**2])


def test_a_function_that_does_not_depend_on_its_argument():
    assert np.all(complex_step.gradient(lambda x: 0 * x[0] + 3, np.ones(2)) == 0)


def test_steps_do_not_nest(backend):
    x = backend.asarray([1.0, 2.0])
    with pytest.raises(ValueError, match="do not nest"):
        complex_step.derivative(lambda x: complex_step.gradient(lambda v: v @ v, x), x, x)


def test_claims_of_the_second_order_are_outside():
    assert not is_of_first_order(theorem_4_2.FIRST)
    with pytest.raises(ValueError, match="do not nest"):
        complex_step.examine_all([theorem_4_2.FIRST], [draw(STRATA[0], 0, 0)], NUMPY)


def test_a_loss_with_kinks_agrees_with_reverse_mode():
    case = draw(STRATA[0], 0, 0).with_relu_network_loss()
    claim = replace(facts.GRADIENT, says=equal(g, 0))
    (ours,) = complex_step.examine_all([claim], [case], NUMPY)[claim.id]
    (theirs,) = autograd.examine_cases(claim, [case])
    assert ours.actual == pytest.approx(theirs.actual, rel=1e-13)
