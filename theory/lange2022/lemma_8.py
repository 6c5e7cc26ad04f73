r"""Lemma 8 and (16): a convolution is a matrix product, :math:`\hat a = \hat{\mathcal H}\hat w`.

Block (t, u) of :math:`H_p` has in row i and column v the entry
:math:`h(t' + (i - 1) + (v - 1), u')`, with :math:`t' = 1 - \tfrac{k-1}2` and :math:`u' = u -
\tfrac{k-1}2 + (t - 1)`.  So entry :math:`((i-1)r + u,\ (j-1)k + v)` of :math:`H_p` is
:math:`h\big(u + v - \tfrac{k+1}2,\ i + j - \tfrac{k+1}2\big)`: what :math:`w(v, j)` meets to give
:math:`a(u, i)`, since vec runs through rows first.  The block formula, the ranges of a column, the
4 x 3 example and Figure 1 all say so; the sentence above the block formula has
:math:`w(j, v)`, its two indices interchanged.

The example above (16), a 4 x 3 map with a 3 x 3 kernel: the map's entry at (a, b) is q (10 a + b)
+ x, so that it tells its indices; columns of the printed matrix are convolutions with single
weights, in the order of the printed vector.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from theory import maps
from theory.arithmetic.constants import numbers
from theory.convolution import unfolded as shipped
from theory.lange2022.texts import about, at
from theory.language.arrays import dot
from theory.language.expression import Expression, Letter, Operation, Sort, equal, named
from theory.language.letters import free, number_of
from theory.maps import (
    Conv,
    H_p,
    arranged,
    augmented,
    b,
    entry,
    h,
    inner,
    k,
    kernel,
    offset,
    pair,
    r,
    s,
    stacked,
    vec,
    w,
    x,
)
from theory.matrix_claim import Kind
from theory.statement import REFUTED

_N, _V, _M, _MAPS = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX, Sort.MAPS


def _along(last: Letter, axis: int) -> Any:
    """Return 1, ..., last along one of the axes of blocks and of what is in them."""
    shape = tuple(-1 if i == axis else 1 for i in range(4))
    return lambda subject: np.arange(1, last.value(subject) + 1).reshape(shape)  # type: ignore[misc]


t = number_of("t", "t", _along(s, 0), r"1 \le t \le s")
i = number_of("i", "i", _along(r, 1), r"1 \le i \le r")
u = number_of("u", "u", _along(k, 2), r"1 \le u \le k")
v = number_of("v", "v", _along(k, 3), r"1 \le v \le k")
"""The paper's indices: of blocks, (t, u), and in a block the row i and the column v."""


def place_in_map(
    t: Expression, i: Expression, u: Expression, v: Expression
) -> tuple[Expression, Expression]:
    """Return the place that the block formula has in block (t, u), row i and column v."""
    return 1 - (k - 1) / 2 + (i - 1) + (v - 1), u - (k - 1) / 2 + (t - 1)


ROW, COLUMN = place_in_map(t, i, u, v)
BLOCKS = arranged(entry(h, ROW, COLUMN))

column_t = number_of("i", "i", _along(s, 0), r"1 \le i \le s")
row_u = number_of("u", "u", _along(r, 1), r"1 \le u \le r")
weight_j = number_of("j", "j", _along(k, 2), r"1 \le j \le k")
"""The sentence's indices: of the output (u, i), and of the weight, v and j."""

block_t = number_of("tau", r"\tau", _along(s, 0), r"1 \le \tau \le s")
row_i = number_of("rho", r"\rho", _along(r, 1), r"1 \le \rho \le r")
block_u = number_of("upsilon", r"\upsilon", _along(k, 2), r"1 \le \upsilon \le k")
column_v = number_of("nu", r"\nu", _along(k, 3), r"1 \le \nu \le k")
"""The indices of blocks, and in a block, by letters that the sentence does not have."""
by_other_letters = replace(arranged, latex=r"\big[{0}\big]_{{(\tau-1)r+\rho,\,(\upsilon-1)k+\nu}}")
MATRIX = named("H_p", by_other_letters(entry(h, *place_in_map(block_t, row_i, block_u, column_v))))


def _entries_of(H: Any, rows: Any, columns: Any) -> Any:
    rows, columns = np.broadcast_arrays(rows, columns)
    found = array_namespace(H).reshape(H, (*H.shape[:2], -1))
    places = ((rows - 1) * H.shape[3] + columns - 1).ravel()
    return array_namespace(H).reshape(found[:, :, places.tolist()], (*H.shape[:2], *rows.shape))


