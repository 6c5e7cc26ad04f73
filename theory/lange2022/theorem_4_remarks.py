r"""After Theorem 4: centred data leave nothing to centre, and a chain of inequalities.

The chain :math:`\kappa(\hat H U) \le \kappa(\hat G)\kappa(D)` holds at any rank, because
:math:`\kappa(AB) \le \kappa(A)\kappa(B)` does for a nonsingular B.  It is tight, by uncorrelated
features (:mod:`theory.lange2022.property_a`).  D contains the bias's 1, so that :math:`\kappa(D)`
depends on the unit in which the features are measured.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.arithmetic.spectra import squared_condition_number
from theory.lange2022.spectral import (
    NONSINGULAR,
    after_centring,
    after_scaling,
    centred_and_ones,
    column_squares,
    normalized,
)
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def of_scaling(layer: Layer) -> Any:
    r""":math:`\kappa(D)^2`, D having the entries 1 and one over each deviation."""
    squares = layer.H.shape[0] / column_squares(centred_and_ones(layer.H))
    identity = array_namespace(squares).eye(squares.shape[0], dtype=squares.dtype)
    return squared_condition_number(identity, squares)


def centring_of_centred(layer: Layer) -> Sides:
    """U against the identity."""
    n = layer.H.shape[1]
    identity = array_namespace(layer.H).eye(n + 1, dtype=layer.H.dtype)
    return Sides(preconditioning.centring(preconditioning.means(layer.H)), identity)


def chain(layer: Layer) -> Sides:
    """The first inequality of the chain."""
    return Sides(after_centring(layer), normalized(layer) * of_scaling(layer))


def chain_to_the_end(layer: Layer) -> Sides:
    """The whole chain."""
    n = layer.H.shape[1]
    return Sides(after_centring(layer), of_scaling(layer) * (n + 1) * after_scaling(layer))


def without_means(layer: Any) -> Any:
    """Take the means off."""
    return replace(layer, H=layer.H - layer.H.sum(0) * Fraction(1, layer.H.shape[0]))


CENTRED = Hypothesis(
    r"\mu_H = 0", lambda layer: layer.H.sum(0), Relation.EQUAL, impose=without_means
)
NO_MEAN = MatrixClaim(
    id="L-thm-4-remarks/centred",
    row="L-thm-4-remarks",
    locations=at(207, "Sect. 3.3, after Theorem 4", "the data is already centered"),
    statement=r"\mu_H = 0 \;\Rightarrow\; U = I",
    sides=centring_of_centred,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    hypotheses=(CENTRED,),
    expected=Verdict.PROVED,
    falsified_by="one batch of mean zero with another U",
)

CHAIN = MatrixClaim(
    id="L-thm-4-remarks/chain",
    row="L-thm-4-remarks",
    locations=at(211, "Sect. 3.3, after Theorem 4", r"\kappa(\widehat{H}UD)\kappa(D)"),
    statement=r"\kappa(\hat H U)^2 \le \kappa(\hat H U D)^2\,\kappa(D)^2",
    sides=chain,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    expected=Verdict.SUPPORTED,
    falsified_by="one batch",
    remark="At any rank, no variance zero.",
)

CLAIMS = [
    NO_MEAN,
    CHAIN,
    replace(
        CHAIN,
        id="L-thm-4-remarks/chain-end",
        statement=r"\kappa(\hat H U)^2 \le \kappa(D)^2\,(n + 1)\,\kappa(\hat H U D_0)^2",
        sides=chain_to_the_end,
        hypotheses=(NONSINGULAR,),
    ),
]
