"""The statements in weight space and the steps of the proofs: verdicts, and planted mistakes."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from theory.arithmetic import inner, norm_squared
from theory.claim import Form, Relation, Sides, Verdict, gradient_in_y
from theory.santurkar2018 import (
    lemma_4_5,
    lemma_4_5_readings,
    observation_4_3,
    observation_4_3_minima,
    proof_4_2_along_gradient,
    proof_4_2_collected,
    proof_4_2_parts,
    proof_4_2_product_rule,
    proof_4_4_chain_rule,
    proof_4_4_eigenvalue,
    proof_4_4_maximum,
    proof_4_5,
    proof_c1_form,
    proof_c1_hessian,
    proof_c1_maximum,
    remark_growth,
    remark_lipschitz,
    remark_predictive,
    theorem_4_4,
    theorem_4_4_inputs,
    theorem_c1,
    theorem_c1_corrected,
)
from verify.cases.lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import abstract, exact

FILES = (
    remark_lipschitz,
    remark_growth,
    remark_predictive,
    observation_4_3,
    observation_4_3_minima,
    theorem_4_4,
    theorem_4_4_inputs,
    lemma_4_5,
    lemma_4_5_readings,
    proof_4_4_eigenvalue,
    proof_4_4_chain_rule,
    proof_4_4_maximum,
    proof_4_2_product_rule,
    proof_4_2_parts,
    proof_4_2_collected,
    proof_4_2_along_gradient,
    theorem_c1,
    theorem_c1_corrected,
    proof_c1_hessian,
    proof_c1_form,
    proof_c1_maximum,
    proof_4_5,
)
CLAIMS = [claim for file in FILES for claim in file.CLAIMS]
BY_ID = {claim.id: claim for claim in CLAIMS}


def _of(verdict):
    return [pytest.param(c, id=c.id) for c in CLAIMS if c.expected is verdict]


def _cases(count, lengths=(2, 3), seed=0):
    """Small integers, drawn without a look at any claim."""
    random = Random(seed)
    for index in range(count):
        m = lengths[index % len(lengths)]

        def row(n=m, low=-3):
            return [random.randint(low, 3) for _ in range(n)]

        yield lattice_case(
            y=row(),
            gamma=random.choice([-1, 1, 2, 3]),
            beta=random.randint(-1, 1),
            ratio=random.choice([Fraction(2), Fraction(3, 2), Fraction(5, 4)]),
            linear=row(),
            triangle=row(m * (m + 1) // 2, -1),
            direction=row(),
            other_direction=row(),
            bound=random.randint(1, 2),
        )


def _is_violated(claim, count=400):
    return any(exact.examine(claim, case).outcome is Outcome.VIOLATED for case in _cases(count))


def test_identifiers_are_unique_and_tied():
    assert len(BY_ID) == len(CLAIMS)
    assert all(c.of in BY_ID for c in CLAIMS if c.form is not Form.PRINTED)
    corrected = {c.of for c in CLAIMS}
    for claim in CLAIMS:
        if claim.expected is Verdict.REFUTED:
            assert claim.corrected_by or claim.id in corrected, claim.id


@pytest.mark.parametrize("claim", _of(Verdict.PROVED))
def test_proved_for_every_batch_size(claim):
    assert abstract.prove(claim) is not None
    assert not _is_violated(claim, 2)


@pytest.mark.parametrize("claim", _of(Verdict.REFUTED))
def test_refuted_by_small_integers(claim):
    assert _is_violated(claim)


def _changed(claim, change):
    """Plant a mistake on the claimed side."""

    def sides(network, at):
        actual, claimed = claim.sides(network, at)
        return Sides(actual, change(network, at, claimed))

    return replace(claim, sides=sides, expected=Verdict.REFUTED)


def _wrong_sign(network, at, claimed):
    return -1 * claimed


def _wrong_factor(network, at, claimed):
    return claimed * network.bound


def _dropped_mean(network, at, claimed):
    scale = network.bound**2 * at.gamma**2 / at.sigma**2
    return claimed + scale * inner(at.one, at.g) ** 2 / at.m


def _dropped_last(network, at, claimed):
    scale = network.bound**2 * at.gamma**2 / at.sigma**2
    return claimed + scale * inner(at.yhat, at.g) ** 2 / at.m


def _dropped_cross(network, at, claimed):
    h = gradient_in_y(network)
    return claimed + norm_squared(h)


MAIN = (
    "S-thm-4.4/corrected",
    "S-thm-4.4/eps/equality",
    "S-lemma-4.5/trainable/optimum",
    "S-eq-62",
    "S-eq-15",
    "S-thm-C1/kappa/corrected",
    "S-eq-54",
    "S-eq-58/scaled/no-eigenvector",
    "S-obs-4.3/minima/bias",
    "S-eq-31-32",
    "S-eq-34-37",
    "S-eq-38-40",
    "S-eq-48-49",
)
EQUALITIES = [(i, change) for i in MAIN for change in (_wrong_sign, _wrong_factor)] + [
    ("S-thm-4.4/corrected", _dropped_mean),
    ("S-thm-4.4/corrected", _dropped_last),
    ("S-thm-4.4/eps/equality", _dropped_last),
    ("S-thm-C1/kappa/corrected", _dropped_cross),
]


@pytest.mark.parametrize(("name", "change"), EQUALITIES)
def test_a_wrong_equality_is_violated(name, change):
    wrong = _changed(BY_ID[name], change)
    assert wrong.relation is Relation.EQUAL
    assert _is_violated(wrong)


@pytest.mark.parametrize("change", [_wrong_sign, _wrong_factor, _dropped_mean, _dropped_last])
def test_a_wrong_equality_is_not_proved(change):
    assert abstract.prove(_changed(BY_ID["S-thm-4.4/corrected"], change)) is None


BOUNDS = [c.id for c in CLAIMS if c.certificate and c.expected is Verdict.PROVED and c.order == 1]


@pytest.mark.parametrize("name", BOUNDS)
def test_a_certificate_with_a_wrong_term_is_no_proof(name):
    claim = BY_ID[name]

    def without_first(network, at):
        return claim.certificate(network, at)[1:]

    def doubled(network, at):
        first, *rest = claim.certificate(network, at)
        return [first._replace(weight=2 * first.weight), *rest]

    assert abstract.prove(replace(claim, certificate=without_first)) is None
    assert abstract.prove(replace(claim, certificate=doubled)) is None


def test_the_notes_numbers():
    """y = (-1, 0, 1), gamma = sigma, g = (0, -2, 2), lambda^2 = 2: betahat at X = (1, -1, 0)'."""
    y = np.array([-1.0, 0.0, 1.0])
    sigma = np.sqrt(2 / 3)
    g = np.array([0.0, -2.0, 2.0])
    yhat = y / sigma
    P = np.eye(3) - 1 / 3 - np.outer(yhat, yhat) / 3
    h = P @ g
    Hh = -(1 / (3 * sigma)) * (g @ yhat * P + np.outer(h, yhat) + np.outer(yhat, h))
    x = np.array([1.0, -1.0, 0.0])
    np.testing.assert_allclose(h, [1, -2, 1])
    np.testing.assert_allclose((x @ h) ** 2 * (x @ Hh @ x), 27 / 2)
