r"""Lemma A1 (van der Sluis): scaling the columns to norm one is nearly optimal.

Full column rank is not needed, only columns that are not zero; the factor of the squares is the
largest eigenvalue of the scaled Gram matrix, which is at most its trace n.  At full rank
:math:`(\sqrt n - 1)^2 + \tfrac54` will do, and n/2 for two to five columns, as
:mod:`theory.lange2022.theorem_4` shows.

*Why.*  Let F have columns :math:`f_i`, E divide each by its norm, and :math:`D_0` be nonsingular.

- above: :math:`\|F E x\|^2 \le n \|x\|^2`, whatever F is, since a sum of n vectors squared is at
  most n times the sum of the squares;
- below: where :math:`D_0 F^\top F D_0 \ge a` at the vector :math:`D_0^{-1} y`, and the diagonal
  of that matrix is at most b there, :math:`b \|F y\|^2 \ge a \sum_i \|f_i\|^2 y_i^2`; with
  :math:`y = E x` the right side is :math:`a \|x\|^2`.

So :math:`\lambda_{\max} \le n` and :math:`\lambda_{\min} \ge a/b`: the lemma, with a and b the
extreme eigenvalues of :math:`D_0 F^\top F D_0`, whose diagonal lies between them.

Nothing is better than what vectors of equal entries show: for :math:`|y_i| = |z_i|`,

.. math:: a D_0^{-2} \le F^\top F \le b D_0^{-2} \text{ implies }
          b\, y^\top F^\top F y \ge a\, z^\top F^\top F z

at those two vectors.  Under Property A, at full column rank, the extreme eigenvectors of the scaled
matrix are such, which makes the scaling optimal.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.lange2022.texts import of_layers, sharper_forms
from theory.language.arrays import norm2, smallest_square, transpose
from theory.language.expression import Expression, Letter, Operation, Sort, equal, named, number
from theory.language.operations import sqrt
from theory.layer import (
    column_squares,
    d0,
    features,
    frobenius2,
    kappa2_scaled,
    largest_scaled,
    n,
    ratio,
    reciprocal,
    squares,
    tail,
    times_diag,
)
from theory.statement import REFUTED, SUPPORTED, Form, assume

A = Letter("A", "A", Sort.MATRIX, lambda layer: layer.H)
F = Letter("F", "F", Sort.MATRIX, lambda layer: layer.H)
"""The same matrix, by the letter of the steps."""
UNIT_COLUMNS = named(r"\kappa(A D)^2", kappa2_scaled(A, reciprocal(column_squares(A))))
OTHER = named(r"\kappa(A D_0)^2", kappa2_scaled(A, squares(tail(d0))))
FACTOR = named(
    r"\lambda_{\max}(D A^\top A D)", largest_scaled(transpose(A) @ A, reciprocal(column_squares(A)))
)


def one_column_left(layer: Any) -> Any:
    """Let all but the first entry of D_0 be zero."""
    scaling = layer.scaling * 0
    scaling[1] = layer.scaling[1]
    return replace(layer, scaling=scaling)


OTHER_ENTRIES = Letter(
    "(d_3, ..., d_{n+1})", r"(d_3, \dots, d_{n+1})", Sort.VECTOR,
    lambda layer: layer.scaling[2:] if len(layer.scaling) > 2 else 0 * layer.scaling[1:],
)  # fmt: skip
FULL_COLUMN_RANK = assume(smallest_square(A) > 0, words=r"A \text{ has full column rank}")
NO_ZEROS = assume(
    column_squares(A) > 0, printed=False, words=r"\text{no column of } A \text{ is zero}"
)
NONSINGULAR = assume(squares(tail(d0)) > 0, printed=False, words=r"D_0 \text{ is nonsingular}")
SINGULAR = assume(
    equal(OTHER_ENTRIES, 0), impose=one_column_left,
    words=r"D_0 = \operatorname{diag}(d, 0, \dots, 0)", printed=False,
)  # fmt: skip
AT_LEAST_TWO, UP_TO_TWO, UP_TO_FIVE = (
    assume(says, printed=False) for says in (n >= 2, n <= 2, n <= 5)
)

lemma = of_layers("App. A, Lemma A1", "L-lemma-A1")
QUOTE = r"\kappa(AD)\leq\sqrt{n}\min"

PRINTED = lemma(
    "", 562, QUOTE, "scaling the columns to norm one is nearly optimal",
    UNIT_COLUMNS <= n * OTHER, hypotheses=(FULL_COLUMN_RANK, NONSINGULAR), expected=SUPPORTED,
    remark="D = diag(1/‖a₁‖, ..., 1/‖aₙ‖) and D₀ = diag(d₂, ..., dₙ₊₁); the first entry of d is"
    " not used. The text has the minimum over D₀; here it is a bound for each D₀.",
)  # fmt: skip
sharper = sharper_forms(PRINTED, expected=SUPPORTED, remark=PRINTED.remark)
LEMMA = [
    PRINTED,
    replace(
        PRINTED, id="L-lemma-A1/zeros", title="scaling the columns to norm one is nearly optimal,"
        " for a scaling with zeros",
        hypotheses=(FULL_COLUMN_RANK, SINGULAR), expected=REFUTED, form=Form.READING,
        corrected_by=PRINTED.id,
        remark="The paper's κ, over the nonzero singular values, is one for a single column. The"
        " first entry of d is not used: D₀ = diag(d₂, ..., dₙ₊₁).",
    ),
    sharper(
        "any-rank", "scaling the columns to norm one, without full column rank",
        hypotheses=(NO_ZEROS, NONSINGULAR)
    ),
    sharper(
        "by-largest", "scaling the columns to norm one, the factor by the scaled Gram matrix",
        says=UNIT_COLUMNS <= FACTOR * OTHER, hypotheses=(NO_ZEROS, NONSINGULAR),
    ),
    sharper(
        "near-root", "scaling the columns to norm one, at full rank",
        says=UNIT_COLUMNS <= ((sqrt(features) - 1) ** 2 + number(5) / 4) * OTHER,
    ),
    sharper(
        "five-columns", "scaling two to five columns to norm one",
        says=2 * UNIT_COLUMNS <= n * OTHER,
        hypotheses=(FULL_COLUMN_RANK, NONSINGULAR, AT_LEAST_TWO, UP_TO_FIVE),
    ),
    sharper(
        "two-columns", "scaling two columns to norm one", says=UNIT_COLUMNS <= OTHER,
        hypotheses=(FULL_COLUMN_RANK, NONSINGULAR, UP_TO_TWO),
    ),
]  # fmt: skip


def _differences(A: Any) -> Any:
    """Return the differences of columns beside each other, with a column of zeros."""
    xp, n = array_namespace(A), A.shape[1]
    found = [A[:, i : i + 1] - A[:, j : j + 1] for i in range(n) for j in range(i)]
    return xp.concat([0 * A[:, :1], *found], axis=1)


column_differences = Operation(
    "differences of columns", _differences, r"\big[{0:atom}_i - {0:atom}_j\big]_{{i > j}}",
    gives=Sort.MATRIX, takes=(Sort.MATRIX,),
)  # fmt: skip


def _flipped(vector: Any) -> Any:
    return array_namespace(vector).concat([-vector[:1], vector[1:]])


y = Letter("y", "y", Sort.VECTOR, lambda layer: layer.direction[1:])
z = Letter("z", "z", Sort.VECTOR, lambda layer: _flipped(layer.direction[1:]), r"|z_i| = |y_i|")
"""The vector y with its first entry's sign changed."""
lowest = Letter("a", "a", Sort.NUMBER, lambda layer: layer.step / layer.q, "a > 0")
highest = Letter(
    "b", "b", Sort.NUMBER,
    lambda layer: layer.free[0] ** 2 * (layer.H * layer.H).sum() * (layer.scaling**2).sum(),
    r"b \ge 0",
)  # fmt: skip
"""Any number, and often as large as the hypotheses need."""
PIECES = times_diag(F, y)
DIAGONAL = named(r"\sum_i\|f_i\|^2 y_i^2", frobenius2(PIECES))


