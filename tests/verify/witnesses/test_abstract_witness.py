"""The abstract witness proves for every batch size, and nothing talks it into more."""

from dataclasses import replace

import pytest
from planted import HESSIAN, WRONG, at_least_zero
from slips import (
    BOUND,
    GRADIENT,
    IMPOSSIBLE,
    RIGHT,
    SHARED_BOUND,
    SLIPS,
    VACUOUS,
    VACUOUSLY_PROVED,
)

from theory.arithmetic import inner, norm_squared
from theory.claim import Hypothesis, Relation, Sides, Term
from theory.santurkar2018 import theorem_4_2
from verify.results import EVERY_M, Proof
from verify.witnesses.abstract import prove

POSITIVE = Hypothesis("beta > 0", lambda network, at: at.beta, Relation.MORE_THAN)
NOT_NEGATIVE = replace(POSITIVE, statement="beta >= 0", sign=Relation.AT_LEAST)
NEGATIVE = replace(POSITIVE, statement="beta < 0", sign=Relation.LESS_THAN)
NOT_POSITIVE = replace(POSITIVE, statement="beta <= 0", sign=Relation.AT_MOST)
ZERO = replace(POSITIVE, statement="beta = 0", sign=Relation.EQUAL)


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_statement_is_proved(name):
    assert prove(RIGHT[name]) is not None


def test_the_shipped_hessian_is_proved():
    assert prove(HESSIAN) == Proof((EVERY_M,), "0")


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_not_proved(name):
    assert prove(SLIPS[name]) is None
    assert prove(replace(SLIPS[name], certificate=None)) is None


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_wrong_formula_is_not_proved(name):
    assert prove(WRONG[name]) is None


def test_the_slack_of_theorem_4_1_is_shown_with_its_term():
    assert prove(BOUND).slack == "0"
    found = prove(SHARED_BOUND)
    assert "epsilon*gamma**2" in found.slack
    assert found.terms == ("(epsilon*gamma**2/(m*sigma**4)) * (<c, g>/sigma)^2",)


def test_terms_that_do_not_add_up_prove_nothing():
    def doubled(network, at):
        (term,) = SHARED_BOUND.certificate(network, at)
        return [term, term]

    assert prove(replace(SHARED_BOUND, certificate=doubled)) is None
    assert prove(replace(SHARED_BOUND, certificate=lambda network, at: [])) is None


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_weight_must_be_visibly_not_negative(sign):
    assert (prove(square(lambda at: sign * at.gamma**2)) is not None) == (sign == 1)


def test_a_weight_of_either_sign_proves_nothing():
    assert prove(square(lambda at: at.gamma)) is None
    assert prove(square(lambda at: at.gamma - at.beta)) is None


def square(weight):
    """The claim that a weight times a squared inner product is not negative."""
    return at_least_zero(
        lambda at: weight(at) * inner(at.g, at.yhat) ** 2,
        lambda at: [Term(weight(at), (inner(at.g, at.yhat),))],
    )


def test_a_vector_counts_by_its_squared_norm():
    claim = at_least_zero(
        lambda at: norm_squared(at.g - at.one), lambda at: [Term(1, (at.g - at.one,))]
    )
    assert prove(claim) is not None


def leaning_on(used, hypotheses, relation=Relation.AT_LEAST):
    """The claim that beta is not negative, by a certificate that uses a hypothesis."""
    return at_least_zero(
        lambda at: at.beta, lambda at: [Term(1, (used,))], tuple(hypotheses), relation
    )


@pytest.mark.parametrize("hypothesis", [POSITIVE, NOT_NEGATIVE, ZERO], ids=lambda h: h.statement)
def test_a_hypothesis_of_the_claim_may_be_used(hypothesis):
    assert prove(leaning_on(hypothesis, [hypothesis])) is not None


def test_a_hypothesis_that_the_claim_has_not_may_not_be_used():
    assert prove(leaning_on(POSITIVE, [])) is None
    assert prove(leaning_on(POSITIVE, [NOT_NEGATIVE])) is None


@pytest.mark.parametrize("hypothesis", [NEGATIVE, NOT_POSITIVE], ids=lambda h: h.statement)
def test_a_quantity_that_a_hypothesis_says_is_negative_is_no_help(hypothesis):
    assert prove(leaning_on(hypothesis, [hypothesis])) is None


