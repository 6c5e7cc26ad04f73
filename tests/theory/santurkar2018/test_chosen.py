"""Where a search looks first: each hint leads to a counterexample for a pencil."""

import pytest

from theory.santurkar2018 import CLAIMS
from theory.santurkar2018.chosen import ONE_INPUT, ROOT_FREE
from theory.statement import Verdict
from verify.witnesses.integers import counterexample, first_looked_at

REFUTED = {c.id: c for c in CLAIMS if c.expected is Verdict.REFUTED}
IN_GENERAL = (ONE_INPUT, ROOT_FREE)


def test_a_hint_leads_to_a_counterexample():
    hinted = [c for c in REFUTED.values() if c.attack not in IN_GENERAL]
    assert not [c.id for c in hinted if first_looked_at(c) is None]


def test_general_hints_lead_to_most_of_the_other_counterexamples():
    others = [c for c in REFUTED.values() if c.attack in IN_GENERAL][::5]
    found = [first_looked_at(c) for c in others]
    assert sum(f is not None and len(f.y) == 4 for f in found) > 0.83 * len(others)


@pytest.mark.parametrize(
    "name",
    [
        "S-thm-4.4",
        "S-thm-4.1/two-networks",
        "S-obs-4.3/minima/fixed",
        "S-v1-thm-3.2/two-networks",
    ],
)
def test_a_pencil_suffices(name):
    found = counterexample(REFUTED[name], first_looked_at(REFUTED[name]))
    assert found.arithmetic == "exact"
    assert found.size["m"] >= 3
    gamma = found.numbers["gamma"]
    assert "sqrt" in gamma or int(gamma) > 0
    assert set(found.numbers["y"]) <= {"-2", "-1", "0", "1", "2"}
