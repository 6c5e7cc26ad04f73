r"""Theorem 4, the scaling: :math:`\kappa(\hat G) \le \sqrt{n + 1}\,\min_{D_0}\kappa(\hat H U D_0)`.

It holds for every nonsingular diagonal :math:`D_0`, at any rank as long as no variance is zero: if
:math:`a \le D_0 B D_0 \le b` on its range, :math:`B = U^\top\hat H^\top\hat H U`, then every
:math:`d_i^2 B_{ii} \le b`, and dividing the diagonal out costs the smallest eigenvalue no more than
the factor b.  The steps are proved in :mod:`theory.lange2022.lemma_a1_steps`.

The factor is what the largest eigenvalue of the scaled matrix can be.  That matrix is
:math:`\hat G^\top\hat G/N = \operatorname{diag}(1, R)` with the features' correlations R, whose
trace is n; so the factor is :math:`\lambda_{\max}(R) \le n`: the bias column is free.  At full rank
:math:`\lambda_{\min}(R) \le 1 \le \lambda_{\max}(R)`, so that :math:`\kappa(\hat G) = \kappa(G)`.
With n copies of one feature, and the paper's :math:`\kappa`, the factor root n is attained.

"D_0 is diagonal" must exclude zeros: the paper's :math:`\kappa` is one for diag(1, 0, ..., 0), so
that the minimum would be one.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from theory.arithmetic.spectra import squared_condition_number
from theory.lange2022.spectral import (
    FULL_COLUMN_RANK,
    NONSINGULAR,
    after_scaling,
    centred,
    centred_and_ones,
    column_squares,
    largest_correlation,
    normalized,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def scaled(layer: Layer) -> Sides:
    """One diagonal matrix."""
    return Sides(normalized(layer), (layer.H.shape[1] + 1) * after_scaling(layer))


def without_bias(layer: Layer) -> Sides:
    """The factor n."""
    return Sides(normalized(layer), layer.H.shape[1] * after_scaling(layer))


def by_correlation(layer: Layer) -> Sides:
    """The largest eigenvalue of the correlations."""
    return Sides(normalized(layer), largest_correlation(layer) * after_scaling(layer))


def features_alone(layer: Layer) -> Sides:
    """With the column of ones and without."""
    C = centred(layer.H)
    return Sides(normalized(layer), squared_condition_number(C, 1 / column_squares(C)))


def copies(layer: Layer) -> Sides:
    """The scaling by which copies of one feature become one column."""
    F = centred_and_ones(layer.H)
    n = layer.H.shape[1]
    shares = 1 / column_squares(F)
    best = squared_condition_number(F, array_namespace(F).concat([shares[:1], shares[1:] / n]))
    return Sides(normalized(layer), n * best)


def bias_alone(layer: Any) -> Any:
    """Let D_0 be diag(d, 0, ..., 0)."""
    return replace(layer, scaling=layer.scaling * (np.arange(len(layer.scaling)) == 0))


def one_feature(layer: Any) -> Any:
    """Make every feature a copy of the first."""
    return replace(layer, H=layer.H[:, [0] * layer.H.shape[1]])


SINGULAR = Hypothesis(
    r"D_0 = \operatorname{diag}(d, 0, \dots, 0)",
    lambda layer: layer.scaling[1:],
    Relation.EQUAL,
    impose=bias_alone,
)
COPIES = Hypothesis(
    r"\text{all features are copies of one}",
    lambda layer: layer.H[:, 1:] - layer.H[:, :1],
    Relation.EQUAL,
    impose=one_feature,
)
PRINTED = MatrixClaim(
    id="L-thm-4c",
    row="L-thm-4c",
    locations=(
        *at(205, "Sect. 3.3, Theorem 4, second display", r"D_{0}\mbox{ is diagonal}"),
        *at(570, "App. A, Theorem 4", r"D_{0}\mbox{ is diagonal}"),
    ),
    statement=r"\kappa(\hat G)^2 \le (n + 1)\,\kappa(\hat H U D_0)^2",
    sides=scaled,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, NONSINGULAR),
    expected=Verdict.SUPPORTED,
    falsified_by="one batch and diagonal matrix that makes a better condition number by more",
    remark="The minimum of the text is over every D_0; here each one bounds.",
)

ZEROS = MatrixClaim(
    id="L-thm-4c/zeros",
    row="L-thm-4c",
    locations=PRINTED.locations,
    statement=PRINTED.statement + r",\quad D_0 \text{ with zeros on the diagonal}",
    sides=scaled,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, SINGULAR),
    expected=Verdict.REFUTED,
    corrected_by="L-thm-4c",
    falsified_by="one batch of full rank with a condition number above the root of n + 1",
    remark="'D_0 is diagonal', as it stands: kappa over the nonzero singular values is one.",
)

CLAIMS = [
    PRINTED,
    ZEROS,
    PRINTED.sharpened(
        "sqrt-n",
        id="L-thm-4c/sqrt-n",
        statement=r"\kappa(\hat G)^2 \le n\,\kappa(\hat H U D_0)^2 \quad\text{at any rank}",
        sides=without_bias,
        hypotheses=(NONSINGULAR,),
        expected=Verdict.SUPPORTED,
    ),
    PRINTED.sharpened(
        "by-correlation",
        id="L-thm-4c/by-correlation",
        statement=r"\kappa(\hat G)^2 \le \lambda_{\max}(R)\,\kappa(\hat H U D_0)^2"
        r" \quad\text{at any rank}",
        sides=by_correlation,
        hypotheses=(NONSINGULAR,),
        expected=Verdict.SUPPORTED,
    ),
    PRINTED.sharpened(
        "free-bias",
        id="L-thm-4c/free-bias",
        statement=r"\kappa(\hat G)^2 \le \kappa(G)^2 \le \kappa(\hat G)^2",
        sides=features_alone,
        hypotheses=(FULL_COLUMN_RANK,),
        expected=Verdict.SUPPORTED,
        falsified_by="one batch of full rank in which the column of ones matters",
        remark="The second inequality holds for any columns left out; the first is examined.",
    ),
    PRINTED.sharpened(
        "tight",
        id="L-thm-4c/tight",
        statement=r"\kappa(\hat G)^2 \ge n\,\kappa(\hat H U D_0)^2,"
        r"\quad D_0 = \operatorname{diag}(1, 1/(\sqrt n\sigma_H))",
        sides=copies,
        relation=Relation.AT_LEAST,
        hypotheses=(COPIES,),
        expected=Verdict.SUPPORTED,
        falsified_by="one batch of copies with another quotient",
        remark="n copies of one feature: the factor root n cannot be improved at any rank.",
    ),
]
