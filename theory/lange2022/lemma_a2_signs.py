r"""Lemma A2 (Seginer) for small matrices of signs, by listing all of them.

Rows and columns of signs have fixed norms, so that the lemma at k = 2 is
:math:`\mathbb{E}\|G\|^2 \le C^2 (m + n)`.  A row or a column that changes its sign changes no norm,
so the first ones are taken positive, and the rest is listed.  Up to three by three C = 1 does, and
hardly less, C^2 = 0.959; the measurements of larger matrices, which need C near 2, are in
:mod:`theory.lange2022.lemma_a2`.
"""

from itertools import product
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.spectra import squared_singular_values
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def size(layer: Layer) -> tuple[int, int]:
    """A size of which all matrices of signs can be listed."""
    return min(layer.H.shape[0], 3), min(layer.H.shape[1], 3)


def mean_square(layer: Layer) -> Any:
    r""":math:`\mathbb{E}\|G\|^2` over the matrices of entries q and -q, up to equal norms."""
    xp, (m, n) = array_namespace(layer.H), size(layer)
    total = 0 * layer.q
    for signs in product((-1, 1), repeat=(m - 1) * (n - 1)):
        rows = [signs[i * (n - 1) : (i + 1) * (n - 1)] for i in range(m - 1)]
        entries = [sign for row in [[1] * n, *([1, *row] for row in rows)] for sign in row]
        G = xp.reshape(xp.stack([layer.q * sign for sign in entries]), (m, n))
        total = total + squared_singular_values(G)[-1]
    return total / 2 ** ((m - 1) * (n - 1))


def constant_one(layer: Layer) -> Sides:
    """The squared norms of a row and of a column."""
    return Sides(mean_square(layer), layer.q * layer.q * sum(size(layer)))


CLAIMS = [
    MatrixClaim(
        id="L-lemma-A2/small-signs",
        row="L-lemma-A2",
        locations=at(652, "App. A, Lemma A2", r"\leq C^{k}\left(E"),
        statement=r"\mathbb{E}\|G\|^2 \le \mathbb{E}\max_i\|g_i\|^2 + \mathbb{E}\max_j\|h_j\|^2,"
        r"\quad g_{ij} = \pm q,\ m \le 3,\ n \le 3",
        sides=constant_one,
        subject=Kind.LAYER,
        relation=Relation.AT_MOST,
        expected=Verdict.SUPPORTED,
        falsified_by="one size; every matrix of signs is listed",
        remark="The reading with k = 2 and C = 1, at sizes where it holds.",
    ),
]
