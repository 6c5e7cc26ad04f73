r"""Lemma A1 (van der Sluis): scaling the columns to norm one is nearly optimal.

With A in the place of H here.  Full column rank is not needed, only columns that are not zero; the
factor is the largest eigenvalue of the scaled Gram matrix, which is at most its trace n.  For two
columns it is one: the scaling is optimal.  As in Theorem 4, "D_0 is diagonal" must exclude zeros.

The steps of the proof, up to the variational principle, are in
:mod:`theory.lange2022.lemma_a1_steps`.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic.spectra import (
    eigenvalues,
    squared_condition_number,
    squared_singular_values,
)
from theory.lange2022.spectral import column_squares
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def unit_columns(layer: Layer) -> Any:
    r""":math:`\kappa(A D)^2`."""
    return squared_condition_number(layer.H, 1 / column_squares(layer.H))


def other_scaling(layer: Layer) -> Any:
    r""":math:`\kappa(A D_0)^2`."""
    return squared_condition_number(layer.H, layer.scaling[1:] ** 2)


def printed(layer: Layer) -> Sides:
    """The factor n."""
    return Sides(unit_columns(layer), layer.H.shape[1] * other_scaling(layer))


def by_largest(layer: Layer) -> Sides:
    """The largest eigenvalue of the scaled Gram matrix."""
    largest = eigenvalues(layer.H.T @ layer.H, 1 / column_squares(layer.H))[-1]
    return Sides(unit_columns(layer), largest * other_scaling(layer))


def optimal(layer: Layer) -> Sides:
    """No factor."""
    return Sides(unit_columns(layer), other_scaling(layer))


def one_column_left(layer: Any) -> Any:
    """Let all but the first entry of D_0 be zero."""
    scaling = layer.scaling * 0
    scaling[1] = layer.scaling[1]
    return replace(layer, scaling=scaling)


FULL_COLUMN_RANK = Hypothesis(
    r"A \text{ has full column rank}",
    lambda layer: squared_singular_values(layer.H)[0],
    Relation.MORE_THAN,
)
NONSINGULAR = Hypothesis(
    r"D_0 \text{ is nonsingular}",
    lambda layer: layer.scaling[1:] ** 2,
    Relation.MORE_THAN,
    printed=False,
)
SINGULAR = Hypothesis(
    r"D_0 = \operatorname{diag}(d, 0, \dots, 0)",
    lambda layer: layer.scaling[2:] if len(layer.scaling) > 2 else 0 * layer.scaling[1],
    Relation.EQUAL,
    impose=one_column_left,
)
UP_TO_TWO = Hypothesis(r"n \le 2", lambda layer: 2 - layer.H.shape[1])

PRINTED = MatrixClaim(
    id="L-lemma-A1",
    row="L-lemma-A1",
    locations=at(562, "App. A, Lemma A1", r"\kappa(AD)\leq\sqrt{n}\min"),
    statement=r"\kappa(A D)^2 \le n\,\kappa(A D_0)^2,"
    r"\quad D = \operatorname{diag}(\|a_1\|^{-1}, \dots, \|a_n\|^{-1})",
    sides=printed,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, NONSINGULAR),
    expected=Verdict.SUPPORTED,
    falsified_by="one matrix and diagonal scaling that is better by more than the root of n",
    remark="The minimum of the text is over every D_0; here each one bounds.",
)

ZEROS = MatrixClaim(
    id="L-lemma-A1/zeros",
    row="L-lemma-A1",
    locations=PRINTED.locations,
    statement=r"\kappa(A D)^2 \le n\,\kappa(A D_0)^2,"
    r"\quad D_0 \text{ with zeros on the diagonal}",
    sides=printed,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, SINGULAR),
    expected=Verdict.REFUTED,
    corrected_by="L-lemma-A1",
    falsified_by="one matrix of full rank with a condition number above the root of n",
    remark="The paper's kappa, over the nonzero singular values, is one for a single column.",
)


def sharper(name: str, statement: str, **changes: Any) -> MatrixClaim:
    """Return a sharper form of the lemma."""
    tied = {"id": f"L-lemma-A1/{name}", "statement": statement, "expected": Verdict.SUPPORTED}
    return PRINTED.sharpened(name, **{**tied, **changes})


CLAIMS = [
    PRINTED,
    ZEROS,
    sharper(
        "any-rank",
        r"\kappa(A D)^2 \le n\,\kappa(A D_0)^2 \quad\text{at any rank, no column zero}",
        hypotheses=(NONSINGULAR,),
    ),
    sharper(
        "by-largest",
        r"\kappa(A D)^2 \le \lambda_{\max}(D A^\top A D)\,\kappa(A D_0)^2"
        r" \quad\text{at any rank, no column zero}",
        sides=by_largest,
        hypotheses=(NONSINGULAR,),
    ),
    sharper(
        "two-columns",
        r"\kappa(A D)^2 \le \kappa(A D_0)^2,\quad n \le 2",
        sides=optimal,
        hypotheses=(FULL_COLUMN_RANK, NONSINGULAR, UP_TO_TWO),
    ),
]
