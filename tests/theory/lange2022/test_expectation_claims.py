"""Proposition 5 and Lemma A2: sides that one can compute by hand, and wrong constants."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from by_functions import with_constant

from theory import layer
from theory.expectation_claim import Drawn, ExpectationClaim, mean
from theory.lange2022 import CLAIMS as LANGE
from theory.language.arrays import maximum
from theory.random_matrix import G, N, n, normalised, spectral_norm
from verify.subjects.laws import LAWS, Entries
from verify.tolerance import Outcome
from verify.witnesses.expectations import exact
from verify.witnesses.expectations.examine import measure

CLAIMS = {c.id: c for c in LANGE if isinstance(c, ExpectationClaim)}


def entries(law, N, n):
    return Entries(law, LAWS[law], N, n)


def test_norms_by_hand():
    rng = np.random.default_rng(0)
    for shape in ((1, 2), (3, 5), (5, 3)):
        G = rng.normal(size=shape)
        assert spectral_norm(G) == pytest.approx(np.linalg.norm(G, 2))
    norms = CLAIMS["L-prop-5/expectation-each-law"].sides
    assert norms(Drawn(np.array([[1.0]]))).actual == pytest.approx(sqrt(2))  # [1, 1]
    assert norms(Drawn(np.array([[1.0, -1, 1, -1]]))).actual == pytest.approx(sqrt(5) / 2)  # q = 2
    assert normalised(np.array([[0.0, 5.0], [4.0, 3.0]])).tolist() == [[-1, 1], [1, -1]]
    with pytest.raises(ZeroDivisionError):
        normalised(np.ones((3, 2)))


def test_the_lemma_by_hand():
    """At one row (3, 4): the longest column is 4, and 3 to the largest of its negative powers."""
    for name, k, column in (
        ("k-1", 1, 4),
        ("k-2", 2, 4),
        ("k-4-smaller-constant", 4, 4),
        ("k-10", 10, 4),
        ("negative-k", -10, 3),
    ):
        claim = CLAIMS[f"L-lemma-A2/{name}"]
        assert claim.root == abs(k)
        sides = claim.sides(Drawn(np.array([[3.0, 4.0]])))
        assert sides == pytest.approx((5.0**k, 5.0**k + float(column) ** k))


OF_OTHER_OPERATIONS = replace(
    CLAIMS["L-lemma-A2/k-1"], id="of a layer's operations",
    says=mean(maximum(layer.frobenius2(G), N) * layer.frobenius2(G)) / (1 + mean(N * n)) <= 2,
)  # fmt: skip
"""Those take one matrix at a time."""


@pytest.mark.parametrize("claim", [*CLAIMS.values(), OF_OTHER_OPERATIONS], ids=lambda c: c.id)
@pytest.mark.parametrize("shape", [(4, 4, 4), (5, 2, 3), (1, 6, 2)])
def test_many_matrices_have_the_sides_of_each(claim, shape):
    drawn = Drawn(np.random.default_rng(1).normal(size=shape))
    each = np.array([claim.sides(Drawn(G)) for G in drawn.G], dtype=float)
    np.testing.assert_allclose(np.transpose(claim.sides_of_each(drawn)), each, rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "constant", "law", "size"),
    [
        ("L-prop-5/expectation-normalised", 1.7, "log-normal, sigma = 15", 100),
        ("L-prop-5/expectation-each-batch-size", 1.2, "signs", 4),
        ("L-lemma-A2/k-2", 1.2, "signs", 60),
    ],
)
def test_a_constant_that_is_too_small_is_found(name, constant, law, size):
    claim = with_constant(CLAIMS[name], constant)
    (found,) = measure([claim], entries(law, size, size))
    assert found.outcome is Outcome.VIOLATED


@pytest.mark.parametrize(
    ("name", "excluded"),
    [
        ("L-lemma-A2/k-10", "Student t, 5 degrees of freedom"),
        ("L-prop-5/expectation-each-law", "sparse, p = 1/max(N, n)"),
    ],
    ids=["without a moment", "another at each size"],
)
def test_of_a_law_that_a_hypothesis_excludes_nothing_is_said(name, excluded):
    found = [measure([CLAIMS[name]], entries(law, 200, 200)) for law in (excluded, "normal")]
    assert found[0][0].outcome is Outcome.VACUOUS is not found[1][0].outcome


FALSIFIED = [claim for claim in CLAIMS.values() if claim.fails_at]


@pytest.mark.parametrize("claim", FALSIFIED, ids=lambda claim: claim.id)
def test_a_larger_constant_does_not_fall(claim):
    """Where the bounds are of the means, they decide for no constant above their ratio."""
    found = exact.counterexample(claim, seed=0)
    assert found.because
    larger = replace(claim, says=claim.says.actual <= 2 * claim.says.claimed)
    with pytest.raises(ValueError, match="not above"):
        exact.counterexample(larger, seed=0)


K_FOUR = CLAIMS["L-lemma-A2/k-4-smaller-constant"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"actual": 9 * K_FOUR.fails_at.actual}, "draws of X are below"),
        ({"claimed": K_FOUR.fails_at.claimed / 2}, "draws of Y are above"),
        ({"N": 2, "n": 2}, "that the hypotheses exclude"),
        ({"law": "sign"}, "the laws are 'signs', 'uniform'"),
        ({"actual": K_FOUR.fails_at.actual / 2}, "not above"),
    ],
)
def test_bounds_that_are_none_are_an_error(changed, said):
    wrong = replace(K_FOUR, fails_at=replace(K_FOUR.fails_at, **changed))
    with pytest.raises(ValueError, match=said):
        exact.counterexample(wrong, seed=0)
