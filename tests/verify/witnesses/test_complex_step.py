"""Complex steps: derivatives to roundoff, and a witness that sees planted mistakes."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from theory import santurkar2018
from theory.arithmetic import inner
from theory.claim import Hypothesis, Reading, Relation, Sides, Verdict, gradient_in_y
from theory.santurkar2018 import (
    facts,
    proof_4_2,
    theorem_4_1,
    theorem_4_2,
)
from verify import primitives
from verify.backends import Backend
from verify.cases.losses import Loss
from verify.cases.strata import STRATA, draw
from verify.tolerance import Outcome
from verify.witnesses import autograd, complex_step
from verify.witnesses.table import nests_no_derivatives

HOLDS, VIOLATED, UNDECIDED, VACUOUS = (
    Outcome.HOLDS,
    Outcome.VIOLATED,
    Outcome.UNDECIDED,
    Outcome.VACUOUS,
)
NUMPY = Backend("numpy")
LIBRARIES = [
    Backend("torch"),
    *(Backend("array-api-strict", device) for device in ("CPU_DEVICE", "device1", "device2")),
]
FIRST_ORDER = [c for c in santurkar2018.CLAIMS if nests_no_derivatives(c) and not c.unreadable]
PROVED = {c.statement: c for c in FIRST_ORDER if c.expected is Verdict.PROVED}.values()
"""One reading of each statement."""
RARE = ("S-v1-proof-C4/gain", "S-remark-growth/last-term/two-examples")
"""Their hypotheses hold at none of these batches."""
REFUTED = [
    claim
    for module in (theorem_4_1, facts)
    for claim in module.CLAIMS
    if claim.expected is Verdict.REFUTED
]
"""Those that random batches refute."""
SIX_OF_EVERY_STRATUM = [draw(s, 0, index) for s in STRATA for index in range(6)]
"""Two with each kind of loss."""
OF_LENGTH_8 = [draw(s, 0, index) for index, s in enumerate(STRATA) if s.m == 8]
ONE_OF_EVERY_STRATUM = [draw(s, 1, index) for index, s in enumerate(STRATA)]


def ids(claim):
    return claim.id


def outcomes(claim, cases, backend=NUMPY):
    """The outcome of each case by its token."""
    groups = complex_step.examine_cases(claim, cases, backend)
    return {t: o for group in groups for t, o in zip(group.tokens, group.outcomes, strict=True)}


def tokens(found, outcome):
    return [token for token, o in found.items() if o is outcome]


@pytest.fixture(params=[NUMPY, *LIBRARIES], ids=lambda b: f"{b.name}:{b.device}")
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


def test_a_gradient(backend):
    x = backend.asarray([1.0, -2.0, 0.5])
    slopes = complex_step.gradient(lambda x: (x @ x) / (1 + x[2] ** 2), x)
    np.testing.assert_allclose(backend.to_numpy(slopes), [1.6, -3.2, 0.8 - 5.25 / 1.25**2])


def test_a_function_that_does_not_depend_on_its_argument():
    x = np.ones(2)
    assert np.all(complex_step.gradient(lambda x: 0 * x[0] + 3, x) == 0)


def test_nothing_is_conjugated(backend):
    x = backend.asarray([1.0, 2.0])
    slopes = complex_step.gradient(lambda x: inner(x, x)[0], x)
    np.testing.assert_array_equal(backend.to_numpy(slopes), [2, 4])


def test_steps_do_not_nest(backend):
    x = backend.asarray([1.0, 2.0])
    with pytest.raises(ValueError, match="do not nest"):
        complex_step.derivative(lambda x: complex_step.gradient(lambda v: v @ v, x), x, x)


def test_a_loss_with_kinks_agrees_with_reverse_mode():
    case = draw(STRATA[0], 0, 0).with_relu_network_loss()
    claim = replace(facts.GRADIENT, says=None, sides=lambda network, at: Sides(at.g, 0 * at.g))
    (ours,) = complex_step.examine_cases(claim, [case], NUMPY)
    (theirs,) = autograd.examine_cases(claim, [case])
    assert ours.actual == pytest.approx(theirs.actual, rel=1e-13)


def test_no_proved_claim_is_violated():
    for claim in PROVED:
        found = outcomes(claim, OF_LENGTH_8)
        assert not tokens(found, VIOLATED), claim.id
        if claim.id not in RARE:
            assert len(tokens(found, HOLDS)) > (0 if claim.hypotheses else 3), claim.id


def test_refuted_claims_are_violated():
    for claim in REFUTED:
        assert tokens(outcomes(claim, OF_LENGTH_8), VIOLATED), claim.id


@pytest.mark.parametrize(
    "claim",
    [
        theorem_4_1.SHARED,
        facts.CLAIMS[3],
        proof_4_2.SCALE_GRADIENT,
        theorem_4_1.LAST_LINE[2],
        theorem_4_2.WORDS[3],
    ],
    ids=ids,
)
def test_no_case_of_any_stratum_violates_what_is_proved(claim):
    found = outcomes(claim, SIX_OF_EVERY_STRATUM)
    assert len(found) == len(SIX_OF_EVERY_STRATUM)
    assert not tokens(found, VIOLATED)
    assert len(tokens(found, HOLDS)) > len(found) / 2


@pytest.mark.parametrize("library", LIBRARIES[:2], ids=lambda b: b.name)
def test_every_library_decides_as_numpy_does(library):
    cases = [case for case in ONE_OF_EVERY_STRATUM if len(case.y) < 33]
    for claim in (facts.CLAIMS[2], theorem_4_1.LAST_LINE[2]):
        found, expected = (outcomes(claim, cases, b) for b in (library, NUMPY))
        for token, outcome in found.items():
            assert UNDECIDED in (outcome, expected[token]) or outcome is expected[token], token


def test_it_decides_as_autograd_does():
    claim = theorem_4_1.TWO_NETWORKS
    ours = outcomes(claim, SIX_OF_EVERY_STRATUM)
    for group in autograd.examine_cases(claim, SIX_OF_EVERY_STRATUM):
        for token, outcome in zip(group.tokens, group.outcomes, strict=True):
            assert UNDECIDED in (outcome, ours[token]) or outcome is ours[token], token


def test_instances_are_complete():
    groups = complex_step.examine_cases(facts.GRADIENT, ONE_OF_EVERY_STRATUM, NUMPY)
    assert sum(len(g.outcomes) for g in groups) == len(STRATA)
    assert {s for g in groups for s in g.strata} == {s.name for s in STRATA}
    for group in groups:
        assert {len(c.y) for c in ONE_OF_EVERY_STRATUM if c.token in group.tokens} == {group.m}
        for values in (group.ratios, group.actual, group.claimed):
            assert values.shape == (len(group.outcomes),)
        for values in zip(group.outcomes, group.ratios, group.actual, group.claimed, strict=True):
            if values[0] is HOLDS:
                assert np.all(np.isfinite(values[2:]))
            elif values[0] is VACUOUS:
                assert np.all(np.isnan(values[1:]))


def test_where_sigma_is_undefined_a_claim_is_vacuous():
    constant = replace(draw(STRATA[0], 0, 0), y=np.full(8, 3.0))
    single = draw(STRATA[2], 0, 0)
    assert len(single.y) == 1
    for claim, expected in (
        (facts.GRADIENT, VACUOUS),
        (facts.CLAIMS[1], HOLDS),
        (facts.CLAIMS[2], VACUOUS),
    ):
        for case in (constant, single):
            assert list(outcomes(claim, [case]).values()) == [expected], claim.id


def test_eps_zero_makes_a_constant_batch_vacuous_in_every_reading():
    case = replace(draw(STRATA[0], 0, 0), y=np.full(8, 3.0), eps=np.float64(0))
    for reading in Reading:
        claim = replace(facts.GRADIENT, reading=reading)
        assert list(outcomes(claim, [case]).values()) == [VACUOUS]


@pytest.mark.parametrize(
    ("sign", "quantity", "expected"),
    [
        (Relation.AT_LEAST, 1, HOLDS),
        (Relation.AT_LEAST, 0, HOLDS),
        (Relation.AT_LEAST, -1, VACUOUS),
        (Relation.MORE_THAN, 1, HOLDS),
        (Relation.MORE_THAN, 0, VACUOUS),
        (Relation.EQUAL, 0, HOLDS),
        (Relation.EQUAL, 1e-3, VACUOUS),
    ],
)
def test_a_hypothesis_that_fails_makes_a_case_vacuous(sign, quantity, expected):
    hypothesis = Hypothesis("q", lambda network, at: quantity + 0 * network.gamma, sign)
    claim = replace(facts.GRADIENT, hypotheses=(hypothesis,))
    assert list(outcomes(claim, [draw(STRATA[0], 0, 0)]).values()) == [expected]


def test_a_hypothesis_is_imposed():
    claim = theorem_4_1.LAST_LINE[2]
    found = outcomes(claim, OF_LENGTH_8)
    assert VACUOUS not in found.values()
    assert Counter(found.values())[HOLDS] >= len(OF_LENGTH_8) - 1  # a large offset may blur


def test_what_is_not_finite_is_undecided():
    case = draw(STRATA[0], 0, 0)
    linear = np.full(8, np.inf)
    case = replace(case, loss=Loss(lambda z, softplus, a: z @ a, (linear,)))
    assert list(outcomes(facts.GRADIENT, [case]).values()) == [UNDECIDED]


def test_claims_of_the_second_order_are_outside():
    assert not nests_no_derivatives(theorem_4_2.FIRST)
    with pytest.raises(ValueError, match=r"S-thm-4\.2a is of order 2"):
        complex_step.examine_cases(theorem_4_2.FIRST, OF_LENGTH_8, NUMPY)


def wrong_sign(network, at):
    bent = at.m * at.g - inner(at.one, at.g) * at.one + at.yhat * inner(at.g, at.yhat)
    return Sides(gradient_in_y(network), at.gamma / (at.m * at.sigma) * bent)


def dropped_term(network, at):
    bent = at.m * at.g - at.yhat * inner(at.g, at.yhat)
    return Sides(gradient_in_y(network), at.gamma / (at.m * at.sigma) * bent)


def m_less_one(network, at):
    m = at.m - 1
    bent = m * at.g - inner(at.one, at.g) * at.one - at.yhat * inner(at.g, at.yhat)
    return Sides(gradient_in_y(network), at.gamma / (m * at.sigma) * bent)


PLANTED = [
    replace(facts.GRADIENT, says=None, sides=s) for s in (wrong_sign, dropped_term, m_less_one)
]


@pytest.mark.parametrize("claim", PLANTED, ids=lambda claim: claim.sides.__name__)
def test_a_planted_mistake_in_the_closed_form_is_seen(claim, backend):
    found = outcomes(claim, OF_LENGTH_8[:1], backend)
    assert list(found.values()) == [VIOLATED]


def unbiased(y, m, eps, sqrt):
    deviation = y - y.sum() / m
    return sqrt((deviation @ deviation) / (m - 1) + eps)


def eps_outside(y, m, eps, sqrt):
    deviation = y - y.sum() / m
    return sqrt((deviation @ deviation) / m) + eps


@pytest.mark.parametrize(
    ("primitive", "claim"),
    [(unbiased, facts.GRADIENT), (eps_outside, facts.CLAIMS[1])],
    ids=["unbiased", "eps outside"],
)
def test_a_planted_mistake_in_the_primitives_is_seen(monkeypatch, primitive, claim, backend):
    monkeypatch.setattr(primitives, "standard_deviation", primitive)
    found = outcomes(claim, OF_LENGTH_8[:1], backend)
    assert list(found.values()) == [VIOLATED]
