"""What the sharpened statements say in general, and that a wrong constant in them is noticed."""

from dataclasses import replace

import numpy as np
import pytest

from theory import batchnorm
from theory.language.expression import Says
from theory.language.operations import norm2
from theory.santurkar2018 import CLAIMS
from theory.santurkar2018.theorem_4_1 import LARGEST
from theory.unit import m, u
from verify.matrices import integers
from verify.tolerance import Outcome
from verify.witnesses import abstract, exact, polynomial
from verify.witnesses.integers import small_cases

BY_ID = {claim.id: claim for claim in CLAIMS}
IN_GENERAL = [
    "S-thm-4.1/largest-entry/corrected",
    "S-thm-4.1-supp/how-much",
    "S-thm-4.2a/bending",
    "S-thm-4.2a/eps/bending",
    "S-thm-4.2a/eps/bending/attained",
    "S-thm-4.2b/ratio/how-much",
    "S-thm-4.4/how-much",
    "S-thm-4.4/not-squared/how-much",
    "S-thm-C1/kappa/every-batch",
    "S-lemma-4.5/trainable/each-unit",
]


@pytest.mark.parametrize("name", IN_GENERAL)
def test_two_algebras_prove_it_for_every_batch_size(name):
    assert abstract.prove(BY_ID[name]) is not None
    assert polynomial.is_proved(BY_ID[name])


def nearly(says, factor):
    """The statement with its right side times a factor near one."""
    return Says(says.actual, says.relation, factor * says.claimed)


@pytest.mark.parametrize("name", [n for n in IN_GENERAL if "every-batch" not in n])
def test_a_constant_that_is_off_by_a_thousandth_is_not_proved(name):
    claim = BY_ID[name]
    wrong = replace(claim, says=nearly(claim.says, m**0 * 999 / 1000))
    assert abstract.prove(wrong) is None
    assert not polynomial.is_proved(wrong)


def test_the_bending_constant_is_the_largest_of_its_function():
    """rho = v/sigma^2, tau = <yhat, u>^2/(rho m |u|^2): both in [0, 1]."""
    rho, tau = np.meshgrid(np.linspace(0, 1, 1001), np.linspace(0, 1, 1001))
    bent = 1 + 2 * (4 - 3 * rho) * tau - 3 * rho * (4 - 3 * rho) * tau**2
    values = rho * (1 - rho) ** 2 * bent
    assert values.max() == pytest.approx(2304 / 3125, rel=1e-12)
    assert (rho.ravel()[values.argmax()], tau.ravel()[values.argmax()]) == (0.2, 1)


def test_the_certificate_of_the_bending_constant():
    rho = np.linspace(0, 1, 11)
    rest = 2304 / 3125 - (1 - rho) ** 2 * (rho + (4 - 3 * rho) * (1 + 2 * rho) ** 2 / 7)
    q = 1 - rho
    cubic = 907 * q**3 + 2416 * rho * q**2 + 1386 * rho**2 * q + 252 * rho**3
    np.testing.assert_allclose(rest, 4 / 21875 * (4 - 5 * q) ** 2 * cubic, atol=1e-15)


def test_the_derivative_by_the_largest_entry_is_as_long_as_it_is_said_to_be():
    for sizes in (3, 4, 64):
        rng = np.random.default_rng(sizes)
        c = rng.normal(size=sizes)
        c -= c.mean()
        k = np.abs(c).argmax()
        s, n = np.abs(c[k]), np.eye(sizes)[k] * np.sign(c[k])
        jacobian = (np.eye(sizes) - np.outer(c / s, n)) @ (np.eye(sizes) - 1 / sizes) / s
        length = np.linalg.norm(c) * np.linalg.norm(n - n.mean()) / s**2
        assert np.linalg.norm(jacobian, 2) == pytest.approx(length)
        assert s * length < np.sqrt(sizes - 1)


def test_the_bound_by_the_largest_entry_cannot_be_one_less():
    """Half of the entries near s and half near -s: the norm is near root (m - 1)/s."""
    claim = BY_ID["S-thm-4.1/largest-entry/corrected"]
    less = replace(
        claim,
        says=norm2_at_most(claim, (m - 2) / LARGEST**2 * norm2(u)),
        because=None,
        certificate=None,
    )
    case = next(small_cases()).with_isotropic_loss(np.zeros(4), 0.0)
    y = np.array([102.0, 99, -99, -101])
    c = y - y.mean()
    b = np.array([0.75, -0.25, -0.25, -0.25])
    direction = c / c[0] - b / 0.75
    tight = replace(case, y=y, direction=direction, other_direction=np.eye(4)[0])
    assert exact.examine(claim, exact.rational_case(tight)).outcome is Outcome.HOLDS
    assert exact.examine(less, exact.rational_case(tight)).outcome is Outcome.VIOLATED


def norm2_at_most(claim, bound):
    return Says(claim.says.actual, claim.says.relation, bound)


def test_a_convex_loss_is_needed_for_a_positive_semi_definite_hessian():
    claim = BY_ID["S-thm-4.2-discussion/psd"]
    without = replace(claim, hypotheses=(), because=None, certificate=None)
    assert not integers.fails_somewhere(claim, (2, 2, 1), 30)
    assert integers.fails_somewhere(without, (2, 2, 1), 30)


def test_along_the_ones_nothing_bends():
    y, g, gamma = np.array([-1.0, 0, 3, 1]), np.array([2.0, 0, 1, 4]), 1.5
    ones = np.ones(4)
    assert ones @ batchnorm.gradient(y, g, gamma) == pytest.approx(0)
    assert ones @ batchnorm.hvp(y, g, lambda v: 0 * v, ones, gamma) == pytest.approx(0)