entry_of = Operation("entry", _entries_of, r"({0})_{{{1},\,{2}}}", takes=(_M, _N, _N))
"""The entries of the matrices at rows and columns."""
THERE = (column_t - 1) * r + row_u, (weight_j - 1) * k + v
MIDDLE = (k + 1) / 2
MET_BY_PRINTED = entry(h, row_u - MIDDLE + weight_j, column_t - MIDDLE + v)
MET_BY = entry(h, row_u - MIDDLE + v, column_t - MIDDLE + weight_j)

submatrix = Operation(
    "submatrix", lambda h, *bounds: _columns(h, *bounds),
    r"\big[\operatorname{{vec}}\, {0:atom}(u, i, p)"
    r"_{{{1} \le u \le {2},\ {3} \le i \le {4}}}\big]_{{(j-1)k+v}}",
    gives=_M, takes=(_MAPS, _N, _N, _N, _N),
)  # fmt: skip
"""The matrix whose columns are the vec of submatrices of the padded maps."""


def _columns(h: Any, *bounds: Any) -> Any:
    xp, (N, c, r, s) = array_namespace(h), h.shape
    by_vec = [sorted(region, key=_rows_first) for region in maps.windows(*bounds).ravel()]
    entries = maps.gathered(h, [place for region in by_vec for place in region])
    return xp.permute_dims(xp.reshape(entries, (N, c, len(by_vec), r * s)), (0, 1, 3, 2))


def _rows_first(place: tuple[int, int]) -> tuple[int, int]:
    u, i = place
    return i, u


apply = Operation(
    "apply", shipped.apply, r"\operatorname{{apply}}({0}, {1}, {2})", gives=_MAPS,
    takes=(_MAPS, _MAPS, _V),
)  # fmt: skip
unfold = Operation(
    "unfold", shipped.unfold, r"\operatorname{{unfold}}({0}, {1})", gives=_M, takes=(_MAPS, _N)
)
apply_transposed = Operation(
    "apply_transposed",
    lambda h, A, k: maps.stacked_parameters(*shipped.apply_transposed(h, A, k))[:, 0],
    r"\operatorname{{apply\_transposed}}({0}, {1}, {2})", gives=_V, takes=(_MAPS, _MAPS, _N),
)  # fmt: skip
turned = Operation(
    "turned", lambda h: array_namespace(h).permute_dims(h, (0, 1, 3, 2)), r"{0:atom}^\top", gives=0,
    takes=(_MAPS,),
)  # fmt: skip
"""Maps with rows and columns interchanged."""
first_output = Letter(
    "a", "a", _MAPS, lambda subject: maps.convolution(subject.h, subject.w[:1], subject.b[:1]),
    r"a = \operatorname{Conv}(h, w_1) + b_1",
)  # fmt: skip

convolution = about(Kind.MAPS, "L-lemma-8", "Sect. 4")

# The 4 x 3 example

PRINTED = """
    .  .  .  | .  11 21 | .  12 22
    .  .  .  | 11 21 31 | 12 22 32
    .  .  .  | 21 31 41 | 22 32 42
    .  .  .  | 31 41 .  | 32 42 .
    .  11 21 | .  12 22 | .  13 23
    11 21 31 | 12 22 32 | 13 23 33
    21 31 41 | 22 32 42 | 23 33 43
    31 41 .  | 32 42 .  | 33 43 .
    .  12 22 | .  13 23 | .  .  .
    12 22 32 | 13 23 33 | .  .  .
    22 32 42 | 23 33 43 | .  .  .
    32 42 .  | 33 43 .  | .  .  .
"""
"""The matrix of the 4 x 3 example as printed, by the indices of its entries."""
WEIGHTS = "11 21 31 12 22 32 13 23 33"
"""The printed vector, by the indices of its entries."""


def _telling(subject: Any) -> Any:
    """Return a 4 x 3 map whose entries tell their indices."""
    first, xp = subject.direction[0], array_namespace(subject.h)
    rows = [[subject.q * (10 * a + b) + first for b in (1, 2, 3)] for a in (1, 2, 3, 4)]
    return xp.stack([xp.stack(row) for row in rows])[None, None, :, :]


def _single_weights(subject: Any) -> Any:
    """Return a 3 x 3 kernel with a single one for every printed weight, (9, 1, 3, 3)."""
    one = 0 * subject.direction[0] + 1
    kernels = [
        [[[int(index == f"{a}{b}") for b in (1, 2, 3)] for a in (1, 2, 3)]]
        for index in WEIGHTS.split()
    ]
    return one * numbers(kernels, subject.h)


def _printed_matrix(h: Any) -> Any:
    xp, nothing = array_namespace(h), 0 * h[0, 0, 0, 0]
    lines = [line.replace("|", " ").split() for line in PRINTED.split("\n") if line.strip()]
    cells = [
        [nothing if z == "." else h[0, 0, int(z[0]) - 1, int(z[1]) - 1] for z in line]
        for line in lines
    ]
    return xp.stack([xp.stack(row) for row in cells])


