r"""After Theorem 4: Property A makes the scaling optimal, and uncorrelated features the most of it.

Property A is that the features fall into two blocks of mutually uncorrelated ones.  Then no
diagonal matrix does better than D; the certificate is a step of
:mod:`theory.lange2022.lemma_a1_steps`.  Up to two features have it always.  Without full rank, and
with the paper's :math:`\kappa`, two copies of one feature refute it.

For features that are all uncorrelated :math:`\kappa(\hat G) = 1`, and all of
:math:`\kappa(\hat H U) = \kappa(D)` is gained.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.spectral import (
    FULL_COLUMN_RANK,
    NONSINGULAR,
    after_centring,
    after_scaling,
    centred,
    column_squares,
    normalized,
)
from theory.lange2022.texts import at
from theory.lange2022.theorem_4_remarks import of_scaling
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def optimal(layer: Layer) -> Sides:
    """Unit columns against another scaling."""
    return Sides(normalized(layer), after_scaling(layer))


def tight(layer: Layer) -> Sides:
    """Uncorrelated features."""
    return Sides(after_centring(layer), of_scaling(layer))


def in_blocks(layer: Any, sizes: tuple[int, ...]) -> Any:
    """Make the features of each block orthogonal, and take the means off."""
    H = layer.H * Fraction(1) if layer.H.dtype == object else layer.H
    columns = list((H - H.sum(0) / len(H)).T)
    start = 0
    for size in sizes:
        for j in range(start, start + size):
            for i in range(start, j):
                square = columns[i] @ columns[i]
                if square != 0:
                    columns[j] = columns[j] - columns[i] * (columns[i] @ columns[j] / square)
        start += size
    return replace(layer, H=array_namespace(H).stack(columns, axis=1))


def two_blocks(layer: Any) -> Any:
    """Make Property A hold, the first half of the features being one block."""
    n = layer.H.shape[1]
    return in_blocks(layer, (n - n // 2, n // 2))


def one_block(layer: Any) -> Any:
    """Make all features uncorrelated."""
    return in_blocks(layer, (layer.H.shape[1],))


def couplings(layer: Layer, same_block: Any) -> Any:
    """The sum of the squares of the correlations within blocks."""
    C = centred(layer.H)
    scaled = C.T @ C / column_squares(C)
    n = layer.H.shape[1]
    pairs = ((i, j) for i in range(n) for j in range(i) if same_block(i, j, n))
    return sum((scaled[i, j] * scaled[j, i] for i, j in pairs), start=0 * scaled[0, 0])


PROPERTY_A = Hypothesis(
    r"\text{Property A: two blocks of mutually uncorrelated features}",
    lambda layer: couplings(layer, lambda i, j, n: (i < n - n // 2) == (j < n - n // 2)),
    Relation.EQUAL,
    impose=two_blocks,
)
UNCORRELATED = Hypothesis(
    r"\text{all features are uncorrelated}",
    lambda layer: couplings(layer, lambda i, j, n: True),
    Relation.EQUAL,
    impose=one_block,
)
OPTIMAL = MatrixClaim(
    id="L-thm-4-remarks/property-A",
    row="L-thm-4-remarks",
    locations=at(207, "Sect. 3.3, after Theorem 4", "so-called Property A"),
    statement=r"\kappa(\hat G)^2 \le \kappa(\hat H U D_0)^2 \quad\text{under Property A}",
    sides=optimal,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, NONSINGULAR, PROPERTY_A),
    expected=Verdict.SUPPORTED,
    falsified_by="one batch with Property A and a better diagonal matrix",
    remark="'Not likely to hold in practice': with up to two features it always holds.",
)

ANY_RANK = replace(
    OPTIMAL,
    id="L-thm-4-remarks/property-A/any-rank",
    statement=r"\kappa(\hat G)^2 \le \kappa(\hat H U D_0)^2"
    r" \quad\text{under Property A, at any rank}",
    hypotheses=(NONSINGULAR, PROPERTY_A),
    expected=Verdict.REFUTED,
    corrected_by=OPTIMAL.id,
    falsified_by="two copies of one feature",
    remark="The paper's kappa, over the nonzero singular values, without the theorem's full rank.",
)

CLAIMS = [
    OPTIMAL,
    ANY_RANK,
    MatrixClaim(
        id="L-thm-4-remarks/tight",
        row="L-thm-4-remarks",
        locations=at(213, "Sect. 3.3, after Theorem 4", "each of the inequalities above is tight"),
        statement=r"\kappa(\hat H U)^2 \ge \kappa(D)^2 \quad\text{for uncorrelated features}",
        sides=tight,
        subject=Kind.LAYER,
        relation=Relation.AT_LEAST,
        hypotheses=(UNCORRELATED,),
        expected=Verdict.SUPPORTED,
        falsified_by="one batch of uncorrelated features",
        remark="With D_0 = D, whose kappa is then one: the improvement may be as large as that.",
    ),
]
