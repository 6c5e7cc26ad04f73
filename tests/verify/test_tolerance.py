"""Closeness, on numbers made by hand: what rounding explains, what it hides, what it cannot."""

import numpy as np
import pytest

from theory.claim import Relation
from verify import tolerance
from verify.tolerance import STEP, UNIT_ROUNDOFF, Outcome, judge, ratio

HOLDS, VIOLATED, UNDECIDED = Outcome.HOLDS, Outcome.VIOLATED, Outcome.UNDECIDED
EQUAL, AT_MOST = Relation.EQUAL, Relation.AT_MOST
ALLOWED = 2.0**-40


def one(actual, claimed, relation, allowed=ALLOWED):
    """The outcome of a single instance of scalars or vectors."""
    sides = (np.array([np.atleast_1d(side)], dtype=float) for side in (actual, claimed))
    (outcome,) = judge(*sides, relation, np.array([allowed]))
    return outcome


TABLE = {
    EQUAL: (VIOLATED, HOLDS, VIOLATED),
    AT_MOST: (HOLDS, HOLDS, VIOLATED),
    Relation.AT_LEAST: (VIOLATED, HOLDS, HOLDS),
    Relation.LESS_THAN: (HOLDS, UNDECIDED, VIOLATED),
    Relation.MORE_THAN: (VIOLATED, UNDECIDED, HOLDS),
}


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("claimed", [3.0, -3.0])
def test_what_rounding_explains_is_a_tie_and_nothing_else(relation, claimed):
    less, same, more = TABLE[relation]
    for slip in (1 / ALLOWED, 2):
        assert one(claimed - slip * ALLOWED, claimed, relation) is less
        assert one(claimed + slip * ALLOWED, claimed, relation) is more
    for slip in (-0.75, 0, 0.75):
        assert one(claimed + slip * ALLOWED, claimed, relation) is same


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_decides_nothing(relation, bad):
    assert one(bad, 1, relation) is UNDECIDED
    assert one(1, -bad, relation) is UNDECIDED
    assert one(bad, bad, relation) is UNDECIDED
    assert one(0, 1, relation, allowed=bad) is UNDECIDED


def test_vectors_are_compared_as_a_whole_and_instances_one_by_one():
    actual, claimed = np.array([[1.0], [2.0], [np.nan]]), np.ones((3, 1))
    judged = judge(actual, claimed, AT_MOST, np.full(3, ALLOWED))
    assert judged == [HOLDS, VIOLATED, UNDECIDED]
    assert one([1, 2, 3], [1, 2, 3], EQUAL) is HOLDS
    assert one([3, 4], [4, 3], EQUAL) is VIOLATED
    assert one([1, np.nan], [1, 2], EQUAL) is UNDECIDED


@pytest.mark.parametrize("relation", Relation)
def test_an_ill_conditioned_case_decides_nothing_unless_it_is_violated(relation):
    blurred = 2 * tolerance.ILL_CONDITIONED * UNIT_ROUNDOFF
    assert one(1 + blurred / 2, 1, relation, allowed=blurred) is UNDECIDED
    assert one(1, 1, relation, allowed=blurred) is UNDECIDED
    assert one(1 + 2 * blurred, 1, EQUAL, allowed=blurred) is VIOLATED
    assert one(1e-14, -1e-14, EQUAL, allowed=1e-13) is HOLDS  # both zero, but for rounding
    assert one(0, 0, EQUAL, allowed=0) is HOLDS


def test_condition_and_tolerance_on_numbers_by_hand():
    """The condition is the change over the step, and at least the size."""
    side = np.array([[3.0, 4.0], [3.0, 4.0]])
    sample = side + np.array([[0.0, 100 * STEP], [0.0, 2 * STEP]])
    rounding = tolerance.condition_times_size(side, [side, sample])
    np.testing.assert_allclose(rounding, [100, 5], rtol=1e-6)
    allowed = tolerance.SAFETY * (1 + 3) * 2.0**-53 * rounding
    np.testing.assert_allclose(tolerance.tolerance(rounding, 8), allowed, rtol=1e-15)
    with_derivative = tolerance.tolerance(rounding, 8, relative_error=1e-6, size=5.0)
    np.testing.assert_allclose(with_derivative, allowed + tolerance.DEGREE * 5e-6, rtol=1e-15)


def test_ratios_are_those_of_scalars_or_of_norms_where_the_claimed_side_is_clearly_positive():
    actual, claimed = np.array([[1.0], [-3.0], [1.0]]), np.array([[4.0], [2.0], [1e-9]])
    for relation, second in ((AT_MOST, -1.5), (EQUAL, 1.5)):
        found = ratio(actual, claimed, relation, np.full(3, 1e-8))
        np.testing.assert_array_equal(found, [0.25, second, np.nan])
    vectors = np.array([[3.0, 4.0]])
    np.testing.assert_array_equal(ratio(vectors, 2 * vectors, EQUAL, np.zeros(1)), [0.5])
    assert np.isnan(ratio(np.ones((1, 1)), np.full((1, 1), -1.0), AT_MOST, np.zeros(1))).all()


def test_the_ratio_of_a_lower_bound_is_claimed_over_actual():
    actual, claimed = (
        np.array([[4.0], [2.0], [1e-9], [4.0]]),
        np.array([[1.0], [3.0], [1.0], [0.0]]),
    )
    found = ratio(actual, claimed, Relation.AT_LEAST, np.full(4, 1e-8))
    np.testing.assert_array_equal(found, [0.25, 1.5, np.nan, np.nan])
    in_words = [tolerance.ratio_in_words(relation) for relation in (AT_MOST, Relation.MORE_THAN)]
    assert in_words == ["actual/claimed", "claimed/actual"]


def approximate(actual, claimed, error, size=1.0):
    sides = (np.array([[side]]) for side in (actual, claimed))
    one, relative = np.array([size]), np.array([error])
    (outcome,) = tolerance.judge_approximate(*sides, AT_MOST, 4, one, relative)
    return outcome


def test_the_square_of_what_vanishes_but_for_the_derivatives_error_is_no_violation():
    length, error = 100.0, 1e-9
    size = 2 * STEP * length**2  # the change by errors of STEP, over STEP
    linear = tolerance.tolerance(np.array([size]), 4, error, size)
    assert one((error * length) ** 2, 0, AT_MOST, linear.item()) is VIOLATED
    assert approximate((error * length) ** 2, 0.0, error, size) is UNDECIDED
    assert approximate(1e3 * (error * length) ** 2, 0.0, error, size) is VIOLATED
    assert approximate(1.01, 1.0, error) is VIOLATED
    assert approximate(0.99, 1.0, error) is HOLDS
    assert approximate(1.01, 1.0, error=0.0) is VIOLATED
    smaller = size / 8**2  # where all random numbers are an eighth of what they might be
    assert approximate((2 * error * length) ** 2, 0.0, error, smaller) is UNDECIDED
