"""That constants cannot be smaller, and that hypotheses are needed."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theory.language.expression import Says
from theory.language.operations import norm2
from theory.santurkar2018 import CLAIMS
from theory.santurkar2018.theorem_4_1 import LARGEST
from theory.statement import letters_of
from theory.unit import m, one, u
from verify.subjects.unit_lattice import lattice_case
from verify.tolerance import Outcome
from verify.witnesses import exact
from verify.witnesses.batches import small_cases
from verify.witnesses.matrices import integers

BY_ID = {claim.id: claim for claim in CLAIMS}


def without_proof(claim, **changes):
    return replace(claim, because=None, **changes)


def outcome(claim, case):
    return exact.examined([claim], case)[0].outcome


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
