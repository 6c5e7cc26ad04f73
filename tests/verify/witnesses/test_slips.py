"""Every witness of a batch: what is right holds, each slip is seen, and what decides nothing."""

from dataclasses import replace

import numpy as np
import pytest
from by_functions import assuming, said
from slips import (
    BOUND,
    BOUNDS,
    FOR_EVERY_M,
    GRADIENT,
    HESSIAN,
    SHARED_BOUND,
    SLIPS,
    eps_outside,
    unbiased,
)

from theory.claim import Reading, Relation
from theory.language.expression import Says, equal, number
from theory.statement import assume
from theory.unit import beta, g, gamma, m
from verify import primitives
from verify.backends import Backend
from verify.subjects.unit_strata import STRATA, draw
from verify.tolerance import Outcome
from verify.witnesses import (
    abstract,
    autograd,
    complex_step,
    exact,
    finite_differences,
    symbolic,
)

HOLDS, VIOLATED = Outcome.HOLDS, Outcome.VIOLATED
UNDECIDED, EMPTY = Outcome.UNDECIDED, Outcome.VACUOUS
PROVING = FOR_EVERY_M | {
    "symbolic, m = 2": lambda claim: symbolic.sought(claim, 2).finding == "proved",
    "symbolic, m = 3": lambda claim: symbolic.sought(claim, 3).finding == "proved",
}
LIBRARIES = [Backend("numpy"), Backend("torch"), Backend("array-api-strict", "device1")]


def in_groups(examine):
    """The outcomes of cases that a witness examines together."""
    return lambda claim, cases: [o for group in examine(claim, cases) for o in group.outcomes]


def one_by_one(examine):
    return lambda claim, cases: [examine(claim, exact.networks(c)).outcome for c in cases]


FLOATS = {"autograd": in_groups(autograd.examine_cases)} | {
    f"{name}, {library.name} {library.device}".strip(): in_groups(
        lambda claim, cases, of=witness, library=library: of.examine_all([claim], cases, library)[
            claim.id
        ]
    )
    for name, witness in (("complex step", complex_step), ("differences", finite_differences))
    for library in LIBRARIES
}
MEASURING = FLOATS | {
    "exact": one_by_one(exact.decided),
    "balls": one_by_one(exact.decided_in_balls),
}
ONCE = ["autograd", "complex step, numpy", "differences, numpy", "exact", "balls"]
"""Each witness with one library."""
FEW = ["gradient, m - 1", "Hessian, m - 1", "bound, a factor 1/2"]
"""What is shown to witnesses with further libraries."""


def in_quarters(case):
    """The case with every number a multiple of a quarter, which exact numbers like."""
    rounded = {
        name: np.round(4 * getattr(case, name)) / 4
        for name in ("y", "gamma", "beta", "direction", "other_direction", "bound")
    }
    parameters = tuple(np.round(4 * parameter) / 4 for parameter in case.loss.parameters)
    loss = replace(case.loss, parameters=parameters)
    return replace(case, **rounded, loss=loss, eps=np.float64(0.25))


CASES = [in_quarters(draw(STRATA[4], 0, index)) for index in (3, 6)]
"""Generic batches of three entries, whose loss is a quadratic."""
CONSTANT = replace(CASES[0], y=np.full(3, 3.0))
SINGLE = draw(STRATA[2], 0, 0)


def is_of_order(claim, name):
    return claim.order == 1 or not name.startswith("complex step")


@pytest.fixture(params=PROVING)
def is_proved(request):
    return PROVING[request.param]


@pytest.fixture(params=ONCE)
def outcomes(request):
    return MEASURING[request.param]


@pytest.fixture
def afresh():
    """What witnesses remember of the generic batch is forgotten before and after."""
    remembering = (abstract.generic, abstract.sought, symbolic.generic)
    for function in remembering:
        function.cache_clear()
    yield
    for function in remembering:
        function.cache_clear()


@pytest.mark.parametrize("name", SLIPS)
@pytest.mark.usefixtures("afresh")
def test_a_slip_is_not_proved(monkeypatch, is_proved, name):
    assert not is_proved(SLIPS[name])
    monkeypatch.setattr(exact, "differ_somewhere", lambda claim, m: False)
    abstract.sought.cache_clear()
    assert not is_proved(SLIPS[name]), "without a look at integers"


@pytest.mark.parametrize("witness", ["abstract", "polynomial", "symbolic, m = 3"])
def test_a_slip_in_a_bound_is_not_proved_as_an_equation_either(witness):
    """Of two entries some are true: there the gradient is zero."""
    for claim in BOUNDS.values():
        assert not PROVING[witness](replace(claim, because=None))


@pytest.mark.parametrize("witness", MEASURING)
def test_every_slip_is_violated(witness):
    for name in SLIPS if witness in ONCE else FEW:
        if is_of_order(SLIPS[name], witness):
            assert MEASURING[witness](SLIPS[name], CASES) == [VIOLATED] * 2, name


SEEN_DIGITS = dict(zip(ONCE, (9, 9, 5, 40, 40), strict=True))


def with_error(part):
    """The gradient with a relative error."""
    right = GRADIENT.says.claimed
    return replace(GRADIENT, says=equal(GRADIENT.says.actual, right + 1 / number(part) * right))


