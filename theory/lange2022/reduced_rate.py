r"""After Theorem 4: "the improved conditioning implies reduced r".

r is the Hessian's, :math:`M = \hat H^\top S\hat H`, and Theorem 4 is about :math:`\hat H` alone, so
nothing follows.  Two examples of one feature, H = (2, -1/2) with S = diag(1, 4)/5, have M = I, and
BNP makes :math:`\kappa` 4, and r 3/5 from 0.

What the proof does imply is the same theorem with means and variances weighted by S: the Schur
complement needs no equal weights.  S is the diagonal matrix of squares :math:`s_j^2` here.
"""

from typing import Any

from theory.lange2022.hessian_remarks import POSITIVE, after, before, weighted
from theory.lange2022.spectral import (
    FULL_COLUMN_RANK,
    NONSINGULAR,
    augmented,
    column_squares,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def reduced(layer: Layer) -> Sides:
    """The rate's condition numbers."""
    return Sides(after(layer), before(layer))


def weighted_columns(layer: Layer) -> Any:
    r""":math:`[e, H - e\mu_s^\top]` with the mean weighted by S."""
    weights = layer.curvature * layer.curvature
    return augmented(layer.H - weights @ layer.H / weights.sum())


def reduced_by_weighted_mean(layer: Layer) -> Sides:
    """The mean weighted by S."""
    return Sides(weighted(layer, weighted_columns(layer)), before(layer))


def reduced_by_weighted_variance(layer: Layer) -> Sides:
    """The variances weighted by S too, against any other scaling."""
    F = weighted_columns(layer)
    squares = 1 / column_squares(layer.curvature[:, None] * F)
    other = weighted(layer, F, layer.scaling * layer.scaling)
    return Sides(weighted(layer, F, squares), layer.H.shape[1] * other)


REDUCED = MatrixClaim(
    id="L-thm-4-remarks/reduced-r",
    row="L-thm-4-remarks",
    locations=at(215, "Sect. 3.3, after Theorem 4", "implies reduced"),
    statement=r"\kappa(\hat G^\top S\hat G) \le \kappa(\hat H^\top S\hat H)",
    sides=reduced,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, POSITIVE),
    expected=Verdict.REFUTED,
    corrected_by="L-thm-4-remarks/reduced-r/weighted-mean",
    falsified_by="one batch and S whose Hessian gets worse",
    remark="r = (kappa - 1)/(kappa + 1) grows with the Hessian's condition number; Theorem 4 is "
    "about the inputs' alone.",
)

CLAIMS = [
    REDUCED,
    REDUCED.corrected(
        "weighted-mean",
        statement=r"\kappa(U_s^\top\hat H^\top S\hat H U_s) \le \kappa(\hat H^\top S\hat H),"
        r"\quad \mu_s = \frac{H^\top s}{e^\top s},\ S = \operatorname{diag}(s)",
        sides=reduced_by_weighted_mean,
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="The proof of Theorem 4 with the rows multiplied by the roots of S.",
    ),
    REDUCED.corrected(
        "weighted-variance",
        statement=r"\kappa(P_s^\top\hat H^\top S\hat H P_s) \le"
        r" n\,\kappa(D_0 U_s^\top\hat H^\top S\hat H U_s D_0)",
        sides=reduced_by_weighted_variance,
        hypotheses=(FULL_COLUMN_RANK, POSITIVE, NONSINGULAR),
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="",
    ),
]