telling = Letter(
    "h", r"(h_{ab})", _MAPS, _telling, r"h_{ab} = q(10 a + b) + x_0 \text{ for any } q > 0, x_0"
)
single = Letter(
    "E", "E", _MAPS, _single_weights,
    r"\text{the kernels with a single one, at } 11, 21, \dots, 33",
)  # fmt: skip
no_bias = Letter("0", "0", _V, lambda subject: 0 * _single_weights(subject)[:, 0, 0, 0])
printed_matrix = Operation(
    "printed matrix", _printed_matrix,
    r"\text{{the printed }} 12 \times 9 \text{{ matrix of }} {0:atom}", gives=_M, takes=(_MAPS,),
)  # fmt: skip

# Lemma 8


any_i, any_u, any_j, any_v, any_k = (
    number_of(name, name, free(place), rf"{name} \in \mathbb{{R}}")
    for place, name in enumerate("iujvk")
)
EVERY_SIZE = equal(
    pair(1 - (any_k - 1) / 2 + (any_u - 1) + (any_v - 1), any_j - (any_k - 1) / 2 + (any_i - 1)),
    pair(any_u - (any_k + 1) / 2 + any_v, any_i - (any_k + 1) / 2 + any_j),
)

CLAIMS = [
    EXAMPLE := convolution(
        "/example", 294, r"\\ &&&h_{31}&h_{41}&&h_{32}&h_{42}&\\",
        "a convolution as a matrix product, the 4 × 3 example",
        equal(vec(Conv(telling, single, no_bias)), printed_matrix(telling)),
        at="the 4 x 3 example", in_words="The matrix is the paper's, typed entry by entry.",
        remark="The map's entries are such that each tells its indices. w₃₂, the case of Figure 1,"
        " belongs to column 6.",
    ),
    LEMMA := convolution(
        "", 303, r"=H_{p}\cdot\text{vec}(\mathbf{w}(\cdot,\cdot,p,d))",
        "a convolution as a matrix product",
        equal(vec(Conv(h, w, b)), augmented(BLOCKS) @ stacked(w, b)), place="Sect. 4, eq. (16)",
        also=at(325, "Sect. 4, Lemma 8", r"\widehat{a}=\widehat{\mathcal{H}}\cdot\widehat{w}"),
    ),
    LEMMA.sharpened(
        "shipped", says=equal(Conv(h, w, b), apply(h, w, b)),
        title="a convolution as a matrix product, by this project's function",
        remark="What the library computes without the matrix.",
    ),
    LEMMA.sharpened(
        "shipped-matrix", says=equal(augmented(BLOCKS), unfold(turned(h), k)),
        title="the matrix of a convolution, by this project's function",
        remark="The library runs through columns first, so it takes the maps transposed.",
    ),
    LEMMA.sharpened(
        "shipped-transpose",
        says=equal(
            inner(first_output, Conv(h, kernel(x, k), offset(x))),
            dot(apply_transposed(h, first_output, k), x),
        ),
        title="the transposed matrix of a convolution, by this project's function",
        remark="The kernel, of k × k weights, and the bias are those of which x is the column of"
        " parameters.",
    ),
    ENTRY := convolution(
        "/entry", 305, r"that is multiplied by", "which weight an entry of the matrix meets",
        equal(entry_of(MATRIX, *THERE), MET_BY_PRINTED), at="below eq. (16)", expected=REFUTED,
        remark="By the text the left side is what the convolution multiplies with w(j, v) to give"
        " a(u, i). The indices of w are interchanged in this one place: by vec, column (j - 1)k + v"
        " belongs to w(v, j). For the map (1, 0)ᵀ and w = e₁₂ the block formula gives (0, 0), the"
        " convolution (0, 1).",
    ),
    ENTRY.corrected(
        says=equal(entry_of(MATRIX, *THERE), MET_BY),
        title="which weight an entry of the matrix meets, indices in order",
    ),
    ENTRY.sharpened(
        "every-size", says=EVERY_SIZE,
        title="the place that the block formula names, for every size",
        remark="Block (i, j), its row u and column v, against what w(v, j) meets in a(u, i): an"
        " identity in the indices, whatever r, s and k are.",
    ),
    convolution(
        "/column", 309, "-th column of", "the submatrix that a column consists of",
        equal(
            H_p,
            submatrix(
                h,
                -((k - 1) / 2) + 1 + (v - 1), r - (k - 1) / 2 + (v - 1),
                -((k - 1) / 2) + 1 + (weight_j - 1), s - (k - 1) / 2 + (weight_j - 1),
            ),
        ),
        at="below the block formula",
    ),
]  # fmt: skip
