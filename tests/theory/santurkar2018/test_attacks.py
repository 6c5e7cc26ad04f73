"""Where a search may look first: each hint leads to a counterexample of small integers."""

import pytest

from theory.claim import Verdict
from theory.santurkar2018 import CLAIMS
from verify.witnesses.integers import first_looked_at

HINTED = [c for c in CLAIMS if c.attack and c.expected is Verdict.REFUTED]


@pytest.mark.parametrize("claim", HINTED, ids=lambda claim: claim.id)
def test_a_hint_leads_to_a_counterexample(claim):
    assert first_looked_at(claim) is not None
