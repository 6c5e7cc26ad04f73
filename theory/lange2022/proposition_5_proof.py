r"""The proof of Proposition 5, where it can be decided exactly.

The row norms' expectations are n; that of their maximum is not, "since all have the identical
distribution" says nothing of it (line 658).  With entries :math:`\pm q` of probability
:math:`1/(2q^2)` each, and else 0, :math:`\|g_i\|^2/q^2` is binomial: for q = 2, N = 2 and n = 3 the
maximum has the expectation 2337/512, against 3.  It is at most
:math:`n + \sqrt{N n (\mathbb{E} g^4 - 1)}`, as a maximum of deviations is at most the root of the
sum of their squares, so that a constant which knows the fourth moment saves the proposition; for
signs, q = 1, the step is right.

Line 664 takes :math:`\mathbb{E}\|\hat G\|` for :math:`\max\{\sqrt N, \mathbb{E}\|G\|\}`.  The
column of ones is not orthogonal to independent entries: one feature with N = 1 has the root of 2
for 1.  The sum in place of the maximum is right.
"""

from dataclasses import replace
from math import comb
from typing import Any

from theory.lange2022.spectral import augmented
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def size(layer: Layer) -> tuple[int, int]:
    """N and n."""
    return layer.H.shape[0], layer.H.shape[1]


def small(layer: Layer) -> tuple[int, int]:
    """N and n, but no more than floats have room for the binomial coefficients of."""
    N, n = size(layer)
    return min(N, 40), min(n, 8)


def expected_maximum(layer: Layer) -> Any:
    """The expectation of the largest of N independent squared row norms, by its distribution."""
    N, n = small(layer)
    square = layer.q * layer.q
    nonzero, total, below, at_most = 1 / square, 0 * square, 0 * square, 0 * square
    for k in range(n + 1):
        at_most = at_most + comb(n, k) * nonzero**k * (1 - nonzero) ** (n - k)
        total = total + square * k * (at_most**N - below**N)
        below = at_most
    return total


def maximum(layer: Layer) -> Sides:
    """The maximum against each."""
    return Sides(expected_maximum(layer), small(layer)[1] + 0 * layer.q)


def maximum_bounded(layer: Layer) -> Sides:
    """With the fourth moment, which is the square of q."""
    N, n = small(layer)
    return Sides(expected_maximum(layer), n + layer.sqrt(N * n * (layer.q * layer.q - 1)))


def one_feature_of_signs(layer: Layer) -> Any:
    r"""The expectation of :math:`\|[e, g]\|` over signs g, of which j are negative."""
    N, _ = small(layer)
    one = layer.q / layer.q
    weights = ((comb(N, j), abs(N - 2 * j)) for j in range(N + 1))
    return sum(layer.sqrt((N + s) * one) * weight for weight, s in weights) / 2**N


def largest_expectation(layer: Layer) -> Sides:
    """The maximum of both norms, which are the same."""
    N, _ = small(layer)
    return Sides(one_feature_of_signs(layer), layer.sqrt(N * layer.q / layer.q))


def sum_of_expectations(layer: Layer) -> Sides:
    """The sum of both norms."""
    N, _ = small(layer)
    return Sides(one_feature_of_signs(layer), 2 * layer.sqrt(N * layer.q / layer.q))


def by_squares(layer: Layer) -> Sides:
    r"""For any matrix G: :math:`[e, G]` at a vector."""
    z, N = layer.direction, layer.H.shape[0]
    image = z[0] + layer.H @ z[1:]
    return Sides(image @ image, (N + (layer.H * layer.H).sum()) * (z @ z))


def by_squares_slack(layer: Layer) -> list[Term]:
    """Lagrange's identity, row by row."""
    F, z = augmented(layer.H), layer.direction
    return [Term(1, (F[:, i] * z[j] - F[:, j] * z[i],)) for i in range(len(z)) for j in range(i)]


SIGNS = Hypothesis(
    r"\text{the entries are signs}",
    lambda layer: layer.q - 1,
    Relation.EQUAL,
    impose=lambda layer: replace(layer, q=1),
)
BIASED = Hypothesis(r"q \ge 1", lambda layer: layer.q - 1)

MAXIMUM = MatrixClaim(
    id="L-prop-5/658",
    row="L-prop-5",
    locations=at(658, "App. A, proof of Prop. 5", "have the identical distribution"),
    statement=r"\mathbb{E}\max_i\|g_i\|^2 = n,"
    r"\quad g_{ij} = \pm q \text{ with probability } \tfrac1{2q^2} \text{ each, else } 0",
    sides=maximum,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    hypotheses=(BIASED,),
    expected=Verdict.REFUTED,
    corrected_by="L-prop-5/658/corrected",
    falsified_by="one law of mean zero and variance one, and one size",
    remark="The line where the proof breaks.",
)

ORTHOGONALITY = MatrixClaim(
    id="L-prop-5/664",
    row="L-prop-5",
    locations=at(664, "App. A, proof of Prop. 5", r"E\left[\|\widehat{G}\|\right]"),
    statement=r"\mathbb{E}\|\hat G\| \le \max\{\sqrt N, \mathbb{E}\|G\|\},"
    r"\quad n = 1,\ g_i = \pm 1",
    sides=largest_expectation,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by="L-prop-5/664/corrected",
    falsified_by="one law and size; here one feature of signs, whose norm is the root of N",
    remark="It holds for the normalized matrix, whose columns are orthogonal to e, and that one "
    "has no independent entries: L-prop-5/independent-entries.",
)

CLAIMS = [
    MAXIMUM,
    MAXIMUM.corrected(
        statement=r"\mathbb{E}\max_i\|g_i\|^2 \le n + \sqrt{N n\,(\mathbb{E} g^4 - 1)}",
        sides=maximum_bounded,
        relation=Relation.AT_MOST,
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="Of this family of laws, whose fourth moment is the square of q; the proof in the "
        "docstring is for every law.",
    ),
    MAXIMUM.sharpened(
        "signs",
        statement=r"\mathbb{E}\max_i\|g_i\|^2 = n,\quad g_{ij} = \pm 1",
        hypotheses=(SIGNS,),
        corrected_by=None,
        remark="",
    ),
    ORTHOGONALITY,
    ORTHOGONALITY.corrected(
        statement=r"\mathbb{E}\|\hat G\| \le \sqrt N + \mathbb{E}\|G\|,"
        r"\quad n = 1,\ g_i = \pm 1",
        sides=sum_of_expectations,
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="For every law by the triangle inequality.",
    ),
    MAXIMUM.sharpened(
        "any-law",
        id="L-prop-5/any-law",
        locations=at(223, "Sect. 3.3, Prop. 5", "for some constant"),
        statement=r"\|[e, G]z\|^2 \le (N + \|G\|_F^2)\,\|z\|^2",
        sides=by_squares,
        relation=Relation.AT_MOST,
        hypotheses=(),
        certificate=by_squares_slack,
        corrected_by=None,
        falsified_by="one matrix and vector",
        remark="So the expectation is at most the root of N(n + 1), and C = sqrt(N + 1) does for "
        "every law, independent or not: if C may depend on N the proposition says little.",
    ),
]
