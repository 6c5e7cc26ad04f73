r"""Theorem 4, when the centring's inequality is strict.

The largest eigenvalue drops.  Where it is N, the quotient of :math:`(1, \mu_H)` exceeds N by
:math:`(N\|\mu_H\|^2 + \|H\mu_H\|^2)/(1 + \|\mu_H\|^2)`; where it is C's, that of :math:`(0, x)`
exceeds x's by :math:`N(\mu_H^\top x)^2/\|x\|^2`, and one principal component that is not orthogonal
to the mean suffices.  (Both slacks are proved in :mod:`theory.lange2022.equations_28_31`.)  In the
same way the smallest eigenvalue rises if the mean is not orthogonal to the *last* component, or if
it is N: the text's condition is one of four, and :math:`\mu_H \ne 0` follows from it.

The converse, which the text does not claim, falls.  For up to two features the inequality is strict
if and only if :math:`\mu_H \ne 0`; for three it need not be: with centred columns (2, 2, -2, -2),
(1, -1, 1, -1), (1, -1, -1, 1)/2 and the mean (0, 1, 0) both condition numbers are 4.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from theory.arithmetic.spectra import eigenvalues
from theory.lange2022.spectral import (
    FULL_COLUMN_RANK,
    MEAN_NONZERO,
    after_centring,
    along_eigenvector,
    before,
    centred,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def sides(layer: Layer) -> Sides:
    """Squares of the condition numbers."""
    return Sides(after_centring(layer), before(layer))


def covariance(layer: Layer) -> Any:
    r"""C, which is N - 1 times the sample covariance."""
    columns = centred(layer.H)
    return columns.T @ columns


def along(layer: Layer, end: int) -> Any:
    """Whether the mean is orthogonal to an extreme eigenvector of C."""
    return along_eigenvector(covariance(layer), layer.H.sum(0), end)


def with_mean_along_last(layer: Any) -> Any:
    """Make the first two features orthogonal, the first the only one that has a mean."""
    N, H = layer.H.shape[0], layer.H
    first, *others = (N * H - H.sum(0)).T
    if not others:
        return layer
    second = others[0] * (first @ first) - first * (first @ others[0])
    moved = first + abs(layer.mean[0]) + 1
    return replace(layer, H=np.stack([moved, second, *(0 * np.array(others[1:]))], axis=1))


NOT_ORTHOGONAL = Hypothesis(
    r"\mu_H^\top x_{\max} \ne 0", lambda layer: along(layer, -1), Relation.MORE_THAN
)
NOT_ORTHOGONAL_TO_LAST = Hypothesis(
    r"\mu_H^\top x_{\min} \ne 0", lambda layer: along(layer, 0), Relation.MORE_THAN
)
N_LARGEST = Hypothesis(
    r"N \ge \lambda_{\max}(C)",
    lambda layer: layer.H.shape[0] - eigenvalues(covariance(layer))[-1],
)
N_SMALLEST = Hypothesis(
    r"N \le \lambda_{\min}(C)",
    lambda layer: eigenvalues(covariance(layer))[0] - layer.H.shape[0],
)
UP_TO_TWO = Hypothesis(r"n \le 2", lambda layer: 2 - layer.H.shape[1])


def off_last(layer: Layer) -> Any:
    r"""What of :math:`C\mu_H` is not along the mean, two features."""
    mean = layer.H.sum(0)
    image = covariance(layer) @ mean
    return image[0] * mean[-1] - image[-1] * mean[0]


def below_the_other(layer: Layer) -> Any:
    """The trace of C less twice the mean's quotient, multiplied by the mean's square."""
    mean, C = layer.H.sum(0), covariance(layer)
    trace = (centred(layer.H) * centred(layer.H)).sum()
    return trace * (mean @ mean) - 2 * (mean @ (C @ mean))


ALONG_LAST = (
    replace(UP_TO_TWO, printed=False),
    Hypothesis(r"C\mu_H \parallel \mu_H", off_last, Relation.EQUAL, impose=with_mean_along_last),
    Hypothesis(
        r"\mu_H^\top C\mu_H < \tfrac12\operatorname{tr}(C)\,\|\mu_H\|^2,"
        r"\text{ so that } \mu_H \perp x_{\max}",
        below_the_other,
        Relation.MORE_THAN,
    ),
)

PRINTED = MatrixClaim(
    id="L-thm-4b",
    row="L-thm-4b",
    locations=at(203, "Sect. 3.3, Theorem 4", "This inequality is strict if"),
    statement=r"\kappa(\hat H U)^2 < \kappa(\hat H)^2",
    sides=sides,
    subject=Kind.LAYER,
    relation=Relation.LESS_THAN,
    hypotheses=(FULL_COLUMN_RANK, MEAN_NONZERO, NOT_ORTHOGONAL),
    expected=Verdict.SUPPORTED,
    falsified_by="one batch with such a mean whose condition number does not fall",
)

CONVERSE = MatrixClaim(
    id="L-thm-4b/only-if",
    row="L-thm-4b",
    locations=PRINTED.locations,
    statement=r"\kappa(\hat H U)^2 \ge \kappa(\hat H)^2 \quad\text{if } \mu_H \perp x_{\max}",
    sides=sides,
    subject=Kind.LAYER,
    relation=Relation.AT_LEAST,
    hypotheses=(FULL_COLUMN_RANK, *ALONG_LAST),
    expected=Verdict.REFUTED,
    corrected_by="L-thm-4b/two-features",
    falsified_by="one batch with a mean orthogonal to the principal component that improves",
    remark="The text says 'if', not 'only if': this is the reading as an equivalence.",
)


def sharper(name: str, conditions: str, *hypotheses: Hypothesis) -> MatrixClaim:
    """Return the theorem under another condition."""
    return PRINTED.sharpened(
        name,
        id=f"L-thm-4b/{name}",
        statement=PRINTED.statement + r"\quad\text{if } " + conditions,
        hypotheses=(FULL_COLUMN_RANK, MEAN_NONZERO, *hypotheses),
        expected=Verdict.SUPPORTED,
    )


CLAIMS = [
    PRINTED,
    CONVERSE,
    sharper("two-features", r"\mu_H \ne 0,\ n \le 2", UP_TO_TWO),
    sharper("last-component", r"\mu_H^\top x_{\min} \ne 0", NOT_ORTHOGONAL_TO_LAST),
    sharper("N-largest", r"\mu_H \ne 0,\ N \ge \lambda_{\max}(C)", N_LARGEST),
    sharper("N-smallest", r"\mu_H \ne 0,\ N \le \lambda_{\min}(C)", N_SMALLEST),
]
