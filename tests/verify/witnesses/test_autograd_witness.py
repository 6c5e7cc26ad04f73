"""The autograd witness on random batches: right statements hold, slips are seen."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from planted import HESSIAN, WRONG
from slips import BOUND, GRADIENT, RIGHT, SHARED_BOUND, SLIPS, VACUOUS, VACUOUSLY_PROVED

from theory.claim import Hypothesis, Relation, Sides
from verify.cases.case import imposed_by
from verify.cases.strata import STRATA, draw, random_cases
from verify.engine import CLAIMS
from verify.tolerance import Outcome
from verify.witnesses.autograd import derivative, examine_all, examine_cases, gradient
from verify.witnesses.records import record
from verify.witnesses.table import is_measurable

HOLDS, VIOLATED, UNDECIDED = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED
CASES = list(random_cases(0, 3))
GENERIC = [draw(STRATA[0], 5, index) for index in range(12)]


def outcomes(claim, cases=CASES):
    """The outcome of each case by its token."""
    groups = examine_cases(claim, cases)
    return {t: o for g in groups for t, o in zip(g.tokens, g.outcomes, strict=True)}


def counted(claim, cases=CASES):
    return Counter(outcomes(claim, cases).values())


def test_gradients_and_derivatives_are_those_found_by_hand():
    x, u = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([3.0, -1.0])
    u = u.double()
    assert gradient(lambda x: x[0] ** 2 * x[1], x).tolist() == [4, 1]
    assert derivative(lambda x: x[0] ** 2 * x[1], x, u).item() == 11
    assert derivative(lambda x: x * x, x, u).tolist() == [6, -4]
    assert derivative(lambda x: gradient(lambda x: x[0] ** 2 * x[1], x), x, u).tolist() == [10, 6]
    assert derivative(lambda x: 0 * x + 1, x, u).tolist() == [0, 0]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_statement_is_nowhere_violated(name):
    found = counted(RIGHT[name])
    assert found[VIOLATED] == 0
    assert found[HOLDS] > 0.6 * len(CASES)


def test_the_shipped_hessian_is_nowhere_violated():
    found = counted(HESSIAN)
    assert found[VIOLATED] == 0
    assert found[HOLDS] > 0.6 * len(CASES)


@pytest.mark.parametrize("name", [name for name in SLIPS if name.startswith("gradient")])
def test_a_slip_in_an_equality_is_violated_on_every_generic_batch(name):
    assert counted(SLIPS[name], GENERIC) == {VIOLATED: len(GENERIC)}


@pytest.mark.parametrize("name", [name for name in SLIPS if name.startswith("bound")])
def test_a_slip_in_an_inequality_is_violated_on_many_batches(name):
    assert counted(SLIPS[name], GENERIC)[VIOLATED] > len(GENERIC) / 2


@pytest.mark.parametrize("name", WRONG)
def test_a_planted_wrong_formula_is_violated_on_every_generic_batch(name):
    assert counted(WRONG[name], GENERIC) == {VIOLATED: len(GENERIC)}


@pytest.mark.parametrize("digits", [6, 9])
def test_a_slip_in_a_late_digit_is_seen(digits):
    def sides(network, at):
        actual, claimed = GRADIENT.sides(network, at)
        return Sides(actual, claimed * (1 + 10.0**-digits))

    assert counted(replace(GRADIENT, sides=sides), GENERIC) == {VIOLATED: len(GENERIC)}


def test_a_slip_in_the_last_digit_is_rounding():
    def sides(network, at):
        actual, claimed = GRADIENT.sides(network, at)
        return Sides(actual, claimed * (1 + 2.0**-52))

    assert counted(replace(GRADIENT, sides=sides), GENERIC) == {HOLDS: len(GENERIC)}


def test_a_batch_of_one_is_outside_the_statements_without_eps():
    one = [draw(STRATA[2], 0, index) for index in range(4)]
    assert counted(BOUND, one) == {Outcome.VACUOUS: 4}
    assert counted(SHARED_BOUND, one)[Outcome.VACUOUS] == 0


def test_a_large_offset_is_never_taken_for_a_violation():
    offset = next(stratum for stratum in STRATA if stratum.name == "large offset")
    cases = [draw(offset, 0, index) for index in range(40)]
    for claim in (*RIGHT.values(), HESSIAN):
        assert counted(claim, cases)[VIOLATED] == 0


def test_a_large_offset_does_not_hide_a_slip():
    offset = next(stratum for stratum in STRATA if stratum.name == "large offset")
    cases = [draw(offset, 0, index) for index in range(12)]
    assert counted(SLIPS["gradient, a factor 2"], cases) == {VIOLATED: 12}


@pytest.mark.parametrize("claim", [VACUOUS, VACUOUSLY_PROVED])
def test_an_impossible_hypothesis_makes_every_case_vacuous(claim):
    assert counted(claim) == {Outcome.VACUOUS: len(CASES)}
    found = record(claim, "autograd", examine_cases(claim, CASES))
    assert (found.instances, found.vacuous) == (len(CASES), len(CASES))
    assert (found.worst_ratio, found.worst_token, found.points) == (None, None, [])


def test_a_hypothesis_chooses_its_instances():
    positive = Hypothesis("gamma > 0", lambda network, at: at.gamma, Relation.MORE_THAN)
    found = outcomes(replace(BOUND, hypotheses=(positive,)), GENERIC)
    for case in GENERIC:
        assert (found[case.token] is Outcome.VACUOUS) == (case.gamma <= 0)


def test_hypotheses_that_are_equalities_hold_up_to_rounding():
    def quantity(network, at):
        return (at.yhat / at.yhat.shape[0]).sum() * at.gamma

    zero = Hypothesis("mean yhat = 0", quantity, Relation.EQUAL)
    assert counted(replace(BOUND, hypotheses=(zero,)), GENERIC)[Outcome.VACUOUS] == 0
    near = replace(zero, quantity=lambda network, at: 1e-6 + quantity(network, at))
    assert counted(replace(BOUND, hypotheses=(near,)), GENERIC) == {Outcome.VACUOUS: len(GENERIC)}


def test_what_is_not_finite_decides_nothing():
    claim = replace(BOUND, sides=lambda network, at: Sides(at.gamma, at.gamma / (0 * at.gamma)))
    assert counted(claim, GENERIC) == {UNDECIDED: len(GENERIC)}


def test_a_case_is_judged_alike_alone_and_among_others():
    together = outcomes(GRADIENT)
    for case in CASES[::5]:
        assert outcomes(GRADIENT, [case])[case.token] is together[case.token]


def test_statements_that_change_cases_in_different_ways_are_judged_at_their_own():
    rows = ("S-thm-4.2b", "S-thm-4.2-discussion")
    claims = [claim for claim in CLAIMS if claim.row in rows and is_measurable(claim)]
    assert len({imposed_by(claim) for claim in claims}) > 3
    together = examine_all(claims, CASES)
    for claim in claims:
        alone = examine_cases(claim, CASES)
        for mine, shared in zip(alone, together[claim.id], strict=True):
            assert (mine.tokens, mine.m) == (shared.tokens, shared.m)
            np.testing.assert_allclose(mine.actual, shared.actual, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(mine.claimed, shared.claimed, rtol=1e-9, atol=1e-12)


def test_the_seed_moves_no_clear_outcome():
    for claim, expected in ((GRADIENT, HOLDS), (SLIPS["gradient, missing centring"], VIOLATED)):
        for seed in range(4):
            (group,) = examine_cases(claim, GENERIC[:3], seed)
            assert set(group.outcomes) == {expected}


def test_the_ratio_of_a_formula_with_a_factor_two_is_a_half():
    (group,) = examine_cases(SLIPS["gradient, a factor 2"], GENERIC[:3])
    np.testing.assert_allclose(group.ratios, 0.5, rtol=1e-10)
    assert group.m == 8
    assert group.strata == ["generic"] * 3
