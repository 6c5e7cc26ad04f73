r"""Algorithm 1, Batch Normalization before and after the weights; and batch renormalization, (3).

The output of the algorithm is printed as a function of an A, which occurs nowhere else; it is left
out.  Normalizing after the weights, "pre-activation", is another network: it is post-activation
with the weights :math:`\operatorname{diag}(1/\sigma_{HW^\top})\,W\operatorname{diag}(\sigma_H)`,
whose rows have forgotten their lengths.

Both formulas of (3) have the same values, and with an epsilon in the denominators as long as s has
it too.  They have different derivatives: with s and d fixed the formula for training has

.. math:: \frac\gamma\sigma\Big(u - \bar u\,1 - \tfrac1N\hat y\langle\hat y, u\rangle\Big),

the one for inference :math:`\gamma u/\sigma`.
"""

from theory.lange2022.texts import of_layers
from theory.language.arrays import transpose
from theory.language.expression import Expression, Letter, Sort, along, equal, named
from theory.layer import (
    B01,
    BN,
    B01_eps,
    C,
    H,
    N,
    W,
    alpha,
    beta,
    column_products,
    deviation,
    deviation_eps,
    deviations,
    e,
    eps,
    gamma,
    mean,
    means,
    mu,
    ones,
    outer,
    over_diag,
    q,
    ratio,
    sigma,
    times_diag,
    variance,
    variances,
)
from theory.statement import REFUTED, Form, Reading, assume

SPREAD = assume(variances > 0, printed=False)
"""No feature is constant on the batch; so N >= 2."""
A = H @ transpose(W)
OUTPUTS_SPREAD = assume(variance(A) > 0, printed=False)
X = Letter("X", "X", Sort.MATRIX)
V = Letter(
    "V", "V", Sort.MATRIX, lambda layer: layer.curvature[:, None] * layer.direction[1:],
    r"V \text{ of rank one}",
)  # fmt: skip
"""A direction; matrices of rank one span the others."""
"""A direction for the batch."""


def in_training(inputs: Expression, s: Expression, d: Expression) -> Expression:
    """Return what batch renormalization makes of normalized inputs, (3)."""
    return times_diag(times_diag(inputs, s) + outer(e, d), gamma) + outer(e, beta)


DENOMINATOR = deviation_eps(H, eps)
s, d = ratio(deviations, sigma), ratio(means - mu, sigma)
INFERENCE = times_diag(over_diag(H - outer(e, mu), sigma), gamma) + outer(e, beta)


def slope(direction: Expression) -> Expression:
    """Return the derivative of the formula for training along a direction, s and d fixed."""
    formula = in_training(B01(X), named("s", s), named("d", d))
    return along(formula, X, direction, at=H)


section_2 = of_layers("Sect. 2, Batch Normalization", "L-alg-1")


CLAIMS = [
    STEPS := section_2(
        "", 55, "(Centering and scaling)", "the steps of Batch Normalization",
        equal(
            times_diag(over_diag(C, DENOMINATOR), gamma) + outer(e, beta), BN(H, gamma, beta, eps)
        ),
        reading=Reading.SHARED_EPSILON,
        remark="(2) has no ϵ; the text after it says that its denominator has one in practice.",
    ),
    PRE_ACTIVATION := section_2(
        "/pre-activation", 49, "Note that BN can be implemented as",
        "normalizing before and after the weights",
        equal(B01(A), B01(H) @ transpose(W)),
        hypotheses=(SPREAD, OUTPUTS_SPREAD), expected=REFUTED, form=Form.BOUNDARY,
        remark="The text does not say that both are equal: it names another form of the method.",
    ),
    PRE_ACTIVATION.corrected(
        says=equal(B01(A), over_diag(times_diag(B01(H), deviations) @ transpose(W), deviation(A))),
    ),
    RENORMALIZED := section_2(
        "/renormalization", 62,
        r"\gamma\left(\frac{h^{(\ell-1)}-\mu_{H}}{\sigma_{H}}s+d\right)+\beta",
        "both formulas of batch renormalization",
        equal(in_training(B01(H), s, d), INFERENCE), hypotheses=(SPREAD,),
    ),
    UNGUARDED := section_2(
        "/renormalization-eps", 62, RENORMALIZED.locations[0].quote,
        "batch renormalization with an epsilon in the denominators alone",
        equal(in_training(B01_eps(H, eps), s, d), INFERENCE),
        reading=Reading.SHARED_EPSILON, expected=REFUTED, form=Form.READING,
    ),
    UNGUARDED.corrected(
        title="batch renormalization with an epsilon in the denominators and in s",
        says=equal(in_training(B01_eps(H, eps), ratio(DENOMINATOR, sigma), d), INFERENCE),
    ),
    SLOPES := section_2(
        "/renormalization-gradients", 64, "with gradients passing through them",
        "the gradients of both formulas of batch renormalization",
        equal(slope(V), over_diag(times_diag(V, gamma), sigma)),
        hypotheses=(SPREAD,), expected=REFUTED, form=Form.BOUNDARY,
        remark="The text says that the formulas differ in the gradients that pass through them.",
    ),
    SLOPES.corrected(
        says=equal(
            slope(V),
            times_diag(
                V - outer(e, mean(V)) - 1 / N * times_diag(B01(H), column_products(B01(H), V)),
                ratio(gamma, sigma),
            ),
        ),
    ),
    SLOPES.sharpened(
        "two-examples", says=equal(slope(q * outer(e, ones) + alpha * C), 0),
        title="directions that batch renormalization does not see",
        remark="A column of two examples has no others: without ϵ batch renormalization of two"
        " examples passes no gradient on to the layers below. With ϵ it passes a little.",
    ),
]  # fmt: skip
