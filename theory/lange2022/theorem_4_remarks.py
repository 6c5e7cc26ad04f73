r"""After Theorem 4: Property A, a chain of inequalities, and what they say of the Hessian.

*Centred data* leave nothing to centre.  *Property A* is that the features fall into two blocks of
mutually uncorrelated ones.  Then no diagonal matrix does better than D; the certificate is a step
of :mod:`theory.lange2022.lemma_a1`.  Up to two features have it always.  Without full rank, and
with the paper's :math:`\kappa`, two copies of one feature refute it.

*The chain* :math:`\kappa(\hat H U) \le \kappa(\hat G)\kappa(D)` holds at any rank, because
:math:`\kappa(AB) \le \kappa(A)\kappa(B)` does for a nonsingular B.  It is tight: for features that
are all uncorrelated :math:`\kappa(\hat G) = 1`, and all of :math:`\kappa(\hat H U) = \kappa(D)` is
gained.  D contains the bias's 1, so that :math:`\kappa(D)` depends on the unit in which the
features are measured.

*The Hessian* :math:`M = \hat H^\top S\hat H` has an S of squares :math:`s_j^2` here, of any rank.
"By as much as :math:`\kappa(D)^2`" is possible, and is a bound over the *centred* Hessian
:math:`U^\top M U`; over M itself it is none, the right one being :math:`\kappa(P)^2`.  Algorithm 2
caps the scaling by its :math:`\epsilon_1`: of two features' :math:`\tilde\sigma^2` none is more
than :math:`1 + 1/\epsilon_1 = 101` times the other.

*The rate* r is the Hessian's, and Theorem 4 is about :math:`\hat H` alone, so that nothing follows
for it.  Two examples of one feature, H = (2, -1/2) with S = diag(1, 4)/5, have M = I, and BNP makes
:math:`\kappa` 4, and r 3/5 from 0.  What the proof does imply is the same theorem with means and
variances weighted by S: the Schur complement needs no equal weights.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from theory.arithmetic.operations import none_zero
from theory.lange2022.algorithm_1 import SPREAD
from theory.lange2022.texts import of_layers
from theory.lange2022.theorem_4 import FULL_COLUMN_RANK, NONSINGULAR, in_blocks, uncorrelated
from theory.language.arrays import first, kappa2, norm2, transpose
from theory.language.expression import Binding, Expression, Letter, Operation, Sort, equal, named
from theory.language.letters import free
from theory.layer import (
    HU,
    KAPPA_CENTRED,
    KAPPA_NORMALIZED,
    KAPPA_SCALED,
    C,
    H,
    Hhat,
    I,
    N,
    U,
    augmented_variances,
    beside,
    column_squares,
    curvature,
    d0,
    diag_times,
    e,
    eps_1,
    eps_2,
    kappa2_scaled,
    last,
    last_column,
    means,
    n,
    outer,
    reciprocal,
    squares,
    variances,
)
from theory.statement import PROVED, REFUTED, SUPPORTED, Form, assume

KAPPA_D = named(r"\kappa(D)^2", kappa2_scaled(I, reciprocal(augmented_variances)))

SPREAD_BY_RANK = replace(SPREAD, printed=True)
"""What the remarks on the theorem need of its full column rank."""
LESS = "Of the theorem's full column rank no more is needed than that no feature is constant."

remark = of_layers("Sect. 3.3, after Theorem 4", "L-thm-4-remarks", expected=SUPPORTED)


def _couplings(A: Any, block: Callable[[int, int], int]) -> Any:
    """Return the sum over the columns before each one, from where its block of n columns begins."""
    scaled = A.T @ A / none_zero((A * A).sum(0), "a column is zero, so it has no correlations")
    before = ((i, slice(block(i, len(scaled)), i)) for i in range(len(scaled)))
    return sum((scaled[i, j] @ scaled[j, i] for i, j in before), 0 * scaled[0, 0])


couplings = Operation(
    "couplings", lambda A: _couplings(A, lambda i, n: 0), r"\sum_{{i < j}} r_{{ij}}({0})^2",
    takes=(Sort.MATRIX,), binds=Binding.OPERATOR,
)  # fmt: skip
"""The sum of the squares of the correlations of centred columns."""
couplings_within = Operation(
    "couplings within blocks",
    lambda A: _couplings(A, lambda i, n: 0 if i < n - n // 2 else n - n // 2),
    r"\sum_{{i < j \text{{ in a block}}}} r_{{ij}}({0})^2",
    takes=(Sort.MATRIX,),
    binds=Binding.OPERATOR,
)
"""That of the first half of them, and that of the second."""
PROPERTY_A = assume(
    equal(couplings_within(C), 0), impose=in_blocks(lambda n: (n - n // 2, n // 2)),
    words=r"\text{Property A: two blocks, the features of each uncorrelated with one another}",
)  # fmt: skip
UNCORRELATED = assume(
    equal(couplings(C), 0), impose=uncorrelated,
    words=r"\text{all features are uncorrelated}",
)  # fmt: skip

BLOCKS = [
    OPTIMAL := remark(
        "/property-A", 207, "so-called Property A", "the scaling is optimal under Property A",
        KAPPA_NORMALIZED <= KAPPA_SCALED, hypotheses=(FULL_COLUMN_RANK, NONSINGULAR, PROPERTY_A),
        remark="'Not likely to hold in practice': with one feature or two it always holds.",
    ),
    replace(
        OPTIMAL, id="L-thm-4-remarks/property-A/any-rank",
        title="Property A without full column rank", hypotheses=(NONSINGULAR, PROPERTY_A, SPREAD),
        expected=REFUTED, form=Form.BOUNDARY, corrected_by=OPTIMAL.id,
        remark="κ is over the nonzero singular values, as the paper has it, and full rank is not"
        " assumed.",
    ),
    remark(
        "/tight", 213, "each of the inequalities above is tight",
        "the most that scaling can gain", KAPPA_CENTRED >= KAPPA_D,
        hypotheses=(replace(UNCORRELATED, printed=False, is_ours=True), SPREAD_BY_RANK),
        remark="With D₀ = D, when κ(ĤUD₀) = κ(Ĝ) = 1: the improvement may be as large as κ(D).",
    ),
]  # fmt: skip


def without_means(layer: Any) -> Any:
    """Take the means off."""
    return replace(layer, H=layer.H - layer.H.sum(0) * Fraction(1, layer.H.shape[0]))


CENTRED = assume(equal(means, 0), impose=without_means)
REMARKS = [
    remark(
        "/centred", 207, "the data is already centered", "centring changes nothing in centred data",
        equal(U, I), hypotheses=(CENTRED,), expected=PROVED,
    ),
    CHAIN := remark(
        "/chain", 211, r"\kappa(\widehat{H}UD)\kappa(D)",
        "the condition number of the centred inputs by that of D: the chain's first inequality",
        KAPPA_CENTRED <= KAPPA_NORMALIZED * KAPPA_D, hypotheses=(SPREAD_BY_RANK,),
        remark=LESS,
    ),
    replace(
        CHAIN, id="L-thm-4-remarks/chain-end", title="the condition number of the centred inputs by"
        " those of D and of any scaling: the whole chain",
        says=KAPPA_CENTRED <= KAPPA_D * (n + 1) * KAPPA_SCALED,
        hypotheses=(SPREAD_BY_RANK, NONSINGULAR),
    ),
]  # fmt: skip

s = curvature


def weighted(F: Expression) -> Expression:
    """Return a matrix with its rows multiplied by the roots of S."""
    return diag_times(s, F)


M = named(r"\kappa(\hat H^\top S\hat H)", kappa2(weighted(Hhat)))
M_CENTRED = named(r"\kappa(U^\top\hat H^\top S\hat H U)", kappa2(weighted(HU)))
M_NORMALIZED = named(
    r"\kappa(\hat G^\top S\hat G)", kappa2_scaled(weighted(HU), reciprocal(augmented_variances))
)
KAPPA_P = named(r"\kappa(P)^2", kappa2_scaled(U, reciprocal(augmented_variances)))
POSITIVE = assume(
    squares(s) > 0, impose=lambda layer: replace(layer, curvature=abs(layer.curvature) + 1),
    words=r"S = \operatorname{diag}(s_1^2, \dots, s_N^2) > 0",
)  # fmt: skip
LARGEST = Letter("max", r"\max\sigma_H^2", Sort.NUMBER, free(0))
"""A number for the largest variance."""
ADDED = eps_1 * LARGEST + eps_2
IS_LARGEST = assume(first(variances) <= LARGEST, printed=False)

HESSIAN = [
    BY_AS_MUCH := remark(
        "/by-as-much", 213, "by as much as", "the improvement of the Hessian's condition number",
        M <= KAPPA_D * M_NORMALIZED, hypotheses=(FULL_COLUMN_RANK, POSITIVE),
        expected=REFUTED, form=Form.READING,
        remark="'By as much as' as an upper bound; that the condition number of ĤU improves "
        "so much where S = I and the features are uncorrelated is L-thm-4-remarks/tight.",
    ),
    BY_AS_MUCH.corrected(
        "centred", says=M_CENTRED <= KAPPA_D * M_NORMALIZED, hypotheses=(SPREAD_BY_RANK,),
        title="the improvement of the centred Hessian", expected=SUPPORTED, remark=LESS,
    ),
    BY_AS_MUCH.corrected(
        "both", says=M <= KAPPA_P * M_NORMALIZED, hypotheses=(SPREAD_BY_RANK,),
        expected=SUPPORTED, remark=LESS,
    ),
    remark(
        "/by-as-much/as-implemented", 242, "to prevent division by a number",
        "how far the regularized variances differ",
        first(variances) + ADDED < (1 + 1 / eps_1) * (last(variances) + ADDED),
        place="Sect. 3.3, after Algorithm 2", hypotheses=(IS_LARGEST,),
        because=(1 + 1 / eps_1) / N * norm2(last_column(C)) + IS_LARGEST.slack + eps_2 / eps_1,
        expected=PROVED, form=Form.SHARPENED, amends=BY_AS_MUCH.id,
        remark="With ϵ₁ = 0.01 the squares of D's entries for features differ by a factor below"
        " 101, whatever the features' variances are.",
    ),
]  # fmt: skip

MEAN_S = named(r"\mu_s", 1 / norm2(s) * (transpose(H) @ squares(s)))
F_S = beside(e, H - outer(e, MEAN_S))
M_S = named(r"\kappa(U_s^\top\hat H^\top S\hat H U_s)", kappa2(weighted(F_S)))
M_S_NORMALIZED = named(
    r"\kappa(P_s^\top\hat H^\top S\hat H P_s)",
    kappa2_scaled(weighted(F_S), reciprocal(column_squares(weighted(F_S)))),
)
M_S_SCALED = named(
    r"\kappa(D_0 U_s^\top\hat H^\top S\hat H U_s D_0)", kappa2_scaled(weighted(F_S), squares(d0))
)
RATE = [
    REDUCED := remark(
        "/reduced-r", 215, "implies reduced", "whether the rate of descent improves",
        M_NORMALIZED <= M, hypotheses=(FULL_COLUMN_RANK, POSITIVE), expected=REFUTED,
        form=Form.READING,
        remark="r grows with the Hessian's condition number (L-eq-7-8/reduced); Theorem 4 is about"
        " the inputs' alone.",
    ),
    REDUCED.corrected(
        "weighted-mean", title="the rate of descent with a mean weighted by S", says=M_S <= M,
        expected=SUPPORTED,
        remark="The mean μₛ is weighted by S: the proof of Theorem 4 with the rows multiplied by"
        " the roots of S.",
    ),
    REDUCED.corrected(
        "weighted-variance", title="the rate of descent with variances weighted by S",
        says=M_S_NORMALIZED <= n * M_S_SCALED,
        hypotheses=(FULL_COLUMN_RANK, POSITIVE, NONSINGULAR), expected=SUPPORTED,
    ),
]  # fmt: skip

CLAIMS = [*BLOCKS, *REMARKS, *HESSIAN, *RATE]
