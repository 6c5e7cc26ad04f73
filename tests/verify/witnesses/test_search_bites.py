"""From a cold start the search breaks what is only just true."""

from dataclasses import replace

import pytest

from theory.language.arrays import absolute
from theory.language.expression import number
from theory.santurkar2018 import CLAIMS
from verify.settings import PROFILES
from verify.subjects.unit import adapted
from verify.tolerance import Outcome
from verify.witnesses import exact
from verify.witnesses.ascent import climbed
from verify.witnesses.batches import BATCHES, GROUNDS
from verify.witnesses.integers import fail_in_floats
from verify.witnesses.search import insist, search

SMOKE = PROFILES["smoke"]
ATTAINED = {
    "S-eq-10-remark": "integers",
    "S-eq-15-remark": "four integers",
    "S-thm-4.1": "anything",
    "S-thm-4.2b/direct": "integers",
    "S-thm-4.4/batch-held/within": "integers",
    "S-v1-eq-26": "ascent",
}
"""Bounds that are attained, and what finds where: without it the bound stands."""
BOUNDS = {claim.id: claim for claim in CLAIMS if claim.id in ATTAINED}


def tightened(claim):
    """The claim with a thousandth of its claimed side taken off the slack."""
    sign, claimed = 1 if claim.relation.bounds_below else -1, claim.says.claimed
    nearer = claimed + sign * absolute(claimed) / number(1000)
    return replace(claim, says=replace(claim.says, claimed=nearer), because=None)


def found(claim):
    """A case that violates the claim: by a few integers, or by ascent or all, from a few seeds."""
    failing = fail_in_floats(GROUNDS, [claim], 0)

    def of_integers(examples, seed):
        met = search(BATCHES, [claim], examples, seed)
        insist(BATCHES, [claim], met, examples, seed, failing)
        return met[claim.id].found

    def searched():
        yield of_integers(5, 0)
        for seed in range(3):
            yield climbed([claim], seed, SMOKE.restarts, SMOKE.steps)[0][0]
            yield of_integers(SMOKE.examples, seed)

    return next((one for one in searched() if one is not None), None)


def unimposed(claim):
    """The claim whose hypotheses are checked and not imposed."""
    return replace(claim, hypotheses=tuple(replace(h, impose=None) for h in claim.hypotheses))


@pytest.mark.parametrize("name", ATTAINED)
def test_a_bound_that_is_attained_is_broken_by_a_thousandth(name):
    claim = tightened(BOUNDS[name])
    case = found(claim)
    assert case is not None
    written_down = adapted(exact.rational_case(case), claim)
    assert exact.examined([unimposed(claim)], written_down)[0].outcome is Outcome.VIOLATED
    before = exact.examined([unimposed(BOUNDS[name])], written_down)[0].outcome
    assert before is not Outcome.VIOLATED
