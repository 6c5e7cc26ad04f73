"""The exact witness, on batches whose numbers can be found by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from by_functions import assuming, said
from slips import BOUND, GRADIENT, RIGHT, SHARED_BOUND, SLIPS

from theory import unit
from theory.arithmetic import sqrt
from theory.arithmetic.exact import DifferentFieldsError, number, rational_array
from theory.claim import Relation, Sides
from theory.language.arrays import absolute
from theory.language.expression import Letter, along, equal
from theory.language.expression import number as whole
from theory.language.operations import absolute as modulus
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import assume
from theory.unit import beta, gamma
from verify.engine import CLAIMS
from verify.subjects.losses import Loss, quadratic
from verify.subjects.unit import Case
from verify.subjects.unit_strata import STRATA, draw
from verify.tolerance import Outcome
from verify.witnesses.exact import (
    IN_NUMBERS,
    Examined,
    decided,
    decided_in_balls,
    differ_somewhere,
    examined,
    networks,
    rational_case,
)
from verify.witnesses.matrices.exact import examined as examined_matrices
from verify.witnesses.matrices.integers import GROUNDS

HOLDS, VIOLATED, VACUOUS_OUTCOME = Outcome.HOLDS, Outcome.VIOLATED, Outcome.VACUOUS


def examine(claim, case):
    return decided(claim, networks(case))


def examine_in_balls(claim, case, *bits, **cap):
    return decided_in_balls(claim, networks(case), *bits, **cap)


def case(y, linear, gamma=1, beta=0, eps=0, curvature=0):
    """A case of integers with the loss <a, z>, or with a multiple of |z|^2 added."""
    y, linear, ones = np.array([y, linear, [1] * len(y)], dtype=object)
    loss = Loss(quadratic, (linear, curvature * np.diag(ones)))
    return Case(
        y=y, gamma=gamma, beta=beta, eps=eps, loss=loss, direction=ones, other_direction=0 * ones
    )


BY_HAND = case([0, 0, 2, 2], [1, 0, 0, 0])
"""Mean 1 and variance 1; the gradient is (1/2, -1/2, 0, 0)."""
WITH_EPSILON = case([0, 0, 2, 2], [1, 0, 0, 0], gamma=2, eps=3)
"""The same with sigma = 2, and yhat half as long: the gradient is (11, -5, -3, -3)/16."""
GENERIC = case(
    [0, 1, 3, -2, 5], [1, -2, 0, 3, 1], gamma=-2, beta=1, eps=Fraction(3, 2), curvature=1
)


def test_both_sides_are_the_numbers_found_by_hand():
    for claim, case, actual, claimed in [
        (RIGHT["S-fact-C1"], BY_HAND, *["(1/2, -1/2, 0, 0)"] * 2),
        (GRADIENT, WITH_EPSILON, *["(11/16, -5/16, -3/16, -3/16)"] * 2),
        (BOUND, BY_HAND, "1/2", "1/2"),
        (SHARED_BOUND, WITH_EPSILON, "41/64", "11/16"),
    ]:
        found = examine(claim, case)
        assert (found.outcome, found.actual, found.claimed) == (HOLDS, actual, claimed)


def test_a_ratio_is_of_norms_in_an_equation_and_needs_a_positive_claimed_side():
    assert examine(SHARED_BOUND, WITH_EPSILON).ratio(Relation.AT_MOST) == 41 / 44
    assert examine(GRADIENT, WITH_EPSILON).ratio(Relation.EQUAL) == 1
    sides = Sides(np.array([3, 4], dtype=object), 0)
    assert Examined(VIOLATED, sides).ratio(Relation.EQUAL) is None
    assert Examined(VIOLATED, Sides(2, -1)).ratio(Relation.AT_MOST) is None


def test_an_irrational_sigma_has_a_closed_form():
    found = examine(RIGHT["S-fact-C1"], case([0, 0, 1], [1, 0, 0]))
    assert found.outcome is HOLDS
    assert found.arithmetic == "exact"
    assert found.actual == found.claimed == "(3/4*sqrt(2), -3/4*sqrt(2), 0)"


def test_two_roots_that_do_not_mix_are_compared_in_balls():
    found = examine(SLIPS["gradient, 1/sqrt(m)"], GENERIC)
    assert (found.outcome, found.arithmetic) == (VIOLATED, "balls")


def test_a_float_is_the_rational_number_that_it_stores():
    drawn = draw(STRATA[0], 0, 0)
    rational = rational_case(drawn)
    assert [float(Fraction(str(entry))) for entry in rational.y] == drawn.y.tolist()
    assert float(Fraction(str(rational.eps))) == drawn.eps


@pytest.mark.parametrize("examine", [examine, examine_in_balls])
def test_a_number_may_be_irrational_and_in_an_array_of_its_own(examine):
    gamma = rational_array(["1/4"]) * sqrt(number(2))
    found = examine(SHARED_BOUND, replace(WITH_EPSILON, gamma=gamma))
    assert found.outcome is HOLDS
    assert examine(SLIPS["bound, a factor 1/2"], replace(GENERIC, gamma=gamma)).outcome is VIOLATED


def test_a_division_by_an_exact_zero_is_outside_the_statement():
    claim = replace(BOUND, says=gamma <= gamma / gamma)
    assert examine(claim, replace(BY_HAND, gamma=0)).outcome is VACUOUS_OUTCOME
    assert examine(claim, BY_HAND).outcome is HOLDS


def three_roots(nothing):
    """Zero, of three different roots, which no number with one of them is."""
    two, three, six = (sqrt(number + nothing) for number in (2, 3, 6))
    return (two + three) ** 2 - 5 - 2 * six


def nested_roots(nothing):
    """Zero, of roots that are related: whether it is, nothing here can tell."""
    two, three, six = (sqrt(number + nothing) for number in (2, 3, 6))
    return sqrt(5 + 2 * six) - two - three


def never(claim, *hypotheses):
    """The claim that one is zero where its hypotheses hold, or others."""
    assumed = hypotheses or claim.hypotheses
    return replace(claim, says=equal(whole(1), 0), because=None, hypotheses=assumed)


SMALL_DESCENT = GROUNDS[Kind.DESCENT].small.simplest((1,))
OF_A_DESCENT = next(c for c in CLAIMS if isinstance(c, MatrixClaim) and c.subject is Kind.DESCENT)


@pytest.mark.parametrize(
    ("zero", "sign", "further", "expected"),
    [
        (three_roots, Relation.MORE_THAN, 0, VACUOUS_OUTCOME),
        (three_roots, Relation.LESS_THAN, 0, VACUOUS_OUTCOME),
        (three_roots, Relation.AT_LEAST, 0, VIOLATED),
        (three_roots, Relation.EQUAL, 0, VIOLATED),
        (three_roots, Relation.MORE_THAN, 1, VIOLATED),
        (three_roots, Relation.LESS_THAN, 1, VACUOUS_OUTCOME),
        (three_roots, Relation.EQUAL, 1, VACUOUS_OUTCOME),
        (nested_roots, Relation.MORE_THAN, 0, Outcome.UNDECIDED),
        (nested_roots, Relation.AT_LEAST, 0, Outcome.UNDECIDED),
        (nested_roots, Relation.EQUAL, 0, Outcome.UNDECIDED),
        (nested_roots, Relation.MORE_THAN, 1, VIOLATED),
    ],
)
def test_nothing_is_refuted_where_a_hypothesis_may_fail(zero, sign, further, expected):
    claim = never(SHARED_BOUND, assuming("edge", lambda at: zero(0 * at.beta) + further, sign))
    assert examine(claim, WITH_EPSILON).outcome is expected
    assert examine_in_balls(claim, WITH_EPSILON).outcome is expected
    assert [found.outcome for found in examined([claim], WITH_EPSILON)] == [expected]
    at_edge = assuming("edge", lambda descent: zero(0 * descent.step) + further, sign)
    of_matrices = never(OF_A_DESCENT, at_edge)
    assert examined_matrices([of_matrices], SMALL_DESCENT)[0].outcome is expected


def sides_nearly_alike(at):
    """The first is larger by 2 ** -800."""
    root, tiny = sqrt(2 + 0 * at.beta), (1 + 0 * at.beta) / 2**400
    return (root + tiny) ** 2, 2 + 2 * tiny * root


@pytest.mark.parametrize(
    ("cap", "at_most"), [(1024, VIOLATED), (512, Outcome.UNDECIDED), (100, Outcome.UNDECIDED)]
)
def test_precision_is_raised_until_two_sides_are_told_apart(cap, at_most):
    says = said(sides_nearly_alike, Relation.AT_MOST)
    claim = replace(SHARED_BOUND, says=says, because=None)
    assert examine_in_balls(claim, WITH_EPSILON, cap=cap).outcome is at_most
    assert examine_in_balls(claim, WITH_EPSILON, 1024).outcome is VIOLATED


def test_a_hypothesis_that_divides_by_zero_is_not_met_and_balls_cannot_tell():
    claim = never(SHARED_BOUND, assume(1 / (0 * beta) >= 0))
    assert examine(claim, WITH_EPSILON).outcome is VACUOUS_OUTCOME
    assert examine_in_balls(claim, WITH_EPSILON).outcome is Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("S-v1-lemma-3.3/eps", VIOLATED),  # an equality, which is imposed
        ("S-v1-eq-20/eps", VACUOUS_OUTCOME),  # less than e, which is imposed as at most e
    ],
)
def test_what_is_imposed_is_decided_where_roots_mix(identifier, expected):
    [claim] = [claim for claim in CLAIMS if claim.id == identifier]
    u, v = np.array([[1, -1], [0, -1]], dtype=object)
    mixed = replace(case([0, 1], [0, 0], eps=1), direction=u, other_direction=v)
    with pytest.raises(DifferentFieldsError):
        networks(mixed)(claim, IN_NUMBERS)
    assert examine(never(claim), mixed).outcome is expected


@pytest.mark.parametrize(
    ("identifier", "m", "differ"),
    [
        ("S-v1-thm-3.2/two-networks", 3, True),
        ("S-v1-eq-61/sharpened/eps", 2, True),
        ("S-thm-4.1/two-networks", 3, True),
        ("S-thm-4.1/two-networks", 2, False),
        ("S-thm-4.2a", 3, False),
    ],
)
def test_the_sides_of_an_inequality_are_compared_for_equality(identifier, m, differ):
    [claim] = [claim for claim in CLAIMS if claim.id == identifier]
    assert differ_somewhere(claim, m) is differ


def test_nothing_is_said_of_a_slope_where_an_absolute_value_has_none():
    t = Letter("t", "t")
    says = equal(along(absolute(t), t, whole(1), at=unit.gamma) ** 2, 1)
    slope = replace(SHARED_BOUND, says=says, because=None, hypotheses=())
    found = {gamma: examine(slope, replace(BY_HAND, gamma=gamma)).outcome for gamma in (-1, 0, 1)}
    assert found == {-1: HOLDS, 0: VACUOUS_OUTCOME, 1: HOLDS}


@pytest.mark.parametrize("seven", [7, 7.0, np.float64(7), np.array(7)])
def test_whole_numbers_and_floats_that_a_hypothesis_imposes_are_exact(seven):
    is_seven = assume(equal(gamma, 7), impose=lambda case: replace(case, gamma=seven))
    for says in (equal(modulus(gamma), 7), equal(modulus(gamma) * beta, 7 * beta)):
        claim = replace(SHARED_BOUND, says=says, because=None, hypotheses=(is_seven,))
        assert examine(claim, BY_HAND).outcome is HOLDS
