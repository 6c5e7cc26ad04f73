r"""Whether the normalization improves: :math:`\kappa(\hat G) \le \kappa(\hat H)`.

The text says "improves the conditioning" and "improves ... in general"; Theorem 4 compares
:math:`\hat G` with other scalings only, and does not say it.  Up to two features it is so at full
rank, because the scaling is then optimal (:mod:`theory.lange2022.lemma_a1`); with three it can
fail, even for centred ones, by a factor of at most :math:`\lambda_{\max}(R)`.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from theory.lange2022.spectral import FULL_COLUMN_RANK, before, largest_correlation, normalized
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def improved(layer: Layer) -> Sides:
    """Before and after."""
    return Sides(normalized(layer), before(layer))


def by_correlation(layer: Layer) -> Sides:
    """With the factor that it may cost."""
    return Sides(normalized(layer), largest_correlation(layer) * before(layer))


def sums_of_earlier(layer: Any) -> Any:
    """Give every feature an example of its own, add up the earlier ones, and take the means off."""
    own = 2 * np.identity(max(layer.H.shape), dtype=np.int64)
    sums = (layer.H + own[: layer.H.shape[0], : layer.H.shape[1]]).cumsum(1)
    return replace(layer, H=sums - sums.sum(0) * Fraction(1, len(sums)))


CENTRED = Hypothesis(
    r"\mu_H = 0", lambda layer: layer.H.sum(0), Relation.EQUAL, impose=sums_of_earlier
)

UP_TO_TWO = Hypothesis(r"n \le 2", lambda layer: 2 - layer.H.shape[1])

IMPROVES = MatrixClaim(
    id="L-thm-4c/improves",
    row="L-thm-4c",
    locations=(
        *at(191, "Sect. 3.3, before Theorem 4", "improves the conditioning of"),
        *at(195, "Sect. 3.3, before Theorem 4", "also improves the condition number in general"),
    ),
    statement=r"\kappa(\hat G)^2 \le \kappa(\hat H)^2",
    sides=improved,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    hypotheses=(FULL_COLUMN_RANK, replace(CENTRED, printed=False)),
    expected=Verdict.REFUTED,
    corrected_by="L-thm-4c/improves/corrected",
    falsified_by="one batch of full rank that gets worse",
    remark="A reading of 'improves ... in general' that the theorem does not claim; the features "
    "are centred, and sums of one another, so that a counterexample is found soon.",
)

CLAIMS = [
    IMPROVES,
    IMPROVES.corrected(
        statement=r"\kappa(\hat G)^2 \le \lambda_{\max}(R)\,\kappa(\hat H)^2",
        sides=by_correlation,
        hypotheses=(FULL_COLUMN_RANK,),
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="Theorem 4, with its sharper factor.",
    ),
    IMPROVES.corrected(
        "two-features",
        statement=IMPROVES.statement + r",\quad n \le 2",
        hypotheses=(FULL_COLUMN_RANK, UP_TO_TWO),
        expected=Verdict.SUPPORTED,
        corrected_by=None,
        remark="",
    ),
]
