r"""Lemma 8 and (16): a convolution is a matrix product, :math:`\hat a = \hat{\mathcal H}\hat w`.

Entry :math:`((i-1)r + u,\ (j-1)k + v)` of :math:`H_p` is
:math:`h\big(u + v - \tfrac{k+1}2,\ i + j - \tfrac{k+1}2\big)`: what :math:`w(v, j)` meets to give
:math:`a(u, i)`, since vec runs through rows first.  The block formula, the ranges of a column, the
4 x 3 example and Figure 1 all say so; the sentence above the block formula has
:math:`w(j, v)`, its two indices interchanged.
"""

from typing import Any

from array_api_compat import array_namespace

from theory.convolution import unfolded
from theory.lange2022.texts import at
from theory.lange2022.unfolding import (
    augmented,
    blocks,
    convolution,
    gathered,
    stacked,
    unstacked,
    vec,
)
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def product(maps: Maps) -> Sides:
    """The convolution, and the matrix of the block formula times the weights and the bias."""
    outputs = convolution(maps.h, maps.w, maps.b)
    return Sides(vec(outputs), augmented(maps.h, maps.w.shape[-1]) @ stacked(maps.w, maps.b))


def met_by(h: Any, k: int, *, transposed: bool) -> Any:
    """The matrix by the sentence above the block formula: what a weight meets to give a(u, i)."""
    (N, c, r, s), middle = h.shape, (k + 1) // 2
    places = []
    for i in range(1, s + 1):
        for u in range(1, r + 1):
            for j in range(1, k + 1):
                for v in range(1, k + 1):
                    p, q = (v, j) if transposed else (j, v)
                    places.append((u - middle + p, i - middle + q))
    return array_namespace(h).reshape(gathered(h, places), (N, c, r * s, k * k))


def entry_printed(maps: Maps) -> Sides:
    """The matrix of the block formula, and that of the sentence, with w(j, v)."""
    k = maps.w.shape[-1]
    return Sides(blocks(maps.h, k), met_by(maps.h, k, transposed=False))


def entry_corrected(maps: Maps) -> Sides:
    """The same with w(v, j)."""
    k = maps.w.shape[-1]
    return Sides(blocks(maps.h, k), met_by(maps.h, k, transposed=True))


def column_ranges(maps: Maps) -> Sides:
    """The columns of the block formula's matrix, and the submatrices that the ranges give."""
    (N, c, r, s), k = maps.h.shape, maps.w.shape[-1]
    m = (k - 1) // 2
    places = [
        (u, i)
        for j in range(1, k + 1)
        for v in range(1, k + 1)
        for i in range(-m + 1 + (j - 1), s - m + (j - 1) + 1)
        for u in range(-m + 1 + (v - 1), r - m + (v - 1) + 1)
    ]
    xp = array_namespace(maps.h)
    columns = xp.reshape(gathered(maps.h, places), (N, c, k * k, r * s))
    return Sides(blocks(maps.h, k), xp.permute_dims(columns, (0, 1, 3, 2)))


def shipped_product(maps: Maps) -> Sides:
    """The convolution that this library ships."""
    return Sides(convolution(maps.h, maps.w, maps.b), unfolded.apply(maps.h, maps.w, maps.b))


def shipped_matrix(maps: Maps) -> Sides:
    """The shipped matrix, of the maps with rows and columns interchanged."""
    k = maps.w.shape[-1]
    turned = array_namespace(maps.h).permute_dims(maps.h, (0, 1, 3, 2))
    return Sides(augmented(maps.h, k), unfolded.unfold(turned, k))


def shipped_transpose(maps: Maps) -> Sides:
    """The transpose that this library ships, on the outputs, against a generic vector."""
    k = maps.w.shape[-1]
    w, b = unstacked(maps.direction, k)
    outputs = convolution(maps.h, maps.w, maps.b)[:, :1, :, :]
    moved = convolution(maps.h, w, b)
    grad_w, grad_b = unfolded.apply_transposed(maps.h, outputs, k)
    return Sides((outputs * moved).sum(), (grad_w * w).sum() + (grad_b * b).sum())


PRODUCT = MatrixClaim(
    id="L-lemma-8",
    row="L-lemma-8",
    locations=(
        *at(303, "Sect. 4, eq. (16)", r"=H_{p}\cdot\text{vec}(\mathbf{w}(\cdot,\cdot,p,d))"),
        *at(325, "Sect. 4, Lemma 8", r"\widehat{a}=\widehat{\mathcal{H}}\cdot\widehat{w}"),
    ),
    statement=r"\hat a = \hat{\mathcal H}\hat w,\quad (H_p)_{tu} = \big[h(t' + i, u')\big],"
    r"\ t' = 1 - \tfrac{k-1}2,\ u' = u - \tfrac{k-1}2 + (t - 1)",
    sides=product,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one output of one convolution that the product gets wrong",
)

ENTRY = MatrixClaim(
    id="L-lemma-8/entry",
    row="L-lemma-8",
    locations=at(305, "Sect. 4, below eq. (16)", r"that is multiplied by"),
    statement=r"(H_p)_{(i-1)r+u,\,(j-1)k+v} = \text{what } w(j, v, p, d)"
    r" \text{ is multiplied by in } a(u, i, d)",
    sides=entry_printed,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    falsified_by="one entry of the matrix of the block formula that is another",
    remark="The indices of w are interchanged in this one place (line 305): by vec, column"
    " (j - 1) k + v belongs to w(v, j).  For the map (1, 0)^T and w = e_12 it gives (0, 0), the"
    " convolution (0, 1).",
)

CLAIMS = [
    PRODUCT,
    PRODUCT.sharpened(
        "shipped", sides=shipped_product, remark="What the library computes without the matrix.",
        statement=r"\text{apply}(h, w, b) = a",
    ),
    PRODUCT.sharpened(
        "shipped-matrix", sides=shipped_matrix,
        statement=r"\text{unfold}(h^\top) = \hat{\mathcal H}",
        remark="The library runs through columns first, so it takes the maps transposed.",
    ),
    PRODUCT.sharpened(
        "shipped-transpose", sides=shipped_transpose, remark="",
        statement=r"\langle\text{apply\_transposed}(h, a), \hat x\rangle"
        r" = \langle a, \hat{\mathcal H}\hat x\rangle",
    ),
    ENTRY,
    ENTRY.corrected(
        sides=entry_corrected, remark="", statement=ENTRY.statement.replace("w(j, v", "w(v, j"),
    ),
    MatrixClaim(
        id="L-lemma-8/column",
        row="L-lemma-8",
        locations=at(309, "Sect. 4, below the block formula", "-th column of"),
        statement=r"\text{column } (j-1)k + v \text{ of } H_p = \text{vec}\, h(u, i),"
        r"\ u - v + \tfrac{k-1}2 \in [1, r],\ i - j + \tfrac{k-1}2 \in [1, s]",
        sides=column_ranges,
        subject=Kind.MAPS,
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        falsified_by="one entry of the matrix of the block formula that is another",
    ),
]  # fmt: skip
