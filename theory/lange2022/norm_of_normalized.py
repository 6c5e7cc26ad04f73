r"""Before Proposition 5: :math:`\|\hat G\| = \max\{\sqrt N, \|G\|\}`.

The column of ones is orthogonal to G, so the squared norm is the larger of N and that of G; and
it is always the latter, :math:`\|G\|^2 = N\lambda_{\max}(R)`: the correlations R have the trace n
and a rank of at most N - 1, so that this lies between :math:`N\max\{1, n/(N - 1)\}` and Nn.  Both
ends are attained, by uncorrelated features and by copies.

With epsilon in the variances the column of ones stays orthogonal; with running means it does not,
and the squared norm is at most :math:`N + \|G\|^2`.
"""

from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.spectra import squared_singular_values
from theory.lange2022.spectral import (
    augmented,
    centred,
    centred_and_ones,
    column_squares,
    largest_correlation,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def features(layer: Layer) -> Any:
    """G, literally."""
    C = centred(layer.H)
    return C / layer.sqrt(column_squares(C) / layer.H.shape[0])


def squared_norm(F: Any, squares: Any = None) -> Any:
    """The largest eigenvalue of the Gram matrix."""
    return squared_singular_values(F, squares)[-1]


def larger(N: int, square: Any) -> Any:
    """The larger of N and a number."""
    return square if square >= N else N + 0 * square


def norm(layer: Layer, added: Any = 0) -> Sides:
    """The squared norms with the column of ones and without; epsilon may be added."""
    N, F = layer.H.shape[0], centred_and_ones(layer.H)
    squares = column_squares(F)
    deviations = squares / N + added
    first = array_namespace(F).concat([N / squares[:1], 1 / deviations[1:]])
    without = squared_norm(centred(layer.H), first[1:])
    return Sides(squared_norm(F, first), larger(N, without))


def with_epsilon(layer: Layer) -> Sides:
    """The same with epsilon in the variances."""
    return norm(layer, layer.q)


def without_ones(layer: Layer) -> Sides:
    """The features' norm alone."""
    return Sides(norm(layer).actual, layer.H.shape[0] * largest_correlation(layer))


def largest(layer: Layer) -> Sides:
    """The trace."""
    N, n = layer.H.shape
    return Sides(norm(layer).actual, N * n)


def smallest(layer: Layer) -> Sides:
    """The trace over the rank."""
    N, n = layer.H.shape
    return Sides((N - 1) * norm(layer).actual, N * n)


def other_statistics(layer: Layer) -> Sides:
    """Running means and deviations."""
    N, G = layer.H.shape[0], (layer.H - layer.mean) / layer.deviation
    return Sides(squared_norm(augmented(G)), larger(N, squared_norm(G)))


def other_statistics_corrected(layer: Layer) -> Sides:
    """The sum in place of the maximum."""
    N, G = layer.H.shape[0], (layer.H - layer.mean) / layer.deviation
    return Sides(squared_norm(augmented(G)), N + squared_norm(G))


def orthogonal(layer: Layer) -> Sides:
    """The column of ones times G, and zero."""
    G = features(layer)
    return Sides(G.sum(0), 0 * G[0])


def sums(layer: Layer) -> Sides:
    """The mean of the squares of all entries."""
    G = features(layer)
    return Sides((G * G).sum() / G.shape[0] / G.shape[1], 1 + 0 * G[0, 0])


NORM = MatrixClaim(
    id="L-norm-Ghat",
    row="L-norm-Ghat",
    locations=at(219, "Sect. 3.3, before Prop. 5", "is orthogonal to"),
    statement=r"\|\hat G\|^2 \le \max\{N, \|G\|^2\} \le \|\hat G\|^2",
    sides=norm,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    expected=Verdict.SUPPORTED,
    falsified_by="one batch without a zero variance",
    remark="The second inequality holds for any columns left out; the first is examined.",
)

RUNNING = MatrixClaim(
    id="L-norm-Ghat/running",
    row="L-norm-Ghat",
    locations=at(242, "Sect. 3.3, after Algorithm 2", "or some averages of them"),
    statement=r"\|[e, G]\|^2 \le \max\{N, \|G\|^2\},"
    r"\quad G = (H - e\mu^\top)\operatorname{diag}(\sigma)^{-1}",
    sides=other_statistics,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by="L-norm-Ghat/running/corrected",
    falsified_by="one batch and means other than its own",
    remark="The text allows running means and has the norm for the batch's own only.",
)

CLAIMS = [
    NORM,
    NORM.sharpened(
        "epsilon",
        statement=r"\|\hat G\|^2 \le \max\{N, \|G\|^2\},"
        r"\quad \sigma^2 = \sigma_H^2 + \epsilon",
        sides=with_epsilon,
        expected=Verdict.SUPPORTED,
        remark="",
    ),
    NORM.sharpened(
        "features-alone",
        statement=r"\|\hat G\|^2 \le N\lambda_{\max}(R) = \|G\|^2",
        sides=without_ones,
        expected=Verdict.SUPPORTED,
        remark="",
    ),
    NORM.sharpened(
        "at-most",
        statement=r"\|\hat G\|^2 \le N n",
        sides=largest,
        expected=Verdict.SUPPORTED,
        remark="Attained by copies of one feature.",
    ),
    NORM.sharpened(
        "at-least",
        statement=r"(N - 1)\,\|\hat G\|^2 \ge N n",
        sides=smallest,
        relation=Relation.AT_LEAST,
        expected=Verdict.SUPPORTED,
        remark="Attained by N - 1 uncorrelated directions of equal weight.",
    ),
    NORM.sharpened(
        "orthogonal",
        statement=r"e^\top G = 0",
        sides=orthogonal,
        relation=Relation.EQUAL,
        remark="So the entries' sum is zero, as printed.",
    ),
    NORM.sharpened(
        "unit-variance",
        statement=r"\textstyle\frac1{nN}\sum_{i,j} g_{ij}^2 = 1",
        sides=sums,
        relation=Relation.EQUAL,
        remark="",
    ),
    RUNNING,
    RUNNING.corrected(
        statement=r"\|[e, G]\|^2 \le N + \|G\|^2",
        sides=other_statistics_corrected,
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="",
    ),
]
