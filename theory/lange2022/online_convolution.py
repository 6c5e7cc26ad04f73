r"""Sect. 4, online learning: with one example a convolution layer has r s rows.

For a dense layer :math:`\hat H` has one row and :math:`\kappa = 1`.  A convolution's
:math:`\hat{\mathcal H}` has r s rows and k^2 c + 1 columns, so the preconditioning can help: for
k = c = 1 it makes :math:`\kappa = 1`.  "By Theorem 4" needs full column rank, so
:math:`rs \ge k^2 c + 1`: 32 x 32 maps of 32 channels with k = 3 have it (289 rows at least), those
of 8 x 8 pixels cannot, and then the centring may make :math:`\kappa` larger.
"""

from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.arithmetic.spectra import squared_condition_number, squared_singular_values
from theory.lange2022.texts import at
from theory.lange2022.unfolding import augmented
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def first_example(maps: Maps) -> Any:
    """The unfolded matrix of one example and at most two channels."""
    return augmented(maps.h[:1, :2, :, :], maps.w.shape[-1])


def centred(matrix: Any) -> Any:
    """The matrix times U, with the exact means of its columns."""
    return matrix @ preconditioning.centring(preconditioning.means(matrix[:, 1:]))


def one_example(maps: Maps) -> Sides:
    """Squares of the condition numbers after the centring and before."""
    matrix = first_example(maps)
    return Sides(squared_condition_number(centred(matrix)), squared_condition_number(matrix))


def one_weight(maps: Maps) -> Any:
    """The unfolded matrix of one example and one channel, for a kernel of one entry."""
    return augmented(maps.h[:1, :1, :, :], 1)


def centred_gram(maps: Maps) -> Sides:
    """The Gram matrix after the centring, and the rows times 1 and the variance."""
    matrix = one_weight(maps)
    after = centred(matrix)
    gram, count = after.T @ after, matrix.shape[0] + 0 * maps.q
    spread = count * preconditioning.variances(matrix[:, 1:])[0]
    xp = array_namespace(maps.h)
    return Sides(
        xp.stack([gram[0, 0], gram[0, 1], gram[1, 1]]), xp.stack([count, 0 * count, spread])
    )


def improves(maps: Maps) -> Sides:
    """Squares of the condition numbers: one, and that before."""
    return Sides(1 + 0 * maps.q, squared_condition_number(one_weight(maps)))


FULL_COLUMN_RANK = Hypothesis(
    r"\hat{\mathcal H} \text{ has full column rank}",
    lambda maps: squared_singular_values(first_example(maps))[0],
    Relation.MORE_THAN,
    printed=False,
)

VARIES = Hypothesis(
    r"\sigma_H > 0",
    lambda maps: preconditioning.variances(one_weight(maps)[:, 1:])[0],
    Relation.MORE_THAN,
    printed=False,
)

OFF_CENTRE = Hypothesis(
    r"\mu_H \ne 0",
    lambda maps: preconditioning.means(one_weight(maps)[:, 1:])[0] ** 2,
    Relation.MORE_THAN,
    printed=False,
)

ONE_EXAMPLE = MatrixClaim(
    id="L-online/convolution",
    row="L-online",
    locations=at(
        406, "Sect. 4, last paragraph", "the preconditioning can still offer improvements"
    ),
    statement=r"\kappa(\hat{\mathcal H}U)^2 \le \kappa(\hat{\mathcal H})^2,\quad N = 1",
    sides=one_example,
    subject=Kind.MAPS,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    falsified_by="one map whose unfolded matrix the centring makes worse conditioned",
    remark="'By Theorem 4', which is about matrices of full column rank; with r s <= k^2 c there is"
    " none.",
)

CLAIMS = [
    ONE_EXAMPLE,
    ONE_EXAMPLE.corrected(
        hypotheses=(FULL_COLUMN_RANK,), expected=Verdict.SUPPORTED,
        remark="It needs r s > k^2 c, which the small integer maps do not have.",
    ),
    replace(
        ONE_EXAMPLE, id="L-online/one-weight", sides=centred_gram, relation=Relation.EQUAL,
        expected=Verdict.PROVED, remark="So for sigma > 0 the condition number of HhatP is 1.",
        statement=r"(\hat{\mathcal H}U)^\top\hat{\mathcal H}U ="
        r" rs\operatorname{diag}(1, \sigma^2),\quad N = k = c = 1",
        falsified_by="one map with another Gram matrix",
    ),
    replace(
        ONE_EXAMPLE, id="L-online/one-weight/improves", sides=improves, relation=Relation.LESS_THAN,
        hypotheses=(VARIES, OFF_CENTRE),
        expected=Verdict.SUPPORTED, remark="For the map (0, 2)^T from (7 + 3 sqrt 5)/2 to 1.",
        statement=r"1 = \kappa(\hat{\mathcal H}P)^2 < \kappa(\hat{\mathcal H})^2,"
        r"\quad N = k = c = 1",
        falsified_by="one map, not constant and with another mean than 0, that is as well"
        " conditioned before",
    ),
]  # fmt: skip