def test_a_quantity_that_is_zero_may_have_any_weight():
    claim = at_least_zero(lambda at: -at.beta * at.gamma, zero_times_gamma, (ZERO,))
    assert prove(claim) is not None


@pytest.mark.parametrize(("hypothesis", "is_proved"), [(ZERO, True), (NOT_NEGATIVE, False)])
def test_an_equation_needs_hypotheses_that_say_zero(hypothesis, is_proved):
    claim = leaning_on(hypothesis, [hypothesis], Relation.EQUAL)
    turned = replace(claim, sides=lambda network, at: Sides(0 * at.beta, at.beta))
    assert (prove(turned) is not None) == is_proved


def zero_times_gamma(at):
    return [Term(-at.gamma, (ZERO,))]


@pytest.mark.parametrize(
    ("hypothesis", "is_proved"), [(POSITIVE, True), (NOT_NEGATIVE, False), (ZERO, False)]
)
def test_a_strict_inequality_needs_a_strict_hypothesis(hypothesis, is_proved):
    claim = leaning_on(hypothesis, [hypothesis], Relation.MORE_THAN)
    assert (prove(claim) is not None) == is_proved


@pytest.mark.parametrize(
    ("weight", "is_proved"),
    [
        (lambda at: at.sigma**2, True),
        (lambda at: 1 / at.gamma**2, True),
        (lambda at: at.gamma**2, False),
        (lambda at: at.gamma**2 / at.sigma**2, False),
    ],
    ids=["sigma^2", "1/gamma^2", "gamma^2", "gamma^2/sigma^2"],
)
def test_a_strict_inequality_needs_a_weight_that_cannot_vanish(weight, is_proved):
    claim = at_least_zero(
        lambda at: weight(at) * at.beta,
        lambda at: [Term(weight(at), (POSITIVE,))],
        (POSITIVE,),
        Relation.MORE_THAN,
    )
    assert (prove(claim) is not None) == is_proved


def test_a_strict_inequality_without_a_certificate_is_not_proved():
    claim = replace(GRADIENT, sides=lambda network, at: Sides(at.m, at.m))
    assert prove(claim) is not None
    for relation in (Relation.LESS_THAN, Relation.MORE_THAN):
        assert prove(replace(claim, relation=relation)) is None


@pytest.mark.parametrize("relation", [Relation.AT_MOST, Relation.AT_LEAST])
def test_an_equality_proves_the_inequalities(relation):
    assert prove(replace(GRADIENT, relation=relation)) is not None


def test_a_loss_that_is_asked_far_from_its_jet_is_silent():
    claim = replace(
        GRADIENT, sides=lambda network, at: Sides(network.loss(network.y), network.loss(network.y))
    )
    assert prove(claim) is None


def test_a_hypothesis_for_a_special_loss_proves_nothing():
    for impose in (
        lambda case: case.with_isotropic_loss(case.y, 1),
        lambda case: case.with_relu_network_loss(),
        lambda case: case.with_later_batchnorm_loss(),
    ):
        special = Hypothesis("special", lambda network, at: 1, impose=impose)
        assert prove(replace(GRADIENT, hypotheses=(special,))) is None


@pytest.mark.parametrize(
    "claim",
    [
        *theorem_4_2.WORDS[2:4],
        theorem_4_2.DIRECTLY,
        *(c for c in theorem_4_2.DISPLAYS if c.of in ("S-thm-4.2b/ratio", "S-thm-4.2b/order")),
    ],
    ids=lambda claim: claim.id,
)
def test_each_hypothesis_of_a_correction_is_needed(claim):
    for hypothesis in claim.hypotheses:
        without = tuple(h for h in claim.hypotheses if h is not hypothesis)
        assert prove(claim) is not None
        assert prove(replace(claim, hypotheses=without)) is None


def test_without_a_certificate_what_is_vacuous_is_not_proved():
    assert prove(VACUOUS) is None


def test_a_certificate_under_an_impossible_hypothesis_is_a_proof_of_nothing():
    """It follows from the hypothesis; that nothing satisfies it, the measuring witnesses say."""
    assert prove(VACUOUSLY_PROVED) is not None
    assert prove(replace(VACUOUSLY_PROVED, hypotheses=())) is None
    assert IMPOSSIBLE.statement in prove(VACUOUSLY_PROVED).terms[0]
