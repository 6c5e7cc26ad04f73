"""From a cold start the search finds every refutation, and breaks what is only just true."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theory.claim import Relation, Sides, Verdict
from theory.santurkar2018 import CLAIMS
from verify import search
from verify.cases.lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import exact
from verify.witnesses.witness import PROFILES

SMOKE = PROFILES["smoke"]
LOWER_BOUNDS = (Relation.AT_LEAST, Relation.MORE_THAN)
REFUTED = [claim for claim in CLAIMS if claim.expected is Verdict.REFUTED]
BOUNDS = {
    claim.id: claim
    for claim in CLAIMS
    if claim.expected is Verdict.PROVED and claim.relation is not Relation.EQUAL
}
ABOVE_ZERO = {
    "S-thm-4.2-discussion/descent/corrected",
    "S-thm-4.2-discussion/descent/eps/corrected",
}
"""Their claimed side is zero, which no factor changes."""
WHERE_A_HYPOTHESIS_IS_TIGHT = {
    "S-thm-4.2b/direct",
    "S-thm-4.2b/ratio/corrected",
    "S-thm-4.2b/order/corrected",
}
"""Attained only where a hypothesis holds with equality, as for a loss without curvature."""


def tightened(claim):
    """The claim with a thousandth of its claimed side taken off the slack."""
    sign = 1 if claim.relation in LOWER_BOUNDS else -1

    def sides(network, at):
        actual, claimed = claim.sides(network, at)
        return Sides(actual, claimed + sign * abs(claimed) / 1000)

    return replace(claim, sides=sides, certificate=None)


def found(claim):
    """A counterexample within the smoke budget: a few integers first, then all, then ascent."""
    for examples in (5, SMOKE.examples):
        by_integers = search.smallest(claim, examples).counterexample
        if by_integers is not None:
            return by_integers
    if claim.relation is Relation.EQUAL:
        return None
    return search.climbed(claim, 0, SMOKE.restarts, SMOKE.steps)[0]


def unimposed(claim):
    """The claim whose hypotheses are checked and not imposed."""
    return replace(claim, hypotheses=tuple(replace(h, impose=None) for h in claim.hypotheses))


def is_certain(claim, counterexample):
    """Whether the numbers that are written down violate the claim, examined as they are."""
    return exact.examine(unimposed(claim), counterexample.case).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("claim", REFUTED, ids=lambda claim: claim.id)
def test_every_refutation_is_found(claim):
    counterexample = found(claim)
    assert counterexample is not None
    assert is_certain(claim, counterexample)


@pytest.mark.parametrize("name", sorted(BOUNDS.keys() - ABOVE_ZERO))
def test_a_bound_that_is_attained_is_broken_by_a_thousandth(name):
    claim = tightened(BOUNDS[name])
    counterexample = found(claim)
    assert counterexample is not None
    assert is_certain(claim, counterexample)
    assert exact.examine(unimposed(BOUNDS[name]), counterexample.case).outcome is Outcome.HOLDS


WITHOUT_CURVATURE = lattice_case(
    y=[0, 1, 3],
    gamma=1,
    beta=0,
    ratio=Fraction(2),
    linear=[1, -2, 0],
    triangle=[0] * 6,
    direction=[0] * 3,
    other_direction=[0] * 3,
    bound=1,
)


@pytest.mark.parametrize("name", sorted(WHERE_A_HYPOTHESIS_IS_TIGHT))
def test_a_loss_without_curvature_attains_the_bound(name):
    claim = unimposed(BOUNDS[name])
    attained = exact.examine(claim, WITHOUT_CURVATURE)
    assert attained.outcome is Outcome.HOLDS
    assert attained.actual == attained.claimed != "0"
    assert exact.examine(tightened(claim), WITHOUT_CURVATURE).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("name", sorted(ABOVE_ZERO))
def test_a_bound_of_zero_is_zero(name):
    assert exact.examine(BOUNDS[name], WITHOUT_CURVATURE).claimed == "0"


def test_the_exceptions_are_claims():
    assert BOUNDS.keys() > ABOVE_ZERO | WHERE_A_HYPOTHESIS_IS_TIGHT


def test_tightening_takes_slack_away_on_either_side_of_zero():
    (claim, *_) = BOUNDS.values()
    at = None
    for relation, value, expected in [
        (Relation.AT_MOST, 2.0, 1.998),
        (Relation.AT_MOST, -2.0, -2.002),
        (Relation.AT_LEAST, 2.0, 2.002),
        (Relation.AT_LEAST, -2.0, -1.998),
    ]:
        constant = replace(claim, relation=relation, sides=lambda n, at, v=value: Sides(v, v))
        np.testing.assert_allclose(tightened(constant).sides(None, at).claimed, expected)
