"""What instances say, summed up: counts, the worst one, and some points to plot."""

from collections import Counter

import numpy as np
import pytest
from slips import BOUND

from verify.tolerance import Outcome
from verify.witnesses.instances import Instances
from verify.witnesses.records import POINTS, in_words, record

HOLDS, VIOLATED = Outcome.HOLDS, Outcome.VIOLATED
UNDECIDED, VACUOUS = Outcome.UNDECIDED, Outcome.VACUOUS
NAN = np.nan


def recorded(*groups):
    """The record of groups of instances: outcomes, ratios, and the stratum."""
    every = []
    for outcomes, ratios, stratum in groups:
        ratios = np.array(ratios, dtype=float)
        tokens = [f"{stratum}:{index}" for index in range(len(ratios))]
        strata = [stratum] * len(ratios)
        every.append(Instances(outcomes, ratios, ratios, ratios + 1, tokens, strata, 3))
    return record(BOUND, "autograd", every)


def test_outcomes_are_counted_over_all_groups_and_by_stratum():
    found = recorded(
        ([HOLDS, VIOLATED, UNDECIDED], [0.5, 1.5, 1.0], "generic"),
        ([HOLDS, VACUOUS], [0.25, NAN], "m=3"),
    )
    assert (found.claim, found.witness) == (BOUND.id, "autograd")
    assert (found.instances, found.violated, found.undecided, found.vacuous) == (5, 1, 1, 1)
    assert found.strata == {
        "generic": {"instances": 3, "holds": 1, "violated": 1, "undecided": 1},
        "m=3": {"instances": 2, "holds": 1, "vacuous": 1},
    }


@pytest.mark.parametrize(
    ("outcomes", "ratios", "ratio", "index"),
    [
        ([HOLDS, HOLDS, UNDECIDED, VACUOUS], [0.5, 0.75, 9, 9], 0.75, 1),
        ([HOLDS, VIOLATED, HOLDS], [0.99, -2.0, 0.5], None, 1),
        ([VIOLATED, HOLDS, VIOLATED], [1.1, 9.0, 5.0], 5.0, 2),
        ([HOLDS, VIOLATED, VIOLATED], [0.5, NAN, 1.1], 1.1, 2),
        ([HOLDS, HOLDS], [NAN, 0.5], 0.5, 1),
        ([HOLDS, VIOLATED], [0.5, NAN], None, 1),
    ],
)
def test_the_worst_decides_and_violations_are_worse_than_any_ratio(outcomes, ratios, ratio, index):
    found = recorded((outcomes, ratios, "generic"))
    assert (found.worst_ratio, found.worst_token) == (ratio, f"generic:{index}")


def test_a_violation_of_one_group_is_worse_than_what_holds_in_another():
    found = recorded(([HOLDS], [9.0], "generic"), ([VIOLATED], [1.1], "m=3"))
    assert (found.worst_ratio, found.worst_token) == (1.1, "m=3:0")


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({HOLDS: 2, VIOLATED: 1}, "fails"),
        ({HOLDS: 2, UNDECIDED: 1}, "no violation in 2 cases"),
        ({VACUOUS: 3}, "undefined: sigma = 0, or a hypothesis cannot hold"),
    ],
)
def test_outcomes_of_one_size_in_words(counts, words):
    assert in_words(Counter(counts)) == words


@pytest.mark.parametrize("groups", [[], [([VACUOUS, UNDECIDED], [2.0, 3.0], "generic")]])
def test_where_nothing_is_decided_nothing_is_worst(groups):
    found = recorded(*groups)
    assert (found.worst_ratio, found.worst_token, found.points) == (None, None, [])


def test_a_point_has_both_sides_its_stratum_and_its_length():
    outcomes = [HOLDS, UNDECIDED, HOLDS, VIOLATED]
    assert recorded((outcomes, [0.5, 1.0, np.inf, 1.5], "generic")).points == [
        {"actual": 0.5, "claimed": 1.5, "stratum": "generic", "m": 3, "violated": False},
        {"actual": 1.5, "claimed": 2.5, "stratum": "generic", "m": 3, "violated": True},
    ]


def test_of_many_points_some_are_kept_evenly():
    many = 5 * POINTS + 1
    found = recorded(([HOLDS] * many, np.arange(many), "generic"))
    actual = [point["actual"] for point in found.points]
    assert POINTS / 2 < len(actual) <= POINTS
    assert set(np.diff(actual)) == {6}
