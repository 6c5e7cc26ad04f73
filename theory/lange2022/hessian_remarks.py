r"""What the remarks after Theorem 4 say of the Hessian :math:`M = \hat H^\top S\hat H`.

S is the diagonal matrix of squares :math:`s_j^2`, with any rank that it has.

"By as much as :math:`\kappa(D)^2`" is possible, and is a bound over the *centred* Hessian
:math:`U^\top M U`; over M itself it is none, the right one being :math:`\kappa(P)^2`.

Algorithm 2 caps the scaling by its :math:`\epsilon_1`: of two features' :math:`\tilde\sigma^2` none
is more than :math:`1 + 1/\epsilon_1 = 101` times the other.
"""

from dataclasses import replace
from typing import Any

from theory import preconditioning
from theory.arithmetic.spectra import squared_condition_number
from theory.lange2022.spectral import (
    FULL_COLUMN_RANK,
    augmented,
    centred,
    centred_and_ones,
    column_squares,
)
from theory.lange2022.texts import at
from theory.lange2022.theorem_4_remarks import of_scaling
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def weighted(layer: Layer, F: Any, squares: Any = None) -> Any:
    r""":math:`\kappa(D_0 F^\top S F D_0)`, with the squares of :math:`D_0`."""
    return squared_condition_number(layer.curvature[:, None] * F, squares)


def before(layer: Layer) -> Any:
    r""":math:`\kappa(M)`."""
    return weighted(layer, augmented(layer.H))


def after(layer: Layer) -> Any:
    r""":math:`\kappa(P^\top M P)`."""
    F = centred_and_ones(layer.H)
    return weighted(layer, F, 1 / column_squares(F))


def improvement(layer: Layer) -> Sides:
    r"""By the factor :math:`\kappa(D)^2`."""
    return Sides(before(layer), of_scaling(layer) * after(layer))


def improvement_of_centred(layer: Layer) -> Sides:
    """The same over the centred Hessian."""
    F = centred_and_ones(layer.H)
    return Sides(weighted(layer, F), of_scaling(layer) * after(layer))


def improvement_by_both(layer: Layer) -> Sides:
    r"""By the factor :math:`\kappa(P)^2`."""
    U = preconditioning.centring(preconditioning.means(layer.H))
    squares = layer.H.shape[0] / column_squares(centred_and_ones(layer.H))
    return Sides(before(layer), squared_condition_number(U, squares) * after(layer))


def spread(layer: Layer) -> Sides:
    r"""The first feature's :math:`\tilde\sigma^2` against the last one's."""
    variances = (centred(layer.H) * centred(layer.H)).sum(0) / layer.H.shape[0]
    added = layer.step * layer.gamma[0] + layer.q
    return Sides(
        variances[0] + added,
        (1 + 1 / layer.step) * (variances[-1] + added),
    )


def spread_slack(layer: Layer) -> list[Term]:
    """The last one's variance, what the largest exceeds the first by, and the epsilons."""
    weight = (1 + 1 / layer.step) / layer.H.shape[0]
    return [
        Term(weight, (centred(layer.H)[:, -1],)),
        Term(1, (LARGEST,)),
        Term(layer.q / layer.step, ()),
    ]


LARGEST = Hypothesis(
    r"\max\sigma^2 \ge \sigma_1^2",
    lambda layer: layer.gamma[0] - (centred(layer.H)[:, 0] ** 2).sum() / layer.H.shape[0],
)
POSITIVE = Hypothesis(
    "S > 0",
    lambda layer: layer.curvature * layer.curvature,
    Relation.MORE_THAN,
    impose=lambda layer: replace(layer, curvature=abs(layer.curvature) + 1),
)
BY_AS_MUCH = MatrixClaim(
    id="L-thm-4-remarks/by-as-much",
    row="L-thm-4-remarks",
    locations=at(213, "Sect. 3.3, after Theorem 4", "by as much as"),
    statement=r"\kappa(\hat H^\top S\hat H) \le \kappa(D)^2\,\kappa(\hat G^\top S\hat G)",
    sides=improvement,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, POSITIVE),
    expected=Verdict.REFUTED,
    corrected_by="L-thm-4-remarks/by-as-much/centred",
    falsified_by="one batch and S whose Hessian improves by more",
    remark="'By as much as' as an upper bound; that such an improvement is possible is "
    "L-thm-4-remarks/tight.",
)

CLAIMS = [
    BY_AS_MUCH,
    BY_AS_MUCH.corrected(
        "centred",
        statement=r"\kappa(U^\top\hat H^\top S\hat H U) \le"
        r" \kappa(D)^2\,\kappa(\hat G^\top S\hat G)"
        r" \quad\text{for any } S \ge 0",
        sides=improvement_of_centred,
        hypotheses=(),
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="",
    ),
    BY_AS_MUCH.corrected(
        "both",
        statement=r"\kappa(\hat H^\top S\hat H) \le \kappa(P)^2\,\kappa(\hat G^\top S\hat G)"
        r" \quad\text{for any } S \ge 0",
        sides=improvement_by_both,
        hypotheses=(),
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="",
    ),
    BY_AS_MUCH.sharpened(
        "as-implemented",
        locations=at(242, "Sect. 3.3, after Algorithm 2", "to prevent division by a number"),
        statement=r"\tilde\sigma_1^2 < \Big(1 + \frac1{\epsilon_1}\Big)\tilde\sigma_n^2,"
        r"\quad \tilde\sigma^2 = \sigma^2 + \epsilon_1\max\sigma^2 + \epsilon_2",
        sides=spread,
        relation=Relation.LESS_THAN,
        hypotheses=(LARGEST,),
        certificate=spread_slack,
        expected=Verdict.PROVED,
        corrected_by=None,
        falsified_by="two features further apart",
        remark="With epsilon_1 = 0.01 the squares of D's entries for features differ by less "
        "than a factor of 101, whatever the features' variances are.",
    ),
]
