r"""Proposition 11: :math:`\kappa(\hat H^\top S\hat H) \le \kappa(\hat H)^2\kappa(S)`.

For a positive definite S it holds at any rank: :math:`s \le S \le t` gives
:math:`s\hat H^\top\hat H \le \hat H^\top S\hat H \le t\hat H^\top\hat H` with one null space.

Section 3.3 uses it for the S of Proposition 2, which has zeros where a ReLU is dead and is
indefinite for many losses.  Then it falls, and no constant helps: h = (d, 0, -1) with
S = diag(1, 1, 0) and small d.  What is right for :math:`S \ge 0` has the examples with
:math:`s_j > 0` alone on the right: for a ReLU layer the active ones.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from theory.arithmetic.spectra import condition_number, squared_condition_number
from theory.lange2022.spectral import augmented, before
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def diagonal(s: Any) -> Any:
    """The diagonal matrix."""
    return array_namespace(s).eye(s.shape[0], dtype=s.dtype) * s


def with_hessian(layer: Layer, S: Any) -> Sides:
    """Both sides with a given S."""
    F = augmented(layer.H)
    return Sides(condition_number(F.T @ (S @ F)), before(layer) * condition_number(S))


def with_diagonal(layer: Layer) -> Sides:
    """S as in Proposition 2."""
    return with_hessian(layer, diagonal(layer.curvature))


def with_full(layer: Layer) -> Sides:
    """A positive definite matrix that is not diagonal, q plus a square of rank one."""
    s = layer.curvature
    return with_hessian(layer, diagonal(0 * s + layer.q) + s[:, None] * s)


def rectified(layer: Layer) -> Any:
    """The curvatures that are positive, and zeros."""
    return layer.curvature * (layer.curvature > 0)


def with_rectified(layer: Layer) -> Sides:
    """S with zeros."""
    return with_hessian(layer, diagonal(rectified(layer)))


def active(layer: Layer) -> Sides:
    """The rows of the examples whose curvature is not zero."""
    S = diagonal(rectified(layer))
    F = augmented(layer.H)
    counted = squared_condition_number(F * (layer.curvature > 0)[:, None])
    return Sides(condition_number(F.T @ (S @ F)), counted * condition_number(S))


POSITIVE = Hypothesis(
    "S > 0",
    lambda layer: layer.curvature,
    Relation.MORE_THAN,
    impose=lambda layer: replace(layer, curvature=abs(layer.curvature) + 1),
)
NONSINGULAR = Hypothesis(
    r"S \text{ is nonsingular}",
    lambda layer: layer.curvature * layer.curvature,
    Relation.MORE_THAN,
    impose=lambda layer: replace(
        layer, curvature=np.where(layer.curvature == 0, -1, layer.curvature)
    ),
)
ONE_INACTIVE = Hypothesis(
    r"S = \operatorname{diag}(0, 1, \dots, 1)",
    lambda layer: rectified(layer)[1:] - 1,
    Relation.EQUAL,
    impose=lambda layer: replace(
        layer, curvature=layer.curvature * 0 + 1 - 2 * (np.arange(len(layer.H)) == 0)
    ),
)
PRINTED = MatrixClaim(
    id="L-prop-11",
    row="L-prop-11",
    locations=at(724, "App. A, Prop. 11", "symmetric positive definite matrix and"),
    statement=r"\kappa(\hat H^\top S\hat H) \le \kappa(\hat H)^2\,\kappa(S),"
    r"\quad S > 0 \text{ diagonal}",
    sides=with_diagonal,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(POSITIVE,),
    expected=Verdict.SUPPORTED,
    falsified_by="one batch of any rank and positive definite S",
    remark="kappa over the nonzero singular values.",
)

AS_USED = MatrixClaim(
    id="L-prop-11/semidefinite",
    row="L-prop-11",
    locations=at(163, "Sect. 3.3, after Prop. 2", "(see Proposition 11 in Appendix)"),
    statement=r"\kappa(\hat H^\top S\hat H) \le \kappa(\hat H)^2\,\kappa(S),"
    r"\quad S = \operatorname{diag}(0, 1, \dots, 1)",
    sides=with_rectified,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(ONE_INACTIVE,),
    expected=Verdict.REFUTED,
    corrected_by="L-prop-11/semidefinite/corrected",
    falsified_by="one batch with an example that does not count",
    remark="As section 3.3 uses it, for the S of a network: an example may have no curvature, "
    "such as one at which a ReLU is dead.",
)

INDEFINITE = MatrixClaim(
    id="L-prop-11/indefinite",
    row="L-prop-11",
    locations=AS_USED.locations,
    statement=r"\kappa(\hat H^\top S\hat H) \le \kappa(\hat H)^2\,\kappa(S),"
    r"\quad S \text{ diagonal, nonsingular, of either sign}",
    sides=with_diagonal,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(NONSINGULAR,),
    expected=Verdict.REFUTED,
    corrected_by="L-prop-11",
    falsified_by="one batch and curvatures of either sign",
    remark="As section 3.3 uses it, for a loss that is not convex.",
)

CLAIMS = [
    PRINTED,
    PRINTED.sharpened(
        "full",
        statement=r"\kappa(\hat H^\top S\hat H) \le \kappa(\hat H)^2\,\kappa(S),"
        r"\quad S = q I + s s^\top",
        sides=with_full,
        hypotheses=(),
        expected=Verdict.SUPPORTED,
    ),
    AS_USED,
    AS_USED.corrected(
        statement=r"\kappa(\hat H^\top S\hat H) \le \kappa(\hat H_+)^2\,\kappa(S),"
        r"\quad \hat H_+ = \text{the rows with } s_j > 0",
        sides=active,
        hypotheses=(),
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="So for a ReLU layer the statistics that matter are those of the active examples.",
    ),
    INDEFINITE,
]
