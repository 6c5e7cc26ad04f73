"""What instances say, summed up: counts, the worst one, and some points to plot."""

import numpy as np
from slips import BOUND

from verify.tolerance import Outcome
from verify.witnesses.instances import Instances
from verify.witnesses.records import POINTS, record

HOLDS, VIOLATED = Outcome.HOLDS, Outcome.VIOLATED
UNDECIDED, VACUOUS = Outcome.UNDECIDED, Outcome.VACUOUS


def group(outcomes, ratios, stratum="generic", m=8):
    ratios = np.array(ratios, dtype=float)
    tokens = [f"{stratum}:{index}" for index in range(len(ratios))]
    strata = [stratum] * len(ratios)
    return Instances(outcomes, ratios, ratios, np.ones(len(ratios)), tokens, strata, m)


def test_outcomes_are_counted_over_all_groups_and_by_stratum():
    first = group([HOLDS, VIOLATED, UNDECIDED], [0.5, 1.5, 1.0])
    second = group([HOLDS, VACUOUS], [0.25, np.nan], "m=3", 3)
    found = record(BOUND, "autograd", [first, second])
    assert (found.claim, found.witness) == (BOUND.id, "autograd")
    assert (found.instances, found.violated, found.undecided, found.vacuous) == (5, 1, 1, 1)
    assert found.strata == {
        "generic": {"instances": 3, "holds": 1, "violated": 1, "undecided": 1},
        "m=3": {"instances": 2, "holds": 1, "vacuous": 1},
    }


def test_the_worst_instance_has_the_largest_ratio_of_those_that_decide():
    found = record(BOUND, "w", [group([HOLDS, HOLDS, UNDECIDED, VACUOUS], [0.5, 0.75, 9, 9])])
    assert (found.worst_ratio, found.worst_token) == (0.75, "generic:1")


def test_a_violation_is_worse_than_any_ratio():
    first = group([HOLDS], [0.99])
    second = group([VIOLATED, HOLDS], [-2.0, 0.5], "m=3")
    found = record(BOUND, "w", [first, second])
    assert found.worst_token == "m=3:0"
    assert found.worst_ratio is None


def test_of_several_violations_the_largest_ratio_is_the_worst():
    found = record(BOUND, "w", [group([VIOLATED, HOLDS, VIOLATED], [1.1, 9.0, 5.0])])
    assert (found.worst_ratio, found.worst_token) == (5.0, "generic:2")
    found = record(BOUND, "w", [group([HOLDS, VIOLATED, VIOLATED], [0.5, np.nan, 1.1])])
    assert (found.worst_ratio, found.worst_token) == (1.1, "generic:2")


def test_a_ratio_that_there_is_none_of_is_not_the_worst():
    found = record(BOUND, "w", [group([HOLDS, HOLDS], [np.nan, 0.5])])
    assert (found.worst_ratio, found.worst_token) == (0.5, "generic:1")
    found = record(BOUND, "w", [group([HOLDS, VIOLATED], [0.5, np.nan])])
    assert (found.worst_ratio, found.worst_token) == (None, "generic:1")


def test_where_nothing_is_decided_nothing_is_worst():
    for groups in ([], [group([VACUOUS, UNDECIDED], [2.0, 3.0])]):
        found = record(BOUND, "w", groups)
        assert (found.worst_ratio, found.worst_token, found.points) == (None, None, [])


def test_a_point_has_both_sides_its_stratum_and_its_length():
    found = record(BOUND, "w", [group([HOLDS, UNDECIDED, VIOLATED], [0.5, 1.0, 1.5], m=3)])
    assert found.points == [
        {"actual": 0.5, "claimed": 1.0, "stratum": "generic", "m": 3, "violated": False},
        {"actual": 1.5, "claimed": 1.0, "stratum": "generic", "m": 3, "violated": True},
    ]


def test_points_that_are_not_finite_are_left_out():
    assert record(BOUND, "w", [group([HOLDS, HOLDS], [np.inf, 0.5])]).points[0]["actual"] == 0.5


def test_of_many_points_some_are_kept_evenly():
    many = 5 * POINTS + 1
    found = record(BOUND, "w", [group([HOLDS] * many, np.arange(many))])
    actual = [point["actual"] for point in found.points]
    assert POINTS / 2 < len(actual) <= POINTS
    assert set(np.diff(actual)) == {6}
