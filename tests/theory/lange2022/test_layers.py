"""What the letters of layers mean: values by hand, hypotheses that are needed, what is counted."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theory import batchnorm
from theory.lange2022 import CLAIMS as LANGE
from theory.lange2022 import proposition_6
from theory.language.letters import FREE
from theory.layer import along_first, along_last, null_part
from theory.matrix_claim import MatrixClaim
from theory.statement import Verdict
from verify.subjects.matrices import Layer
from verify.tolerance import Outcome
from verify.witnesses.integers import first_looked_at
from verify.witnesses.matrices import exact, symbolic
from verify.witnesses.matrices.integers import GROUNDS

CLAIMS = {claim.id: claim for claim in LANGE if isinstance(claim, MatrixClaim)}
HOLDS, VIOLATED, VACUOUS = Outcome.HOLDS, Outcome.VIOLATED, Outcome.VACUOUS


def numbers(values):
    """An array of fractions, from nested lists of what Fraction takes."""
    return np.vectorize(Fraction, otypes=[object])(np.array(values, dtype=object))


def layer(H, W=None, **changes):
    """A layer with given inputs, whose loss is 1, 2, 3, ... times its outputs."""
    H = numbers(H)
    (N, n), W = H.shape, numbers([[1] * H.shape[1]] if W is None else W)
    p, one = len(W), numbers([1] * n)
    plain = Layer(
        H=H, W=W, b=numbers([0] * p), gamma=one, beta=0 * one, mean=0 * one, deviation=one,
        curvature=numbers([1] * N), direction=numbers([1] * (n + 1)),
        scaling=numbers([1] * (n + 1)), step=Fraction(1), q=Fraction(1), couples=0,
        linear=numbers([[j + 1] * p for j in range(N)]),
        quadratic=numbers([[[0] * p] * p] * N), fourth=numbers([[0] * p] * N),
        ridge=numbers([[0] * p] * N), centre=numbers([[0] * p] * N), free=numbers([0] * FREE),
    )  # fmt: skip
    return replace(plain, **{k: v if np.ndim(v) == 0 else numbers(v) for k, v in changes.items()})


BY_HAND = {
    # H = (0, 4): mean 2, deviation 2
    "L-alg-1/renormalization": (layer([[0], [4]], mean=[1], deviation=[2]), (-0.5, 1.5)),
    "L-thm-3/eq-14": (layer([[0], [4]]), (1, -1, 1, 1)),
    "L-before-thm-4/product-with-U": (layer([[0], [4]]), (1, -2, 1, 2)),
    "L-before-thm-4/column-norms/corrected": (layer([[0], [4]]), (4,)),
    # v = (3 - 2 * 1)/2^2 = 1/4, and the bias 1 - 2/4
    "L-eq-15": (layer([[0]], [[3]], b=[1], mean=[2], deviation=[2]), (0.5, 0.25)),
    "L-prop-7/any-statistics": (
        layer([[0], [4]], [[3]], b=[1], mean=[2], deviation=[2]), (-2, 4),
    ),
    "L-prop-7/through-statistics/corrected": (layer([[0], [2]], linear=[[1], [3]]), (0,)),
    # 2 w^2/2 with w = 3 and h = (0, 4): second derivatives 0 and 2, halved
    "L-prop-2": (layer([[0], [4]], [[3]], direction=[0, 1], quadratic=[[[0]], [[2]]]), (4, 16)),
    "L-overparam": (layer([[1], [4]], [[3]], b=[1], gamma=[2], beta=[5]), (22, 40)),
    # 4*3*2 + 6*3*5 + 2*5 + 8*3
    "L-prop-6": (layer([[0] * 3] * 2, [[0] * 3] * 5), (148,)),
    "L-prop-6/one-less/corrected": (layer([[0] * 3] * 2, [[0] * 3] * 5), (143,)),
    "L-prop-6/from-zero/corrected": (layer([[0] * 3] * 2, [[0] * 3] * 5), (154,)),
    "L-prop-6/BN-backward": (layer([[0]] * 3), (69,)),
    "L-prop-6/BN-backward-as-arrays/corrected": (layer([[0]] * 3), (62,)),
    "L-prop-6/BN-backward/closed-form": (layer([[0]] * 3), (22,)),
}  # fmt: skip
"""Equations that hold; both sides of all others are pinned, in ``tests/statements``."""


@pytest.mark.parametrize("name", BY_HAND)
def test_values_by_hand(name):
    subject, expected = BY_HAND[name]
    for side in CLAIMS[name].sides(exact.converted(CLAIMS[name], subject)):
        assert np.asarray(side, dtype=float).ravel() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "subject", "outcome"),
    [
        # two features of one square: the mean is orthogonal to one principal axis of several
        ("L-thm-4b", layer([[3, 2], [3, -2], [-1, 2], [-1, -2]]), HOLDS),
        ("L-thm-4c", layer([[0, 0], [1, 0], [2, 1]]), HOLDS),
        ("L-thm-4-remarks/property-A", layer([[1, 1], [1, -1], [-1, 0]]), HOLDS),
        ("L-prop-11/indefinite", layer([[1], [0], ["1/10"]], curvature=[1, 1, -1]), VIOLATED),
    ],
)
def test_equal_eigenvalues_and_roots_that_do_not_mix_are_decided(name, subject, outcome):
    assert exact.examined([CLAIMS[name]], subject)[0].outcome is outcome


@pytest.mark.parametrize(("first", "outcome"), [(-1, VIOLATED), (0, VIOLATED), (2, VACUOUS)])
def test_an_example_that_does_not_count_is_one_without_curvature(first, outcome):
    """The hypothesis S = diag(0, 1, ..., 1) is of every entry, the first one's included."""
    claim = CLAIMS["L-prop-11/semidefinite"]
    as_it_is = replace(claim, hypotheses=tuple(replace(h, impose=None) for h in claim.hypotheses))
    subject = layer([[-3], [1], [2]], curvature=[first, 1, 1])
    assert exact.examined([as_it_is], subject)[0].outcome is outcome


