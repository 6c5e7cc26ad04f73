"""Where a search may look first: each hint leads to a counterexample of small integers."""

import pytest

from theory.claim import Verdict
from theory.santurkar2018 import CLAIMS
from theory.santurkar2018.chosen import ONE_INPUT, ROOT_FREE
from verify.witnesses.integers import first_looked_at

IN_GENERAL = (ONE_INPUT, ROOT_FREE)
REFUTED = [c for c in CLAIMS if c.expected is Verdict.REFUTED]
HINTED = [c for c in REFUTED if c.attack not in IN_GENERAL]


@pytest.mark.parametrize("claim", HINTED, ids=lambda claim: claim.id)
def test_a_hint_leads_to_a_counterexample(claim):
    assert first_looked_at(claim) is not None


def test_general_hints_lead_to_most_of_the_other_counterexamples():
    found = [first_looked_at(c) for c in REFUTED if c.attack in IN_GENERAL]
    assert sum(f is not None and len(f.y) == 4 for f in found) > 100
