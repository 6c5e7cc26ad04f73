"""The autograd witness: derivatives by PyTorch, and cases that are examined together as alone."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from slips import GRADIENT, SLIPS

from theory.language.expression import along, equal, number
from theory.language.operations import dot, norm2
from theory.statement import assume
from theory.unit import beta, g, gamma, grad, m, one, sigma, variance, y, yhat
from verify.engine import CLAIMS
from verify.subjects.unit import imposed_by
from verify.subjects.unit_strata import STRATA, draw, random_cases
from verify.tolerance import Outcome
from verify.witnesses.autograd import derivative, examine_all, examine_cases, gradient
from verify.witnesses.table import is_measurable

VIOLATED = Outcome.VIOLATED
GENERIC = [draw(STRATA[0], 5, index) for index in range(3)]


def test_gradients_and_derivatives_are_those_found_by_hand():
    x, u = torch.tensor([[1, 2], [3, -1]], dtype=torch.float64)
    assert gradient(lambda x: x[0] ** 2 * x[1], x).tolist() == [4, 1]
    assert derivative(lambda x: x[0] ** 2 * x[1], x, u).item() == 11
    assert derivative(lambda x: x * x, x, u).tolist() == [6, -4]
    assert derivative(lambda x: gradient(lambda x: x[0] ** 2 * x[1], x), x, u).tolist() == [10, 6]
    assert derivative(lambda x: 0 * x + 1, x, u).tolist() == [0, 0]


def test_fractions_may_be_imposed_on_floats():
    third = assume(
        equal(gamma, number(1) / 3), impose=lambda case: replace(case, gamma=Fraction(1, 3))
    )
    for factor, outcome in ((9, Outcome.HOLDS), (8, VIOLATED)):
        says = equal(factor * norm2(gamma * y), norm2(y))
        (found,) = examine_cases(replace(GRADIENT, says=says, hypotheses=(third,)), GENERIC)
        assert set(found.outcomes) == {outcome}


@pytest.mark.parametrize(
    ("slope", "right"),
    [
        (along(gamma**3, gamma, number(1), at=number(2)), number(12)),
        (along(gamma**3, gamma, number(1), at=variance(y)), 3 * variance(y) ** 2),
        (along(gamma**3, gamma, beta, at=variance(y)), 3 * variance(y) ** 2 * beta),
        (along(gamma**2, gamma, dot(g, yhat)), 2 * gamma * dot(g, yhat)),
    ],
)
def test_a_derivative_at_a_number_along_one_is_found_whatever_they_are_made_of(slope, right):
    for value, outcome in ((right, Outcome.HOLDS), (2 * right, VIOLATED)):
        (found,) = examine_cases(replace(GRADIENT, says=equal(slope, value)), GENERIC)
        assert set(found.outcomes) == {outcome}


def test_the_worst_instance_of_a_lower_bound_is_the_nearest_to_failing():
    slope, room = norm2(grad), norm2(g) - dot(one, g) ** 2 / m
    says = slope >= gamma**2 / sigma**2 * (room - 3 * dot(g, yhat) ** 2 / m)
    (found,) = examine_cases(replace(GRADIENT, says=says), GENERIC)
    ratios = found.claimed / found.actual
    assert set(found.outcomes) == {Outcome.HOLDS}
    assert found.worst() == np.argmax(ratios) != np.argmin(ratios)
    np.testing.assert_allclose(found.ratios, ratios)


def test_a_large_offset_does_not_hide_a_slip():
    offset = next(stratum for stratum in STRATA if stratum.name == "large offset")
    cases = [draw(offset, 0, index) for index in range(12)]
    for group in examine_cases(SLIPS["gradient, a factor 2"], cases):
        assert set(group.outcomes) == {VIOLATED}
    for group in examine_cases(GRADIENT, cases):
        assert VIOLATED not in group.outcomes


def test_statements_that_change_cases_in_different_ways_are_judged_at_their_own():
    cases = [draw(STRATA[k], 0, index) for k in (0, 4) for index in range(2)]
    of_result = [claim for claim in CLAIMS if claim.result == "S-thm-4.2b" and is_measurable(claim)]
    claims = [*{imposed_by(claim): claim for claim in of_result}.values()]
    assert len(claims) > 2
    together = examine_all(claims, cases)
    for claim in claims:
        for mine, shared in zip(examine_cases(claim, cases), together[claim.id], strict=True):
            assert (mine.tokens, mine.m) == (shared.tokens, shared.m)
            np.testing.assert_allclose(mine.actual, shared.actual, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(mine.claimed, shared.claimed, rtol=1e-9, atol=1e-12)


def test_a_case_is_judged_alike_alone_and_among_others():
    cases = list(random_cases(0, 2))
    together = {
        token: outcome
        for group in examine_cases(GRADIENT, cases)
        for token, outcome in zip(group.tokens, group.outcomes, strict=True)
    }
    for case in cases[::3]:
        (alone,) = examine_cases(GRADIENT, [case])
        assert (alone.tokens, alone.outcomes) == ([case.token], [together[case.token]])


def test_the_ratio_of_a_formula_with_a_factor_two_is_a_half_and_no_seed_moves_its_outcome():
    for seed in range(4):
        (right,) = examine_cases(GRADIENT, GENERIC, seed)
        (wrong,) = examine_cases(SLIPS["gradient, a factor 2"], GENERIC, seed)
        assert (set(right.outcomes), set(wrong.outcomes)) == ({Outcome.HOLDS}, {VIOLATED})
    np.testing.assert_allclose(wrong.ratios, 0.5, rtol=1e-10)
    assert (wrong.m, wrong.strata) == (8, ["generic"] * 3)