def in_scaling(vector: Expression) -> Expression:
    r"""Return :math:`\|D_0^{-1} y\|^2`."""
    return norm2(named(r"D_0^{{-1}} {0:product}", ratio(vector, tail(d0)), vector))


AT_LEAST_A = assume(norm2(F @ y) >= lowest * in_scaling(y), printed=False)
AT_MOST_B = assume(norm2(F @ z) <= highest * in_scaling(z), printed=False)
DIAGONAL_AT_MOST_B = assume(DIAGONAL <= highest * in_scaling(y), printed=False)

step = of_layers(
    "App. A, Lemma A1", "L-lemma-A1", form=Form.SHARPENED, amends="L-lemma-A1",
    remark="A step of a proof that the paper cites.",
)  # fmt: skip
STEPS = [
    step(
        "/step-above", 562, QUOTE, "the scaled matrix from above",
        norm2(F @ y) <= n * DIAGONAL, because=frobenius2(column_differences(PIECES)),
    ),
    step(
        "/step-below", 562, QUOTE, "the scaled matrix from below",
        highest * norm2(F @ y) >= lowest * DIAGONAL,
        hypotheses=(AT_LEAST_A, DIAGONAL_AT_MOST_B),
        because=highest * AT_LEAST_A.slack + lowest * DIAGONAL_AT_MOST_B.slack,
    ),
    step(
        "", 207, "so-called Property A", "why the scaling is optimal under Property A",
        highest * norm2(F @ y) >= lowest * norm2(F @ z),
        id="L-thm-4-remarks/step-property-A", result="L-thm-4-remarks",
        amends="L-thm-4-remarks/property-A", place="Sect. 3.3, after Theorem 4",
        hypotheses=(AT_LEAST_A, AT_MOST_B),
        because=highest * AT_LEAST_A.slack + lowest * AT_MOST_B.slack,
        remark="The dual certificate that makes the scaling by D optimal under Property A.",
    ),
]  # fmt: skip

CLAIMS = [*LEMMA, *STEPS]
