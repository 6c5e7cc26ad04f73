"""The polynomial witness proves what holds for every batch size, and nothing that does not."""

from dataclasses import replace

import pytest
from planted import HESSIAN, WRONG, at_least_zero
from slips import RIGHT, SHARED_BOUND, SLIPS

from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import Claim, Hypothesis, Relation, Sides, Term, Verdict
from theory.santurkar2018 import CLAIMS
from verify.settings import PROFILES, Settings
from verify.witnesses.polynomial import Ring, SilentError, examine, is_proved

POSITIVE = Hypothesis("beta > 0", lambda network, at: at.beta, Relation.MORE_THAN)
NOT_NEGATIVE = replace(POSITIVE, statement="beta >= 0", sign=Relation.AT_LEAST)
NEGATIVE = replace(POSITIVE, statement="beta < 0", sign=Relation.LESS_THAN)
ZERO = replace(POSITIVE, statement="beta = 0", sign=Relation.EQUAL)
READABLE = [c for c in CLAIMS if isinstance(c, Claim) and c.expected is not Verdict.UNREADABLE]
CERTIFIED = [c for c in READABLE if c.certificate and c.expected is Verdict.PROVED]
OF_TWO_EXAMPLES = {
    "S-remark-growth/last-term/two-examples",
    "S-remark-growth/last-term/two-examples-hessian",
}
"""Of m = 2 alone, where centred batches are multiples of one."""


RIGHT_FOR_EVERY_M = [
    c for c in READABLE if c.expected is Verdict.PROVED and c.id not in OF_TWO_EXAMPLES
]


def test_statements_that_are_proved_for_every_m_are_proved_here_too_and_no_others():
    """Every fifth of them: the suite's main job asks for the proofs of all."""
    right = RIGHT_FOR_EVERY_M[::5]
    others = [c for c in READABLE if c not in RIGHT_FOR_EVERY_M]
    records = examine([*right, *others], Settings(PROFILES["smoke"]))
    assert {record.claim for record in records if record.proof} == {c.id for c in right}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_statement_is_proved(name):
    assert is_proved(RIGHT[name])


def test_the_shipped_hessian_is_proved():
    assert is_proved(HESSIAN)


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_not_proved(name):
    assert not is_proved(SLIPS[name])
    assert not is_proved(replace(SLIPS[name], certificate=None))


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_wrong_formula_is_not_proved(name):
    assert not is_proved(WRONG[name])


def with_certificate(claim, change):
    """The same statement with another certificate."""
    return replace(
        claim,
        says=None,
        certificate=lambda network, at: change(claim.certificate(network, at), network),
    )


@pytest.mark.parametrize("claim", CERTIFIED[::8], ids=lambda c: c.id)
def test_a_certificate_with_a_term_too_many_proves_nothing(claim):
    more = with_certificate(claim, lambda terms, network: [*terms, Term(1, (network.g,))])
    assert not is_proved(more)


def test_a_certificate_without_its_terms_proves_nothing():
    assert not is_proved(with_certificate(SHARED_BOUND, lambda terms, network: []))
    assert is_proved(with_certificate(SHARED_BOUND, lambda terms, network: terms))


def square(weight):
    """The claim that a weight times a squared inner product is not negative."""
    return at_least_zero(
        lambda at: weight(at) * inner(at.g, at.yhat) ** 2,
        lambda at: [Term(weight(at), (inner(at.g, at.yhat),))],
    )


@pytest.mark.parametrize(
    ("weight", "is_seen"),
    [
        (lambda at: at.gamma**2, True),
        (lambda at: at.m - 1, True),
        (lambda at: sqrt(at.gamma**2), True),
        (lambda at: norm_squared(at.g), True),
        (lambda at: 1 / (at.gamma - at.beta) ** 2, True),
        (lambda at: -(at.gamma**2), False),
        (lambda at: at.m - 2, False),
        (lambda at: at.gamma, False),
        (lambda at: at.gamma - at.beta, False),
        (lambda at: at.sigma - 1, False),
    ],
)
def test_a_weight_must_be_seen_not_to_be_negative(weight, is_seen):
    assert is_proved(square(weight)) == is_seen


def test_a_vector_counts_by_its_squared_norm():
    assert is_proved(
        at_least_zero(
            lambda at: norm_squared(at.g - at.one), lambda at: [Term(1, (at.g - at.one,))]
        )
    )


def leaning_on(used, hypotheses, relation=Relation.AT_LEAST):
    """The claim that beta is not negative, by a certificate that uses a hypothesis."""
    return at_least_zero(
        lambda at: at.beta, lambda at: [Term(1, (used,))], tuple(hypotheses), relation
    )


def test_only_a_hypothesis_of_the_claim_is_used():
    assert is_proved(leaning_on(NOT_NEGATIVE, [NOT_NEGATIVE]))
    assert not is_proved(leaning_on(POSITIVE, []))
    assert not is_proved(leaning_on(NEGATIVE, [NEGATIVE]))


@pytest.mark.parametrize(
    ("hypothesis", "expected"), [(POSITIVE, True), (NOT_NEGATIVE, False), (ZERO, False)]
)
def test_what_is_strict_needs_a_strict_hypothesis(hypothesis, expected):
    claim = leaning_on(hypothesis, [hypothesis], Relation.MORE_THAN)
    assert is_proved(claim) == expected


@pytest.mark.parametrize(("hypothesis", "expected"), [(ZERO, True), (NOT_NEGATIVE, False)])
def test_an_equation_needs_hypotheses_that_say_zero(hypothesis, expected):
    claim = leaning_on(hypothesis, [hypothesis], Relation.EQUAL)
    turned = replace(claim, sides=lambda network, at: Sides(0 * at.beta, at.beta))
    assert is_proved(turned) == expected


def test_a_root_is_known_by_its_square_and_its_sign():
    ring = Ring()
    gamma, m, sigma = map(ring.letter, ("gamma", "m", "sigma"))
    size = (gamma * gamma).sqrt()
    assert (size * size - gamma * gamma).is_zero
    assert not (size - gamma).is_zero
    assert not (size + gamma).is_zero
    assert ((sigma * sigma).sqrt() - sigma).is_zero
    assert ((m * gamma * gamma / sigma**2).sqrt() - m.sqrt() * size / sigma).is_zero


def test_what_is_not_exact_is_refused():
    with pytest.raises(SilentError, match=r"0\.5 is not an exact number"):
        Ring().number(0.5)
    with pytest.raises(SilentError, match="division by zero"):
        Ring().number(1) / 0
