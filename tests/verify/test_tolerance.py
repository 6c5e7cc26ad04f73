"""Closeness, on numbers made by hand: what rounding explains, what it hides, what it cannot."""

import numpy as np
import pytest

from theory.claim import Relation
from verify import tolerance
from verify.tolerance import (
    DEGREE,
    ILL_CONDITIONED,
    SAFETY,
    STEP,
    UNIT_ROUNDOFF,
    Outcome,
    condition_times_size,
    judge,
    judge_approximate,
    norm,
    ratio,
)

HOLDS, VIOLATED, UNDECIDED = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED
EQUAL, AT_MOST, AT_LEAST = Relation.EQUAL, Relation.AT_MOST, Relation.AT_LEAST
LESS_THAN, MORE_THAN = Relation.LESS_THAN, Relation.MORE_THAN
ALLOWED = 2.0**-40


def one(actual, claimed, relation, allowed=ALLOWED):
    """The outcome of a single instance of scalars or vectors."""
    sides = (np.array([np.atleast_1d(side)], dtype=float) for side in (actual, claimed))
    (outcome,) = judge(*sides, relation, np.array([allowed]))
    return outcome


TABLE = {
    EQUAL: (VIOLATED, HOLDS, VIOLATED),
    AT_MOST: (HOLDS, HOLDS, VIOLATED),
    AT_LEAST: (VIOLATED, HOLDS, HOLDS),
    LESS_THAN: (HOLDS, UNDECIDED, VIOLATED),
    MORE_THAN: (VIOLATED, UNDECIDED, HOLDS),
}


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("sign", [1, -1])
def test_less_the_same_and_more(relation, sign):
    less, same, more = TABLE[relation]
    claimed = sign * 3.0
    assert one(claimed - 1, claimed, relation) is less
    assert one(claimed, claimed, relation) is same
    assert one(claimed + 1, claimed, relation) is more


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("slip", [-0.75, 0.75])
def test_what_rounding_explains_is_a_tie(relation, slip):
    assert one(3 + slip * ALLOWED, 3, relation) is TABLE[relation][1]


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize(("slip", "index"), [(-2, 0), (2, 2)])
def test_what_rounding_does_not_explain_is_none(relation, slip, index):
    assert one(3 + slip * ALLOWED, 3, relation) is TABLE[relation][index]


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_decides_nothing(relation, bad):
    assert one(bad, 1, relation) is UNDECIDED
    assert one(1, bad, relation) is UNDECIDED
    assert one(bad, bad, relation) is UNDECIDED
    assert one(0, 1, relation, allowed=abs(bad)) is UNDECIDED


def test_one_entry_that_is_not_finite_is_enough():
    assert one([1, np.nan], [1, 2], EQUAL) is UNDECIDED


def test_vectors_are_compared_as_a_whole():
    assert one([1, 2, 3], [1, 2, 3], EQUAL) is HOLDS
    assert one([1, 2, 3], [1, 2, 3.001], EQUAL) is VIOLATED
    assert one([3, 4], [4, 3], EQUAL) is VIOLATED


@pytest.mark.parametrize("relation", Relation)
def test_an_ill_conditioned_case_that_agrees_decides_nothing(relation):
    blurred = 2 * ILL_CONDITIONED * UNIT_ROUNDOFF
    assert one(1, 1, relation, allowed=blurred) is UNDECIDED
    assert one(1 + blurred / 2, 1, relation, allowed=blurred) is UNDECIDED


def test_an_ill_conditioned_case_may_still_be_violated():
    blurred = 2 * ILL_CONDITIONED * UNIT_ROUNDOFF
    assert one(1 + 2 * blurred, 1, EQUAL, allowed=blurred) is VIOLATED


def test_zeros_that_are_nothing_but_rounding_agree():
    assert one(1e-14, -1e-14, EQUAL, allowed=1e-13) is HOLDS
    assert one(0, 0, EQUAL, allowed=0) is HOLDS


