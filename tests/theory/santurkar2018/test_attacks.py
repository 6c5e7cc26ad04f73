"""Where a search may look first: each hint leads to small counterexamples."""

from fractions import Fraction
from itertools import product

import pytest

from theory.claim import Verdict
from theory.santurkar2018 import CLAIMS
from verify.cases.lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import exact

HINTED = [c for c in CLAIMS if c.attack and c.expected is Verdict.REFUTED]


def cases():
    """Batches with few small entries."""
    batches = ([-1, 1], [0, -1], [-1, 0, 1])
    for y, entries in product(batches, ([1, -2], [1, 0], [2, 1])):
        m = len(y)
        yield lattice_case(
            y=y,
            gamma=1,
            beta=0,
            ratio=Fraction(2),
            linear=[0] * m,
            triangle=[0] * (m * (m + 1) // 2),
            direction=[*entries, 2][:m],
            other_direction=[*entries, 2][:m],
            bound=1,
        )


@pytest.mark.parametrize("claim", HINTED, ids=lambda claim: claim.id)
def test_a_hint_leads_to_a_counterexample(claim):
    found = {exact.examine(claim, hint(case)).outcome for case in cases() for hint in claim.attack}
    assert Outcome.VIOLATED in found
