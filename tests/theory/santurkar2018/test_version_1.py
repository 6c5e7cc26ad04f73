"""The statements of the first version: how they hang together, and known instances."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from theory.claim import Form, Verdict
from theory.santurkar2018.texts import FILES
from theory.santurkar2018.version_1 import CLAIMS
from verify.cases.case import adapted
from verify.cases.lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import abstract, exact

BY_ID = {claim.id: claim for claim in CLAIMS}


def _case(y, x, linear, x_k=None, triangle=None, beta=0):
    """An instance with gamma = 1 and eps three times the variance, where there is one."""
    m = len(y)
    return lattice_case(
        y=y,
        gamma=1,
        beta=beta,
        ratio=Fraction(2),
        linear=linear,
        triangle=triangle or [0] * (m * (m + 1) // 2),
        direction=x,
        other_direction=x_k or y,
        bound=1,
    )


COSINE = _case([1, 0, -1], [1, -1, 0], [2, 3, -5])
KNOWN = {
    "S-v1-thm-3.2/cosine": COSINE,
    "S-v1-thm-C4/cosine": COSINE,
    "S-v1-remark-always/one-weight": _case([3, 0, -3], [1, -1, 0], [2, 3, -5]),
    "S-v1-thm-3.2/two-networks/eps": _case(
        [-3, -2, 3], [-1, 2, -3], [1, 3, -3], triangle=[0, -1, 3, 0, 0, 1], beta=1
    ),
    "S-v1-remark-always/all-weights": _case([1, -2, 1], [1, -2, 1], [3, 2, 0], [0, 1, -1]),
    "S-v1-eq-59": _case([1, -1], [1, -1], [-1, 0], [1, -1]),
    "S-v1-eq-59/absolute": _case(
        [-1, 0, -1], [0, 0, 1], [0, 3, 0], [-1, 2, 0], [0, 0, -3, -2, -2, 0]
    ),
    "S-v1-eq-58": _case([1, -1, 0], [0, 1, -1], [1, 0, 0], [0, 1, -1]),
    "S-v1-eq-17": _case([1, -2, 1], [-4, -2, 6], [-1, 1, 0]),
    "S-v1-thm-3.1/as-defined": _case([2, -2], [1, -1], [0, 0]),
    "S-v1-thm-C3/as-used": _case([1, -1], [1, -1], [0, 0]),
    "S-v1-fact-C2-eq-2/any-mean": _case([-1, 1], [0, 2], [0, 0]),
}
"""Counterexamples of the adjudication, and from searches, in small integers."""


def test_identifiers_are_unique_and_tied():
    assert len(BY_ID) == len(CLAIMS)
    assert all(c.of in BY_ID for c in CLAIMS if c.form in (Form.CORRECTED, Form.SHARPENED))
    corrected = {c.of for c in CLAIMS if c.form is Form.CORRECTED}
    for claim in CLAIMS:
        assert not claim.corrected_by or BY_ID[claim.corrected_by].expected is Verdict.PROVED
        if claim.expected is Verdict.REFUTED:
            assert claim.corrected_by or claim.id in corrected, claim.id


def test_every_claim_says_what_would_falsify_it_or_what_was_lost():
    for claim in CLAIMS:
        is_unreadable = claim.expected is Verdict.UNREADABLE
        assert bool(claim.unreadable) == is_unreadable
        assert is_unreadable or claim.falsified_by, claim.id
        assert {place.text for place in claim.locations} <= FILES.keys()


def test_every_numbered_line_has_its_entry():
    """Two hold a hypothesis, two nothing, two a copy; two are the definitions of G and of X."""
    without = {18, 22, 23, 38, 47, 49, 52, 60, 62}
    in_facts = {1, 2}
    named = {c.id.removeprefix("S-v1-eq-").split("/")[0] for c in CLAIMS}
    for number in sorted(set(range(1, 65)) - without - in_facts):
        assert str(number) in named, number


@pytest.mark.parametrize("name", KNOWN)
def test_refuted_by_the_known_instance(name):
    assert BY_ID[name].expected is Verdict.REFUTED
    assert exact.examine(BY_ID[name], KNOWN[name]).outcome is Outcome.VIOLATED


def test_the_sharpened_bound_is_attained():
    """x = (1, -1, 0), g = (3, 5, -8), y = (5, -1, -4): both sides are equal."""
    claim = BY_ID["S-v1-thm-3.2/square/sharpened"]
    case = _case([5, -1, -4], [1, -1, 0], [3, 5, -8])
    assert exact.examine(claim, case).outcome is Outcome.HOLDS
    smaller = replace(
        claim, says=claim.says.actual <= claim.says.claimed * 999 / 1000, because=None
    )
    assert exact.examine(smaller, case).outcome is Outcome.VIOLATED


def test_a_lemma_is_no_hypothesis():
    """What a certificate needs is in it, or is a condition that a reader can check."""
    for claim in CLAIMS:
        for hypothesis in claim.hypotheses:
            assert hypothesis.says is not None
            assert "S-v1" not in hypothesis.statement


CONSTANTS = ("S-v1-thm-C6/corrected", "S-v1-eq-64", "S-v1-proof-C6/two-units-bound")


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_hundredth_of_a_constant_is_not_proved(name):
    """These used to assume what they conclude, so that no constant was too small."""
    claim = BY_ID[name]
    assert abstract.prove(claim) is not None
    smaller = replace(claim, says=claim.says.actual <= claim.says.claimed / 100)
    assert abstract.prove(smaller) is None


OF_SIGNS = (
    "S-v1-thm-C6/two-units",
    "S-v1-proof-C6/vanilla-by-d",
    "S-v1-proof-C6/two-units-vanilla",
)


@pytest.mark.parametrize("name", OF_SIGNS)
def test_the_inputs_meet_the_assumption_on_d(name):
    """For H = I it asks for entries of one absolute value, and d is one over their number."""
    case = adapted(_case([3, 1, -1, -3], [1, 2, 0, 5], [1, 0, 0, 0], [2, 0, 7, 1]), BY_ID[name])
    for x in (case.direction, case.other_direction):
        assert {abs(int(str(entry))) for entry in x} == {1}
        assert sum(int(str(entry)) for entry in x) == 0


def test_no_correlation_is_not_a_quotient_of_zeros():
    """In two examples what is uncorrelated with an input is constant: there is no correlation."""
    claim = BY_ID["S-v1-remark-always/zero-correlation-any-mean"]
    assert exact.examine(claim, _case([0, 1], [0, 1], [0, 0], [0, 1])).outcome is Outcome.VACUOUS
    known = _case([1, 0, -1], [1, 0, 0], [0, 0, 0], [0, 0, 0])
    assert exact.examine(claim, known).outcome is Outcome.VIOLATED


ONE = sp.Matrix([1, 1, -1, -1])
TWO = sp.Matrix([1, -1, 1, -1])


def _normalized(z):
    c = z - sp.ones(4, 1) * sum(z) / 4
    return c / sp.sqrt((c.T * c)[0] / 4)


def test_two_networks_of_two_units():
    """Theorem 3.2 for a linear network with squared loss, c = 1: 36 is not below 4/4 times 16."""
    a, b, c, d = weights = sp.symbols("a b c d")
    at = dict(zip(weights, (2, 0, 0, 3), strict=True))
    units = [ONE * a + TWO * b, ONE * c + TWO * d]
    target = ONE * 2 + TWO * 6 - TWO

    def slope(outputs):
        error = outputs[0] + 2 * outputs[1] - target
        return sp.diff((error.T * error)[0] / 2, b).subs(at)

    vanilla, normalized = slope(units), slope([_normalized(z) for z in units])
    assert (vanilla, sp.simplify(normalized)) == (4, -6)
    assert normalized**2 > Fraction(4, 4) * vanilla**2


def test_an_entry_for_two_units_of_a_linear_network():
    """Theorem C.6, j != l: the entry is zero without the layer and -1/9 with it; d = 1/4."""
    a, b, c, d = weights = sp.symbols("a b c d")
    at = dict.fromkeys(weights, 3)
    units = [ONE * a + TWO * b, ONE * c + TWO * d]

    def entry(outputs):
        error = outputs[0] + outputs[1]
        return sp.simplify(sp.diff((error.T * error)[0] / 2, a, d).subs(at))

    assert entry(units) == 0
    assert entry([_normalized(z) for z in units]) == -sp.Rational(1, 9)
    sigma_squared, root_of_dd, epsilon = 18, sp.Rational(1, 4), sp.Rational(1, 8)
    assert sigma_squared >= (1 + sp.Rational(1, 2)) ** 2 / (root_of_dd - epsilon)
