"""Proposition 5 and Lemma A2: sides that one can compute by hand, and wrong constants."""

from dataclasses import replace
from math import inf, sqrt

import numpy as np
import pytest

from theory.expectation_claim import Drawn, ExpectationClaim
from theory.lange2022 import CLAIMS as LANGE
from theory.lange2022 import random_matrices
from theory.lange2022.random_matrices import normalised, spectral_norm
from theory.statement import Sides
from verify.expectations.examine import measure
from verify.expectations.laws import LAWS, Entries
from verify.settings import PROFILES, Settings
from verify.tolerance import Outcome

CLAIMS = {c.id: c for c in LANGE if isinstance(c, ExpectationClaim)}
SMOKE = Settings(PROFILES["smoke"])


def entries(law, N, n):
    return Entries(law, LAWS[law], N, n)


@pytest.mark.parametrize("name", CLAIMS)
def test_a_correction_is_a_claim(name):
    claim = CLAIMS[name]
    assert claim.corrected_by in (None, *CLAIMS)
    assert claim.of in (None, *CLAIMS)


def test_norms_by_hand():
    assert spectral_norm(np.array([[3.0, 4.0]])) == pytest.approx(5)
    assert spectral_norm(np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])) == pytest.approx(2)
    norms = CLAIMS["L-prop-5/expectation-each-law"].sides
    assert norms(Drawn(np.array([[1.0]]))).actual == pytest.approx(sqrt(2))  # [1, 1]
    assert norms(Drawn(np.array([[1.0, -1, 1, -1]]))).actual == pytest.approx(sqrt(5) / 2)  # q = 2
    rng = np.random.default_rng(0)
    for shape in ((3, 5), (5, 3)):
        G = rng.normal(size=shape)
        assert spectral_norm(G) == pytest.approx(np.linalg.norm(G, 2))


def test_normalised_by_hand():
    assert normalised(np.array([[0.0, 5.0], [4.0, 3.0]])).tolist() == [[-1, 1], [1, -1]]
    with pytest.raises(ZeroDivisionError):
        normalised(np.ones((3, 2)))


def test_the_lemma_by_hand():
    G = np.array([[3.0, 4.0], [0.0, 0.0]])
    for k in (1, 2, 10):
        claim = CLAIMS[f"L-lemma-A2/k-{k}"]
        actual, claimed = claim.sides(Drawn(G))
        assert (claim.root, claim.constant(entries("signs", 4, 4))) == (k, 2)
        assert actual == pytest.approx(5.0**k)
        assert claimed == pytest.approx(5.0**k + 4.0**k)
    negative = CLAIMS["L-lemma-A2/negative-k"]
    assert negative.root == 10
    assert negative.sides(Drawn(np.array([[3.0, 4.0]]))).claimed == pytest.approx(
        5.0**-10 + 3.0**-10
    )


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("law", ["signs", "uniform", "sparse, p = 1/max(N, n)"])
def test_no_matrix_exceeds_the_ceilings(name, law):
    claim, here = CLAIMS[name], entries(law, 6, 5)
    if all(h.quantity(here) == 0 for h in claim.hypotheses if "pm 1" in h.statement):
        ceilings = claim.ceilings(here)
        for G in here.matrices(0, 20):
            try:
                sides = claim.sides(Drawn(G))
            except ZeroDivisionError:
                continue
            assert sides.actual <= ceilings.actual * (1 + 1e-12)
            assert sides.claimed <= ceilings.claimed * (1 + 1e-12)


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
    "L-lemma-A2/k-2-smaller-constant": 6 / 5,
    "L-lemma-A2/k-10-smaller-constant": 7 / 5,
    "L-lemma-A2/negative-k": 5 / 6,
}
"""At N = 4, n = 9 and the uniform law, whose fourth moment is 9/5: a larger one is measured to hold
as well."""


def test_the_constants_are_those_of_the_statements():
    here = entries("uniform", 4, 9)
    found = {name: claim.constant(here) for name, claim in CLAIMS.items()}
    assert found == pytest.approx(CONSTANTS)


PLANTED = [
    ("L-prop-5/expectation-normalised", 1.6, "normal", 100, 100),
    ("L-prop-5/expectation-normalised", 1.7, "log-normal, sigma = 15", 100, 100),
    ("L-prop-5/expectation-each-batch-size", 1.2, "signs", 4, 4),
    ("L-prop-5/expectation-fourth-moment", 1.5, "signs", 100, 100),
    ("L-prop-5/expectation-fourth-moment/sharpened", 1.5, "signs", 100, 100),
    ("L-lemma-A2/k-1", 0.8, "signs", 100, 100),
    ("L-lemma-A2/k-2", 1.2, "signs", 100, 100),
    ("L-lemma-A2/k-10", 1.7, "signs", 150, 150),
]


@pytest.mark.parametrize(("name", "constant", "law", "N", "n"), PLANTED)
def test_a_constant_that_is_too_small_is_found(name, constant, law, N, n):
    claim = replace(CLAIMS[name], says=None, constant=lambda entries: constant)
    assert measure(CLAIMS[name], entries(law, N, n)).outcome is Outcome.HOLDS
    assert measure(claim, entries(law, N, n)).outcome is Outcome.VIOLATED


def test_the_scaling_by_q_is_needed():
    def without_q(drawn):
        sides = claim.sides(drawn)
        return sides._replace(actual=sides.actual * sqrt(max(drawn.n / drawn.N, 1)))

    claim = CLAIMS["L-prop-5/expectation-each-law"]
    wide = replace(
        claim, says=None, sides=without_q,
        ceilings=lambda e: Sides(inf, sqrt(e.N)),
    )  # fmt: skip
    assert measure(wide, entries("signs", 15, 150)).outcome is Outcome.VIOLATED


def test_a_power_that_is_left_out_is_found():
    claim = CLAIMS["L-lemma-A2/k-2"]

    def first_power(drawn):
        return claim.sides(drawn)._replace(claimed=CLAIMS["L-lemma-A2/k-1"].sides(drawn).claimed)

    planted = replace(
        claim,
        says=None,
        sides=first_power,
        ceilings=lambda e: Sides(inf, random_matrices.powers(1)(e).claimed),
    )
    assert measure(planted, entries("signs", 25, 25)).outcome is Outcome.VIOLATED


def test_the_ratio_of_heavy_tails_grows_and_that_of_the_normalised_does_not():
    law = "Student t, 2.5 degrees of freedom"
    model = CLAIMS["L-prop-5/expectation-each-law"]
    real = CLAIMS["L-prop-5/expectation-normalised"]
    ratios = [[measure(c, entries(law, n, n)).ratio for n in (25, 100)] for c in (model, real)]
    assert ratios[0][1] > 1.25 * ratios[0][0]
    assert ratios[1][1] < 2


def test_no_constant_of_laws_with_a_fourth_moment_serves_normalised_columns_that_are_one_hot():
    claim = replace(
        CLAIMS["L-prop-5/expectation-normalised"], says=None, constant=lambda entries: 9 / 4
    )
    heavy = measure(claim, entries("log-normal, sigma = 15", 1000, 1000), count=6)
    assert heavy.outcome is not Outcome.HOLDS
    assert heavy.ratio > 9 / 4


def test_the_sparsest_law_has_a_ratio_of_the_order_of_the_root_of_n():
    claim = CLAIMS["L-prop-5/expectation-every-law"]
    for n in (25, 100):
        assert measure(claim, entries("sparse, p = 1/(Nn)", n, n)).high > 0.63 * sqrt(n)