def test_instances_are_judged_one_by_one():
    actual, claimed = np.array([[1.0], [2.0], [np.nan]]), np.array([[1.0], [1.0], [1.0]])
    allowed = np.full(3, ALLOWED)
    assert judge(actual, claimed, AT_MOST, allowed) == [HOLDS, VIOLATED, UNDECIDED]
    assert judge(actual[::-1], claimed, AT_MOST, allowed) == [UNDECIDED, VIOLATED, HOLDS]


def test_norm_leaves_the_axis_of_instances():
    np.testing.assert_array_equal(norm(np.array([[3.0, 4.0], [0.0, -2.0]])), [5, 2])
    np.testing.assert_array_equal(norm(np.array([[[3.0], [4.0]]])), [5])


def test_the_condition_is_the_change_over_the_step_and_at_least_the_size():
    side = np.array([[3.0, 4.0], [3.0, 4.0]])
    sample = side + np.array([[0.0, 100 * STEP], [0.0, 2 * STEP]])
    np.testing.assert_allclose(condition_times_size(side, [side, sample]), [100, 5], rtol=1e-6)


def test_the_tolerance_on_a_number_by_hand():
    rounding, m = np.array([10.0]), 8
    by_hand = SAFETY * (1 + 3) * 2.0**-53 * 10
    np.testing.assert_allclose(tolerance.tolerance(rounding, m), by_hand, rtol=1e-15)
    with_derivative = tolerance.tolerance(rounding, m, relative_error=1e-6, size=5.0)
    np.testing.assert_allclose(with_derivative, by_hand + DEGREE * 5e-6, rtol=1e-15)


def test_a_slip_in_the_tenth_digit_is_seen_where_nothing_cancels():
    rounding = np.array([2.0])
    allowed = tolerance.tolerance(rounding, 8)
    assert allowed < 1e-12
    assert one(1 + 1e-10, 1, EQUAL, allowed.item()) is VIOLATED


def test_ratios_are_those_of_scalars_or_of_norms():
    actual, claimed = np.array([[1.0], [-3.0]]), np.array([[4.0], [2.0]])
    np.testing.assert_array_equal(ratio(actual, claimed, AT_MOST, np.zeros(2)), [0.25, -1.5])
    np.testing.assert_array_equal(ratio(actual, claimed, EQUAL, np.zeros(2)), [0.25, 1.5])
    vectors = np.array([[3.0, 4.0]])
    np.testing.assert_array_equal(ratio(vectors, 2 * vectors, EQUAL, np.zeros(1)), [0.5])


def test_there_is_no_ratio_where_the_claimed_side_is_not_clearly_positive():
    actual = np.ones((4, 1))
    claimed = np.array([[0.0], [-1.0], [1e-9], [np.nan]])
    assert np.isnan(ratio(actual, claimed, AT_MOST, np.full(4, 1e-8))).all()


def approximate(actual, claimed, error, size=1.0):
    sides = (np.array([[side]]) for side in (actual, claimed))
    one, relative = np.array([size]), np.array([error])
    (outcome,) = judge_approximate(*sides, AT_MOST, 4, one, relative)
    return outcome


def test_the_square_of_what_vanishes_but_for_the_derivatives_error_is_no_violation():
    length, error = 100.0, 1e-9
    size = 2 * STEP * length**2  # the change by errors of STEP, over STEP
    linear = tolerance.tolerance(np.array([size]), 4, error, size)
    assert one((error * length) ** 2, 0, AT_MOST, linear.item()) is VIOLATED
    assert approximate((error * length) ** 2, 0.0, error, size) is UNDECIDED
    assert approximate(1e3 * (error * length) ** 2, 0.0, error, size) is VIOLATED


@pytest.mark.parametrize("error", [1e-12, 1e-9])
def test_nor_is_it_one_where_the_random_numbers_that_measured_it_were_small(error):
    length = 100.0
    size = 2 * STEP * (length / 8) ** 2  # all of them an eighth of what they might be
    assert approximate((2 * error * length) ** 2, 0.0, error, size) is not VIOLATED


@pytest.mark.parametrize("error", [0.0, 1e-12, 1e-9])
def test_a_slip_of_a_hundredth_is_seen_through_any_error_that_decides(error):
    assert approximate(1.01, 1.0, error) is VIOLATED
    assert approximate(0.99, 1.0, error) is HOLDS