@pytest.mark.parametrize(
    ("mean", "outcomes"),
    [
        ("3/2", (HOLDS, HOLDS, VIOLATED, VIOLATED)),
        ("151/100", (VACUOUS, VIOLATED, HOLDS, HOLDS)),
    ],
)
def test_when_centring_changes_nothing_is_decided_exactly(mean, outcomes):
    """Orthogonal centred columns of squares 16, 4 and 1, N = 4, and a mean of the second.

    Both of the theorem's last two conditions say that the mean is at most 3/2.
    """
    columns = [[2, 1, "1/2"], [2, -1, "-1/2"], [-2, 1, "-1/2"], [-2, -1, "1/2"]]
    subject = layer([[a, Fraction(b) + Fraction(mean), c] for a, b, c in columns])
    equality, *strict = (CLAIMS[f"L-thm-4b/{name}"] for name in ("equality", "above", "below"))
    unimposed = tuple(replace(h, impose=None) for h in equality.hypotheses)
    always = [replace(claim, hypotheses=()) for claim in (equality, *strict)]
    claims = [replace(equality, hypotheses=unimposed), *always]
    assert tuple(found.outcome for found in exact.examined(claims, subject)) == outcomes


def test_hints_lead_to_a_counterexample_of_what_falls():
    hinted = [c for c in CLAIMS.values() if c.attack and c.expected is Verdict.REFUTED]
    assert hinted
    assert not [c.id for c in hinted if first_looked_at(GROUNDS[c.subject], c) is None]


def test_two_groups_of_two_are_seen():
    """Four outputs are the fewest that fall into several groups of several."""
    assert not symbolic.shortcoming(CLAIMS["L-LN-GN/every-group"], (4, 1, 1))
    assert symbolic.shortcoming(replace(CLAIMS["L-LN-GN"], hypotheses=()), (4, 1, 1))


def test_the_null_part_of_a_mean():
    H = numbers([["5/4", "3/4"], ["-5/4", "3/4"]])
    C, mean = H - H.sum(0) / 2, H.sum(0) / 2
    assert list(null_part.meaning(C, mean)) == [0, Fraction(3, 4)]
    assert null_part.meaning(C.astype(float), mean.astype(float)) == pytest.approx([0, 0.75])


@pytest.mark.parametrize(("operation", "expected"), [(along_first, 8), (along_last, 1)])
def test_the_square_along_a_unit_eigenvector(operation, expected):
    """Of eigenvalues 3, 1 and 1: along (1, 1, 0) and in what is orthogonal to it."""
    C, v = numbers([[2, 1, 0], [1, 2, 0], [0, 0, 1]]), numbers([2, 2, 1])
    assert operation.meaning(C, v) == expected
    assert operation.meaning(C.astype(float), v.astype(float)) == pytest.approx(expected)
    assert operation.meaning(5 * C, v) == expected


def test_backward_passes_are_the_gradient():
    x, g = np.random.default_rng(0).normal(size=(2, 5, 3))
    yhat, sigma = batchnorm.standardize(x)
    gamma, inverse = g[0] - 2, 1 / sigma[0]
    for formulas in (proposition_6.literal, proposition_6.termwise, proposition_6.fused):
        in_x, in_gamma, in_beta = formulas(g, x, yhat, x.mean(0), inverse, inverse**3, gamma)
        expected = batchnorm.gradient(x, g, gamma)
        np.testing.assert_allclose(in_x, expected, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(in_gamma, (g * yhat).sum(0))
        np.testing.assert_allclose(in_beta, g.sum(0))
