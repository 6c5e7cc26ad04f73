r"""The 4 x 3 example above (16): the convolution of one map with a 3 x 3 kernel, as printed.

The map's entry at (a, b) is q (10 a + b) + x, so that it tells its indices; columns of the printed
matrix are convolutions with single weights, in the order of the printed vector.
"""

from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.texts import at
from theory.lange2022.unfolding import convolution, vec
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Relation, Sides, Verdict

EXAMPLE = """
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
EXAMPLE_WEIGHTS = "11 21 31 12 22 32 13 23 33"


def example(maps: Maps) -> Sides:
    """Convolutions of one 4 x 3 map with single weights, and the printed matrix."""
    x, scale = maps.direction[0], maps.q
    rows = [[scale * (10 * a + b) + x for b in (1, 2, 3)] for a in (1, 2, 3, 4)]
    xp = array_namespace(maps.h)
    h = xp.stack([xp.stack(row) for row in rows])[None, None, :, :]
    one = 0 * x + 1
    weights = [one * _single(xp, w) for w in EXAMPLE_WEIGHTS.split()]
    columns = [vec(convolution(h, w, 0 * maps.b[:1]))[:, 0] for w in weights]
    cells = [line.replace("|", " ").split() for line in EXAMPLE.split("\n") if line.strip()]
    printed = [[0 * x if z == "." else h[0, 0, int(z[0]) - 1, int(z[1]) - 1] for z in line]
               for line in cells]  # fmt: skip
    return Sides(xp.stack(columns, axis=1), xp.stack([xp.stack(line) for line in printed]))


def _single(xp: Any, index: str) -> Any:
    """Return a 3 x 3 kernel with a one at an index, as an array (1, 1, 3, 3) of integers."""
    return xp.asarray([[[[int(index == f"{a}{b}") for b in (1, 2, 3)] for a in (1, 2, 3)]]])


CLAIMS = [
    MatrixClaim(
        id="L-lemma-8/example",
        row="L-lemma-8",
        locations=at(294, "Sect. 4, the 4 x 3 example", r"\\ &&&h_{31}&h_{41}&&h_{32}&h_{42}&\\"),
        statement=r"\text{vec}\,\text{Conv}(h, e_{ab}) = \text{the column of } w_{ab}"
        r" \text{ in the printed } 12 \times 9 \text{ matrix},\ h_{ab} = q\,(10a + b) + x_0",
        sides=example,
        subject=Kind.MAPS,
        relation=Relation.EQUAL,
        expected=Verdict.PROVED,
        falsified_by="one of the 108 cells that is another",
        remark="The map's entries tell their indices; Figure 1's case, w_32, is column 6.",
    ),
]  # fmt: skip
