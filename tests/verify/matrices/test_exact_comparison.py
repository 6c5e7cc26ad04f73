"""Sides with many entries are compared in every one, for every relation."""

import numpy as np
import pytest
from flint import arb

from theory.statement import Relation
from verify.witnesses import ball
from verify.witnesses.exact import compared
from verify.witnesses.records import Outcome

RIGHT = np.array([2, 2, 2, 2, 2], dtype=object)
STEPS = {
    Relation.EQUAL: 0,
    Relation.AT_MOST: -1,
    Relation.AT_LEAST: 1,
    Relation.LESS_THAN: -1,
    Relation.MORE_THAN: 1,
}


def in_balls(values):
    return np.frompyfunc(arb, 1, 1)(values)


COMPARED = {
    "exact": compared,
    "balls among matrices": lambda a, b, r: compared(in_balls(a), in_balls(b), r),
    "balls": lambda a, b, r: ball.compare(in_balls(a), in_balls(b), r),
}


@pytest.mark.parametrize("how", COMPARED)
@pytest.mark.parametrize("relation", Relation)
def test_one_entry_that_violates_is_seen_wherever_it_stands(how, relation):
    compare = COMPARED[how]
    left = RIGHT + STEPS[relation]
    assert compare(left, RIGHT, relation) is Outcome.HOLDS
    for place in range(5):
        wrong = left.copy()
        wrong[place] = 2 if relation.is_strict else 2 + (-STEPS[relation] or 1)
        assert compare(wrong[:, None], RIGHT[:, None], relation) is Outcome.VIOLATED


def test_one_bound_for_several_entries_holds_for_the_last_too():
    assert compared(np.array([3, 4, 5, 1], object), 2, Relation.AT_LEAST) is Outcome.VIOLATED
    assert compared(np.array([3, 4, 5, 2], object), 2, Relation.AT_LEAST) is Outcome.HOLDS
