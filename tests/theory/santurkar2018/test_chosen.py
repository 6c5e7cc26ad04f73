"""Where a search looks first: each hint leads to a counterexample for a pencil."""

from theory.santurkar2018 import CLAIMS
from theory.santurkar2018.chosen import ONE_INPUT, ROOT_FREE
from theory.statement import Verdict
from verify.witnesses.batches import GROUNDS
from verify.witnesses.integers import first_looked_at

REFUTED = [claim for claim in CLAIMS if claim.expected is Verdict.REFUTED]
IN_GENERAL = (ONE_INPUT, ROOT_FREE)


def test_a_hint_leads_to_a_counterexample_for_a_pencil():
    found = {c.id: first_looked_at(GROUNDS, c) for c in REFUTED if c.attack not in IN_GENERAL}
    assert not [name for name, case in found.items() if case is None]
    assert {str(y) for case in found.values() for y in case.y} <= set(map(str, range(-2, 4)))


def test_general_hints_lead_to_most_of_the_other_counterexamples():
    others = [c for c in REFUTED if c.attack in IN_GENERAL][::5]
    found = [first_looked_at(GROUNDS, c) for c in others]
    assert sum(f is not None and len(f.y) == 4 for f in found) > 0.83 * len(others)
