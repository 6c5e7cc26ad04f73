r"""The proof of Proposition 11, its last line for the smallest eigenvalue.

Line 739 prints "=" for ">=": the smallest quotient of S over the range of :math:`\hat H` may be
larger than its smallest eigenvalue, as for H = (1, 0)' and S = diag(2, 1).  The inequality
is what the proof needs.
"""

from typing import Any

from theory.lange2022.proposition_11 import POSITIVE
from theory.lange2022.spectral import augmented
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Term, Verdict


def quotient(layer: Layer) -> Sides:
    """A single column h: its quotient of S, and the smallest eigenvalue, both times h'h."""
    h, s = layer.H[:, 0], layer.curvature
    return Sides((s * h * h).sum(), (h * h).sum() * s.min())


def image(layer: Layer) -> Any:
    """A generic vector of the range."""
    return augmented(layer.H) @ layer.direction


def quotient_by_bound(layer: Layer) -> Sides:
    """A vector in the range: its quotient of S, and any lower bound of it, multiplied out."""
    y = image(layer)
    return Sides((layer.curvature * y * y).sum(), layer.gamma[0] * (y * y).sum())


def bound_slack(layer: Layer) -> list[Term]:
    """The lower bound at the image, as a vector."""
    return [Term(1, (ABOVE,))]


ABOVE = Hypothesis(
    r"y^\top S y \ge \lambda\,\|y\|^2",
    lambda layer: (
        (layer.curvature - layer.gamma[0]) * (augmented(layer.H) @ layer.direction) ** 2
    ).sum(),
)

LINE_739 = MatrixClaim(
    id="L-steps/739",
    row="L-steps",
    locations=at(739, "App. A, proof of Prop. 11", r"=\lambda_{min}(S)\lambda^{*}_{min}"),
    statement=r"\min_{y = h t}\frac{y^\top S y}{y^\top y} = \lambda_{\min}(S),"
    r"\quad \text{one column } h",
    sides=quotient,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    hypotheses=(POSITIVE,),
    expected=Verdict.REFUTED,
    corrected_by="L-steps/739/corrected",
    falsified_by="one column whose quotient of S is not an extreme one",
    remark="The inequality that the proof needs is right.",
)

CLAIMS = [
    LINE_739,
    LINE_739.corrected(
        statement=r"y^\top S y \ge \lambda\,\|y\|^2,\quad y = \hat H z,\ S \ge \lambda",
        sides=quotient_by_bound,
        relation=Relation.AT_LEAST,
        hypotheses=(ABOVE,),
        certificate=bound_slack,
        corrected_by=None,
    ),
]
