"""That constants cannot be smaller, and that hypotheses are needed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theory.language.expression import Says
from theory.language.operations import norm2
from theory.santurkar2018 import CLAIMS, lemma_4_5, observation_4_3
from theory.santurkar2018.theorem_4_1 import LARGEST
from theory.statement import letters_of
from theory.unit import m, one, u
from verify.cases.lattice import lattice_case
from verify.matrices import integers
from verify.tolerance import Outcome
from verify.witnesses import abstract, exact, polynomial
from verify.witnesses.integers import small_cases

BY_ID = {claim.id: claim for claim in CLAIMS}


def without_proof(claim, **changes):
    return replace(claim, because=None, certificate=None, **changes)


def outcome(claim, case):
    return exact.examine(claim, case).outcome


@pytest.mark.parametrize(
    "name",
    [
        "S-thm-4.1/largest-entry/corrected",
        "S-thm-4.2a/bending",
        "S-thm-4.2a/eps/bending/attained",
        "S-thm-4.4/how-much",
        "S-lemma-4.5/trainable/each-unit",
    ],
)
def test_a_constant_that_is_off_by_a_thousandth_is_not_proved(name):
    says = BY_ID[name].says
    nearly = Says(says.actual, says.relation, m**0 * 999 / 1000 * says.claimed)
    wrong = replace(BY_ID[name], says=nearly)
    assert abstract.prove(wrong) is None
    assert not polynomial.is_proved(wrong)


def test_the_bound_by_the_largest_entry_cannot_be_one_less():
    """Half of the entries near s and half near -s: the norm is near root (m - 1)/s."""
    claim = BY_ID["S-thm-4.1/largest-entry/corrected"]
    bound = (m - 2) / LARGEST**2 * norm2(u)
    less = without_proof(claim, says=Says(claim.says.actual, claim.says.relation, bound))
    case = next(small_cases()).with_isotropic_loss(np.zeros(4), 0.0)
    y = np.array([102.0, 99, -99, -101])
    c = y - y.mean()
    b = np.array([0.75, -0.25, -0.25, -0.25])
    direction = c / c[0] - b / 0.75
    tight = replace(case, y=y, direction=direction, other_direction=np.eye(4)[0])
    assert outcome(claim, exact.rational_case(tight)) is Outcome.HOLDS
    assert outcome(less, exact.rational_case(tight)) is Outcome.VIOLATED


def test_a_convex_loss_is_needed_for_a_positive_semi_definite_hessian():
    claim = BY_ID["S-thm-4.2-discussion/psd"]
    assert not integers.fails_somewhere(claim, (2, 2, 1), 30)
    assert integers.fails_somewhere(without_proof(claim, hypotheses=()), (2, 2, 1), 30)


@pytest.mark.parametrize(
    "claim",
    [
        *(c for c in observation_4_3.CLAIMS if c.id.endswith("minima/fixed/corrected")),
        *(c for c in lemma_4_5.CLAIMS if c.id.endswith("fixed/corrected")),
    ],
    ids=lambda claim: claim.id,
)
def test_a_minimum_without_a_bias_is_not_kept(claim):
    """X = (1 0; 0 1; 0 0), W* = (1, 2), t = (1, 2, 1): the batch, the residual and a column."""
    pencil = lattice_case(
        y=[1, 2, 0], gamma=1, beta=0, ratio=Fraction(2), linear=[0, 0, 1], triangle=[0] * 6,
        direction=[0, 0, 1], other_direction=[1, 0, 0], bound=1,
    )  # fmt: skip
    _, in_batch, in_input = claim.hypotheses
    without = (replace(in_batch, impose=observation_4_3.stationary), in_input)
    assert outcome(claim, pencil) is not Outcome.VIOLATED
    assert outcome(without_proof(claim, hypotheses=without), pencil) is Outcome.VIOLATED


def test_a_letter_is_written_alike_everywhere_and_is_no_index_beside_itself():
    names = {}
    for claim in CLAIMS:
        here = {letter.name for letter in letters_of(claim)}
        assert not here & {name.partition("_")[2] for name in here}
        for letter in letters_of(claim):
            names.setdefault(letter.latex, set()).add(letter.name)
    assert not {latex: found for latex, found in names.items() if len(found) > 1}


@pytest.mark.parametrize(
    ("name", "y", "g"),
    [
        ("S-eq-16/equality", [1, -1], [1, 3]),
        ("S-thm-C1/kappa/sharpened", [1, -1], [1, 3]),
        ("S-thm-4.4/batch-held/within", [1, -1], [1, 3]),
        ("S-v1-thm-3.2/square", [1, 0, -1], [1, 1, 1]),
        ("S-v1-thm-3.2/square-pearson", [1, 0, -1], [1, 1, 1]),
        ("S-v1-thm-3.2/square-pearson-any-mean", [1, 0, -1], [1, 1, 1]),
        ("S-v1-thm-C4/any-epsilon", [1, 0, -1], [1, 1, 1]),
        ("S-v1-thm-C6/any-epsilon", [1, 0, -1], [1, 1, 1]),
    ],
)
def test_what_divides_by_a_gradient_or_a_cosine_assumes_that_it_is_not_zero(name, y, g):
    m = len(y)
    zero = lattice_case(
        y=y, gamma=1, beta=0, ratio=Fraction(2), linear=g, triangle=[0] * (m * (m + 1) // 2),
        direction=[1, -2, 1][:m], other_direction=[5, -2, 3][:m], bound=1,
    )  # fmt: skip
    false = without_proof(BY_ID[name], says=norm2(one) <= 0)
    assert outcome(false, zero) is Outcome.VACUOUS
