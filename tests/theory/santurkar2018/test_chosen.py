"""Counterexamples for the pencil: each is found where the search looks first, by small numbers."""

import pytest

from theory.santurkar2018 import CLAIMS
from theory.statement import Reading, Verdict
from verify.witnesses.integers import counterexample, first_looked_at

PENCIL = [
    "S-thm-C1/kappa/at-most",
    "S-thm-C1/weights/at-most",
    "S-thm-4.4",
    "S-thm-4.2b/ratio",
    "S-thm-4.1/two-networks",
    "S-thm-4.1-supp",
    "S-thm-4.2-discussion/descent",
    "S-remark-growth/lipschitz",
    "S-remark-predictive/gradient",
    "S-obs-4.3/minima/fixed",
    "S-v1-thm-3.2/two-networks",
]
BY_ID = {claim.id: claim for claim in CLAIMS}


def written(claim):
    return counterexample(claim, first_looked_at(claim))


@pytest.mark.parametrize("name", PENCIL)
def test_a_pencil_suffices(name):
    found = written(BY_ID[name])
    assert found.arithmetic == "exact"
    assert found.size["m"] >= 3
    gamma = found.numbers["gamma"]
    assert "sqrt" in gamma or int(gamma) > 0
    assert set(found.numbers["y"]) <= {"-2", "-1", "0", "1", "2"}


def test_hints_find_nothing_against_what_holds():
    hinted = [c for c in CLAIMS if c.attack and c.expected is Verdict.PROVED]
    assert hinted
    assert not [c.id for c in hinted if first_looked_at(c)]


def test_what_the_texts_mean_is_looked_at_without_epsilon():
    claim = BY_ID["S-thm-4.4"]
    assert claim.reading is Reading.NO_EPSILON
    assert written(claim).numbers["gamma"] == "1/3*sqrt(6)"
