r"""After Theorem 3: the steps from :math:`\hat H` to :math:`\hat G`, lines 193 and 195.

.. math:: \hat H U = [e, H - e\mu_H^\top], \qquad (H - e\mu_H^\top)^\top e = 0,

and :math:`\sqrt N\sigma_H` are the norms of the columns of :math:`H - e\mu_H^\top`, so that D gives
each the norm :math:`\sqrt N`.  "The norms scaled by :math:`\sqrt N`" are the norms divided by it.
"""

from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.lange2022.literal import SPREAD, means
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def columns(layer: Layer) -> Any:
    """Return H less its means, row by row."""
    mean = means(layer.H)
    rows = [layer.H[j, :] - mean for j in range(layer.H.shape[0])]
    return array_namespace(layer.H).stack(rows)


def centred(layer: Layer) -> Sides:
    """The product with U."""
    xp, found = array_namespace(layer.H), columns(layer)
    actual = xp.concat([0 * found[:, :1] + 1, found], axis=1)
    U = preconditioning.centring(preconditioning.means(layer.H))
    return Sides(actual, preconditioning.augmented(layer.H) @ U)


def orthogonal(layer: Layer) -> Sides:
    """The products of the centred columns with the ones."""
    H = layer.H - preconditioning.means(layer.H)
    return Sides(sum(H[j, :] for j in range(H.shape[0])), 0 * layer.deviation)


def norms_divided(layer: Layer) -> Sides:
    """The squared norms, divided by N."""
    found = columns(layer)
    return Sides((found * found).sum(0) / found.shape[0], preconditioning.variances(layer.H))


def norms_multiplied(layer: Layer) -> Sides:
    """The squared norms, multiplied by N."""
    found = columns(layer)
    return Sides((found * found).sum(0) * found.shape[0], preconditioning.variances(layer.H))


def norms_after(layer: Layer) -> Sides:
    """The squared norms of the columns of G."""
    deviation = preconditioning.standard_deviations(layer.H)
    G = preconditioning.features(layer.H, preconditioning.means(layer.H), deviation)
    return Sides((G * G).sum(0), 0 * layer.deviation + layer.H.shape[0])


def claim(
    name: str, line: int, quote: str, statement: str, sides: Any, **other: Any
) -> MatrixClaim:
    """Return an equation between these lines."""
    settled: dict[str, Any] = {"expected": Verdict.PROVED}
    return MatrixClaim(
        id="L-steps/" + name, row="L-steps", statement=statement, sides=sides,
        locations=at(line, "Sect. 3.3, before Theorem 4", quote), subject=Kind.LAYER,
        relation=Relation.EQUAL, **settled | other,
    )  # fmt: skip


MULTIPLIED = claim(
    "195", 195, r"H-e\mu_{H}^{T} scaled by",
    r"\sigma_{H,j}^2 = N\,\|(H - e\mu_H^\top)_j\|^2", norms_multiplied, expected=Verdict.REFUTED,
    falsified_by="one batch; 'scaled by sqrt(N)' read as multiplied by it",
)  # fmt: skip

CLAIMS = [
    claim(
        "193-centred", 193, r"\widehat{H}U=\left[e,\;H-e\mu_{H}^{T}\right]",
        r"\hat H U = [e, H - e\mu_H^\top]", centred,
    ),
    claim(
        "193-orthogonal", 193, r"(H-e\mu_{H}^{T})^{T}e=0",
        r"(H - e\mu_H^\top)^\top e = 0", orthogonal,
    ),
    MULTIPLIED,
    MULTIPLIED.corrected(
        sides=norms_divided, falsified_by="",
        statement=r"\sigma_{H,j}^2 = \frac1N\,\|(H - e\mu_H^\top)_j\|^2",
    ),
    claim(
        "195-norms", 195, "to have the same norm of",
        r"\|(H - e\mu_H^\top)_j/\sigma_{H,j}\|^2 = N", norms_after, hypotheses=(SPREAD,),
    ),
]  # fmt: skip
