"""Proposition 5 and Lemma A2: sides that one can compute by hand, and wrong constants."""

from dataclasses import replace
from itertools import product
from math import comb, perm, sqrt

import numpy as np
import pytest

from theory import layer
from theory.expectation_claim import Drawn, ExpectationClaim, mean
from theory.lange2022 import CLAIMS as LANGE
from theory.language.arrays import maximum
from theory.random_matrix import G, N, n, normalised, spectral_norm
from theory.statement import Verdict
from verify.expectations import exact
from verify.expectations.examine import measure
from verify.expectations.laws import LAWS, Entries
from verify.tolerance import Outcome

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


CONSTANTS = {
    "L-prop-5/expectation-without-constant": 1,
    "L-prop-5/expectation-normalised": 2,
    "L-prop-5/expectation-every-law": 3,
    "L-prop-5/expectation-each-law": 9 / 4,
    "L-prop-5/expectation-each-batch-size": sqrt(5),
    "L-prop-5/expectation-fourth-moment": 1 + 2 * sqrt(2 * (1 + sqrt(4 / 5))),
    "L-prop-5/expectation-fourth-moment/sharpened": 2 + (9 / 5) ** (1 / 4),
    "L-lemma-A2/k-1": 2,
    "L-lemma-A2/k-2": 2,
    "L-lemma-A2/k-10": 2,
    "L-lemma-A2/k-4-smaller-constant": 6 / 5,
    "L-lemma-A2/k-10-smaller-constant": 7 / 5,
    "L-lemma-A2/negative-k": 5 / 6,
}
"""At N = 4, n = 9 and the uniform law, whose fourth moment is 9/5: a larger one is measured to hold
as well."""


def test_the_constants_are_those_of_the_statements():
    here = entries("uniform", 4, 9)
    found = {name: claim.constant(here) for name, claim in CLAIMS.items()}
    assert found == pytest.approx(CONSTANTS)


@pytest.mark.parametrize(
    ("name", "constant", "law", "size"),
    [
        ("L-prop-5/expectation-normalised", 1.7, "log-normal, sigma = 15", 100),
        ("L-prop-5/expectation-each-batch-size", 1.2, "signs", 4),
        ("L-lemma-A2/k-2", 1.2, "signs", 60),
    ],
)
def test_a_constant_that_is_too_small_is_found(name, constant, law, size):
    claim = replace(CLAIMS[name], says=None, constant=lambda entries: constant)
    (found,) = measure([claim], entries(law, size, size))
    assert found.outcome is Outcome.VIOLATED


def test_no_constant_of_laws_with_a_fourth_moment_serves_normalised_columns_that_are_one_hot():
    claim = replace(CLAIMS["L-prop-5/expectation-normalised"], says=None, constant=lambda e: 9 / 4)
    (heavy,) = measure([claim], entries("log-normal, sigma = 15", 400, 400), count=6)
    assert heavy.outcome is not Outcome.HOLDS
    assert heavy.ratio > 9 / 4


def signs(n):
    """All n by n matrices of signs."""
    entries = np.array([*product([-1.0, 1.0], repeat=n * n)])
    return entries.reshape(-1, n, n)


@pytest.mark.parametrize("p", [3, 6])
def test_closed_walks_around_trees_are_no_more_than_the_mean_of_a_trace(p):
    """As Lemma A2's refutations count them; at n = 3 every matrix of signs is listed."""
    gram = signs(3) @ signs(3).mT
    mean = np.trace(np.linalg.matrix_power(gram, p), axis1=1, axis2=2).mean()
    narayana = [comb(p, r) * comb(p, r - 1) // p for r in range(1, p + 1)]
    walks = sum(c * perm(3, r) * perm(3, p + 1 - r) for r, c in enumerate(narayana, 1))
    assert walks <= mean
    assert p > 3 or walks == 3**2 * (3 - 1) * (5 * 3 - 7) < mean


def test_the_doubling_law_by_hand():
    """Its variance is 1, and it reaches 128 with the probability that one of 625 by 625 has."""
    probabilities = [4 / 5 ** (k + 1) for k in range(200)]
    assert sum(probabilities) == pytest.approx(1)
    assert sum(p * 4.0 ** (k - 1) for k, p in enumerate(probabilities)) == pytest.approx(1)
    assert sum(probabilities[8:]) == pytest.approx(1 / 625**2)
    drawn = np.abs(entries("doubling, 2^(k-1) with probability 4/5^(k+1)", 300, 300).matrices(0, 4))
    shares = [np.mean(drawn == 2.0 ** (k - 1)) for k in range(4)]
    assert shares == pytest.approx(probabilities[:4], rel=0.05)


FALSIFIED = [claim for claim in CLAIMS.values() if claim.fails_at]


def test_whatever_is_refuted_names_where_it_fails():
    assert {claim.id for claim in FALSIFIED} == {
        claim.id for claim in CLAIMS.values() if claim.expected is Verdict.REFUTED
    }


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


def test_what_corrects_a_statement_does_not_fail_where_that_does():
    assert CLAIMS["L-prop-5/expectation-normalised"].fails_at is None