@pytest.mark.parametrize("witness", ONCE)
def test_a_slip_in_a_late_digit_is_seen_and_one_in_the_last_is_rounding(witness):
    seen = with_error(10 ** SEEN_DIGITS[witness])
    assert MEASURING[witness](seen, CASES) == [VIOLATED] * 2
    if witness in FLOATS:
        assert MEASURING[witness](with_error(2**52), CASES) == [HOLDS] * 2


@pytest.mark.parametrize("primitive", [unbiased, eps_outside])
@pytest.mark.parametrize("witness", [*PROVING, *ONCE])
@pytest.mark.usefixtures("afresh")
def test_a_slip_in_the_primitives_is_seen(monkeypatch, witness, primitive):
    monkeypatch.setattr(primitives, "standard_deviation", primitive)
    monkeypatch.setattr(exact, "differ_somewhere", lambda claim, m: False)
    for claim in (GRADIENT, HESSIAN):
        if witness in PROVING:
            assert not PROVING[witness](claim)
        elif is_of_order(claim, witness):
            assert MEASURING[witness](claim, CASES) == [VIOLATED] * 2


def test_where_sigma_is_zero_only_readings_with_epsilon_say_something(outcomes):
    of_unit_variance = replace(GRADIENT, reading=Reading.UNIT_VARIANCE)
    for case in (CONSTANT, SINGLE):
        assert outcomes(BOUND, [case]) == outcomes(of_unit_variance, [case]) == [EMPTY]
        assert outcomes(GRADIENT, [case])[0] in (HOLDS, UNDECIDED)
        assert outcomes(GRADIENT, [replace(case, eps=np.float64(0))]) == [EMPTY]


@pytest.mark.parametrize(
    ("sign", "expected"),
    [
        (Relation.EQUAL, [EMPTY, HOLDS, EMPTY]),
        (Relation.AT_LEAST, [EMPTY, HOLDS, HOLDS]),
        (Relation.MORE_THAN, [EMPTY, EMPTY, HOLDS]),
        (Relation.AT_MOST, [HOLDS, HOLDS, EMPTY]),
        (Relation.LESS_THAN, [HOLDS, EMPTY, EMPTY]),
    ],
)
def test_a_hypothesis_is_a_sign_and_where_it_fails_a_case_is_vacuous(outcomes, sign, expected):
    about_beta = assume(Says(beta, sign, number(0)))
    claim = replace(SHARED_BOUND, hypotheses=(about_beta,))
    cases = [replace(CASES[0], beta=np.float64(beta)) for beta in (-1, 0, 1)]
    assert [one for case in cases for one in outcomes(claim, [case])] == expected


def test_a_hypothesis_that_is_an_equation_holds_up_to_rounding(outcomes):
    def quantity(at):
        return (at.yhat / at.yhat.shape[0]).sum() * at.gamma

    def slightly_off(at):
        return at.gamma / 10**6 + quantity(at)

    zero, near = (assuming("mean", of, Relation.EQUAL) for of in (quantity, slightly_off))
    assert outcomes(replace(SHARED_BOUND, hypotheses=(zero,)), CASES) == [HOLDS] * 2
    assert outcomes(replace(SHARED_BOUND, hypotheses=(near,)), CASES) == [EMPTY] * 2


NO_SCALE = assume(equal(gamma, 0), lambda case: replace(case, gamma=0 * case.gamma))
SCALED = replace(GRADIENT, says=equal(gamma * g, 0))
"""True under that hypothesis, which is imposed."""


def test_a_hypothesis_is_imposed(is_proved):
    assert not is_proved(SCALED)
    assert is_proved(replace(SCALED, hypotheses=(NO_SCALE,)))


def test_a_hypothesis_is_imposed_on_cases(outcomes):
    assert outcomes(SCALED, CASES) == [VIOLATED] * 2
    assert not {VIOLATED, EMPTY} & {*outcomes(replace(SCALED, hypotheses=(NO_SCALE,)), CASES)}


@pytest.mark.parametrize("witness", ONCE[:3])
def test_what_is_not_finite_decides_nothing(witness):
    claim = replace(GRADIENT, says=equal(gamma, gamma / (0 * gamma)))
    assert MEASURING[witness](claim, CASES) == [UNDECIDED] * 2


@pytest.mark.parametrize(
    "impose",
    [
        lambda case: case.with_isotropic_loss(case.y, 1),
        lambda case: case.with_relu_network_loss(),
        lambda case: case.with_later_batchnorm_loss(),
    ],
)
def test_a_hypothesis_that_loses_generality_proves_nothing(is_proved, impose):
    special = assume(number(1) > 0, impose)
    assert not is_proved(replace(GRADIENT, hypotheses=(special,)))


@pytest.mark.parametrize("name", FOR_EVERY_M)
def test_a_loss_that_is_asked_far_from_its_jet_proves_nothing(name):
    says = said(lambda at: (at.loss(at.y), at.loss(at.y)))
    assert not PROVING[name](replace(GRADIENT, says=says))


def test_equal_sides_prove_inequalities_that_are_not_strict(is_proved):
    every = {relation: replace(GRADIENT, says=Says(m, relation, m)) for relation in Relation}
    proved = {relation for relation, claim in every.items() if is_proved(claim)}
    assert proved == {Relation.EQUAL, Relation.AT_MOST, Relation.AT_LEAST}
