"""From a cold start the search breaks what is only just true."""

from dataclasses import replace

import pytest

from theory.claim import Sides
from theory.santurkar2018 import CLAIMS
from verify.cases.case import adapted
from verify.settings import PROFILES
from verify.tolerance import Outcome
from verify.witnesses import exact
from verify.witnesses.ascent import climbed
from verify.witnesses.integers import BATCHES, fail_in_floats
from verify.witnesses.search import search

SMOKE = PROFILES["smoke"]
BY_ID = {claim.id: claim for claim in CLAIMS}
BY_FEW_INTEGERS = ["S-thm-4.1/eps", "S-thm-4.2b/order/corrected", "S-v1-eq-15"]
BY_MANY = ["S-eq-10/sharpened", "S-thm-C1/kappa/sharpened", "S-v1-eq-16/corrected"]
BY_ASCENT = ["S-v1-eq-26"]


def tightened(claim):
    """The claim with a thousandth of its claimed side taken off the slack."""
    sign = 1 if claim.relation.bounds_below else -1

    def sides(network, at):
        actual, claimed = claim.sides(network, at)
        return Sides(actual, claimed + sign * abs(claimed) / 1000)

    return replace(claim, says=None, sides=sides, because=None, certificate=None)


def unimposed(claim):
    """The claim whose hypotheses are checked and not imposed."""
    return replace(claim, hypotheses=tuple(replace(h, impose=None) for h in claim.hypotheses))


def found(name, claim):
    """A case that violates the claim."""
    if name in BY_ASCENT:
        return climbed([claim], 1, SMOKE.restarts, SMOKE.steps)[0][0]
    examples = 5 if name in BY_FEW_INTEGERS else SMOKE.examples
    return search(BATCHES, [claim], examples, 0, fail_in_floats([claim], 0))[claim.id].found


@pytest.mark.parametrize("name", [*BY_FEW_INTEGERS, *BY_MANY, *BY_ASCENT])
def test_a_bound_that_is_attained_is_broken_by_a_thousandth(name):
    claim = tightened(BY_ID[name])
    case = adapted(exact.rational_case(found(name, claim)), claim)
    assert exact.examine(unimposed(claim), case).outcome is Outcome.VIOLATED
    assert exact.examine(unimposed(BY_ID[name]), case).outcome is not Outcome.VIOLATED
