r"""The proof of Theorem 4.2: the Hessian of the network, (19) to (42), and its form, (43) to (49).

Operators are applied to any direction u; M is the matrix of ones.

(21) is a column times a column: it has to be read as (23) and (32) have it, [...] times the
transpose of the derivative; the printed order gives the transpose of the right matrix, and a
Hessian that is not symmetric.  With eps > 0, (28) and (29) fall, since gamma/sigma is
gamma sqrt(m) (c'c + m eps)^(-1/2) for the centred batch c; so do (44) and (45), as yhat has squared
norm m (1 - eps/sigma^2) and I - M/m - yhat yhat'/m is no projection; and with them (48), (49).
"""

from dataclasses import replace

from theory import batchnorm
from theory.language.expression import (
    Expression,
    Primitive,
    Sort,
    along,
    equal,
    gradient,
    named,
    number,
)
from theory.language.operations import average, centred, dot, norm2, row, sqrt
from theory.santurkar2018.chosen import with_hints
from theory.santurkar2018.equations import displayed, garbled
from theory.santurkar2018.letters import (
    ALONG,
    EPS,
    MOVED,
    PARTIAL,
    YY,
    H,
    M,
    gbar,
    hessian_form,
    off_mean,
    off_yhat,
    project,
)
from theory.statement import PROVED, REFUTED
from theory.unit import (
    BN,
    L,
    beta,
    deviation,
    eps,
    g,
    gamma,
    hessian,
    m,
    normalize,
    one,
    partial,
    sigma,
    u,
    variable,
    y,
    yhat,
    z,
)

PROOF = "App. C.2, proof of Theorem 4.2"
equation = displayed(PROOF, "S-steps")


def slope(at: Expression) -> Expression:
    """Return the loss's gradient at an output of the layer."""
    return gradient(L(variable), variable, at=at)


def bracket(yhat: Expression, g: Expression) -> Expression:
    """Return the bracket of Fact C.1."""
    return m * g - m * average(g) * one - yhat * dot(g, yhat)


yhat_of_z = named(r"\hat y(z)", 1 / gamma * (z - beta * one))
"""The normalised batch as a function of the layer's output."""
THROUGH_Z = gamma / (m * sigma) * along(bracket(yhat_of_z, slope(z)), z, MOVED)
OF_SCALE = gradient(gamma / deviation(y), y)
ALONG_YHAT = along(yhat_of_z * dot(yhat_of_z, slope(z)), z, u)
TITLE = "the Hessian of the network: "

NINETEEN = equation(
    {19: ((470, r"{\hat{y}_{j}}^{(b)}\left\langle{\bm{\hat{g}_{j}}}"),
          (240, r"\hat{y}_j^{(b)} \left\langle"))},
    equal(
        hessian(u),
        along(gamma / (m * deviation(y)) * bracket(normalize(y), slope(BN(y))), y, u),
    ),
    title=TITLE + "the gradient, differentiated",
    remark="Both texts print the entry ŷ^(b) for the vector ŷ, which (20) has.",
)  # fmt: skip
TWENTY_ONE = equation(
    {20: ((472, r"\right)\cdot\frac{\partial\bm{z_{q}}}{\partial\bm{y_{j}}} (20)"),
          (245, r"\cdot \frac{\partial z_q}{\partial y_j}")),
     21: ((473, r"\left(\frac{\gamma}{m\sigma_{j}}\right)\right)\cdot\left("),
          (248, r"\left(\frac{\gamma}{m\sigma_i} \right) \right) \cdot"))},
    equal(
        hessian(u),
        THROUGH_Z + bracket(yhat, g) * dot(gradient(gamma / (m * deviation(y)), y), u),
    ),
    title=TITLE + "the product rule",
    remark="(21) prints a column times a column. Read as (23) and (32) write it: the bracket times"
    " the transposed derivative. z_q is z_j.",
)  # fmt: skip
TWENTY_THREE = equation(
    {22: ((475, r"\bm{H}_{{jj}}-\frac{\partial\bm{\mu_{("),
          (253, r"\boldsymbol{H}_{jj} - \frac{\partial \boldsymbol{\mu}")),
     23: ((476, r"\left(\frac{\gamma}{\sigma_{j}}\right)\right) (23)"),
          (256, r"\left(\frac{\gamma}{\sigma_{j}} \right) \right)"))},
    equal(
        hessian(u),
        gamma / sigma * (
            H(MOVED)
            - along(average(slope(z)) * one, z, MOVED)
            - along(1 / m * yhat_of_z * dot(slope(z), yhat_of_z), z, MOVED)
        )
        + (g - average(g) * one - 1 / m * yhat * ALONG) * dot(OF_SCALE, u),
    ),
    title=TITLE + "its three terms",
)  # fmt: skip
PRODUCT_RULE = [
    *NINETEEN.with_epsilon(PROVED),
    *TWENTY_ONE.with_epsilon(PROVED),
    IN_ORDER := replace(
        TWENTY_ONE,
        id="S-eq-20-21/printed-order",
        says=equal(
            hessian(u),
            THROUGH_Z + gradient(gamma / (m * deviation(y)), y) * dot(bracket(yhat, g), u),
        ),
        title=TITLE + "the product rule, in the printed order",
        expected=REFUTED,
        corrected_by=TWENTY_ONE.id,
        remark="The derivative times the transposed bracket.",
    ),
    IN_ORDER.under(EPS, REFUTED, corrected_by=f"{TWENTY_ONE.id}/eps"),
    *TWENTY_THREE.with_epsilon(PROVED),
]

OF_TERMS = {"result": "S-eq-24-33"}
ROOT = sqrt(norm2(centred(y)))
SQUARES_WITH_EPSILON = norm2(centred(y)) + m * eps
WITHOUT_EPSILON = "The line puts in σ without ϵ; with ϵ put in too, it is the corrected form."
AT_GAMMA_0 = "At γ = 0 both sides are undefined."
MEAN = equation(
    {24: ((480, r"=\frac{1}{m}\bm{1}"), (261, r"\frac{1}{m} \mathbf{1} \cdot \mathbf{1}^{\top}"))},
    equal(along(average(slope(z)) * one, z, u), 1 / m * M(H(u))),
    title="the derivative of the gradient's mean",
    **OF_TERMS,
)
THROUGH_YHAT = equation(
    {25: ((481, r"=\frac{1}{\gamma}\frac{\partial}{\partial\bm{\hat{y}}_{j}}"),
          (264, r"= \frac{1}{\gamma} \frac{\partial}{\partial \hat{\mathbf{y}}_{j}}"))},
    equal(
        ALONG_YHAT,
        1 / gamma * along(yhat * dot(yhat, slope(gamma * yhat + beta * one)), yhat, u),
    ),
    title="the gradient's part along ŷ, differentiated through ŷ",
    remark=AT_GAMMA_0,
)  # fmt: skip
PART = equation(
    {26: ((482, r"+\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}\bm{H}_{{jj}}"),
          (267, r"\hat{\mathbf{y}}_j \hat{\mathbf{y}}_j^{\top} \mathbf{H}_{jj}")),
     27: ((483, r"+\frac{1}{\gamma}\bm{\hat{y}}_{j}"),
          (270, r"\frac{1}{\gamma} \boldsymbol{I}"))},
    equal(ALONG_YHAT, 1 / gamma * u * ALONG + YY(H(u)) + 1 / gamma * yhat * dot(g, u)),
    id="S-eq-27",
    title="the gradient's part along ŷ, differentiated",
    remark=AT_GAMMA_0,
    **OF_TERMS,
)  # fmt: skip
ROOT_POWER = equation(
    {28: ((484, r"^{-\frac{1}{2}}"), (273, r"^{-\frac{1}{2}}"))},
    equal(OF_SCALE, gamma * sqrt(m) * gradient(1 / ROOT, y)),
    title="the scale as a power of the centred batch's norm",
)
CUBE_POWER = equation(
    {29: ((485, r"^{-\frac{3}{2}}"), (276, r"^{-\frac{3}{2}}"))},
    equal(
        OF_SCALE,
        -(number(1) / 2 * gamma * sqrt(m)) / (norm2(centred(y)) * ROOT) * (2 * centred(y)),
    ),
    title="the scale's gradient, by the batch",
)
SCALE_GRADIENT = equation(
    {30: ((486, r"=-\frac{\gamma}{m\sigma^{2}}"), (279, r"= -\frac{\gamma}{m\sigma^2}"))},
    equal(OF_SCALE, -(gamma / (m * sigma**2) * yhat)),
    title="the scale's gradient",
    **OF_TERMS,
)
TERMS = [
    *MEAN.with_epsilon(PROVED),
    *THROUGH_YHAT.with_epsilon(PROVED),
    *PART.with_epsilon(PROVED),
    ROOT_POWER,
    ROOT_SHARED := ROOT_POWER.under(EPS, REFUTED, remark=WITHOUT_EPSILON),
    ROOT_SHARED.corrected(
        says=equal(OF_SCALE, gamma * sqrt(m) * gradient(1 / sqrt(SQUARES_WITH_EPSILON), y)),
    ),
    CUBE_POWER,
    CUBE_SHARED := CUBE_POWER.under(EPS, REFUTED, remark=WITHOUT_EPSILON),
    CUBE_SHARED.corrected(
        says=equal(
            OF_SCALE,
            -(number(1) / 2 * gamma * sqrt(m))
            / (SQUARES_WITH_EPSILON * sqrt(SQUARES_WITH_EPSILON))
            * (2 * centred(y)),
        ),
    ),
    *SCALE_GRADIENT.with_epsilon(PROVED, REFUTED),
]


def factor(x: Expression) -> Expression:
    """Return the bracket of (31), a matrix, applied to a vector."""
    return m * H(x) - M(H(x)) - 1 / gamma * ALONG * x - YY(H(x)) - 1 / gamma * yhat * dot(g, x)


REST = gamma / (m * sigma**2) * (g - average(g) * one - 1 / m * yhat * ALONG) * dot(yhat, u)
COLLECTED = (
    m * H(u)
    - M(H(u))
    - YY(H(u))
    - H(M(u))
    + 1 / m * M(H(M(u)))
    + 1 / m * YY(H(M(u)))
    - H(YY(u))
    + 1 / m * M(H(YY(u)))
    + 1 / m * YY(H(YY(u)))
)
BENDING = (
    g * dot(yhat, u)
    - average(g) * one * dot(yhat, u)
    - number(3) / m * YY(u) * ALONG
    + ALONG * off_mean(u)
    + yhat * dot(g, off_mean(u))
)
PUT_IN = equation(
    {31: ((490, r"(m\bm{H}_{{jj}}-\bm{1}\cdot\bm{1}^{\top}\bm{H}_{{jj}}"),
          (283, r"- \mathbf{1} \cdot \mathbf{1}^{\top} \boldsymbol{H}_{jj}")),
     32: ((491, r"\right)\bm{\hat{y}}_{j}^{\top} (32)"),
          (286, r"\right) \hat{\boldsymbol{y}}_{j}^{\top}"))},
    equal(hessian(u), gamma / (m * sigma) * factor(MOVED) - REST),
    title=TITLE + "the terms put in",
)  # fmt: skip
BY_FACT_C2 = equation(
    {34: ((499, r"m\bm{H}_{{jj}}-\bm{M}\bm{H}_{{jj}}-\frac{1}{\gamma}\bm{I}"),
          (295, r"m\boldsymbol{H}_{jj} - \boldsymbol{M}\boldsymbol{H}_{jj}")),
     35: ((500, r"-\frac{1}{m}\bm{M}\bm{H}_{{jj}}\bm{M}"),
          (297, r"- \frac{1}{m} \boldsymbol{M} \boldsymbol{H}_{jj} \boldsymbol{M}")),
     36: ((501, r"\bm{\hat{g}_{j}}^{\top}\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}"), None),
     37: ((502, r"\right)\bm{\hat{y}}_{j}^{\top} (37)"),
          (301, r"\hat{\boldsymbol{y}}_{j}^{\top} \tag{37}"))},
    equal(
        hessian(u),
        gamma**2 / (m * sigma**2) * (
            factor(u) - 1 / m * factor(M(u)) - 1 / m * factor(YY(u))
        )
        - REST,
    ),
    title=TITLE + "the Jacobian put in",
)  # fmt: skip
SUMMED = equation(
    {38: ((506, r"\biggl{[}m\bm{H}_{{jj}}-\bm{M}\bm{H}_{{jj}}"), None),
     39: ((507, r"\biggr{]} (39)"), None),
     40: ((508, r"-\frac{3}{m}\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}"),
          (307, r"- \frac{3}{m}\hat{\boldsymbol{y}}_{j}\hat{\boldsymbol{y}}_{j}^{\top}"))},
    equal(
        hessian(u),
        gamma**2 / (m * sigma**2) * COLLECTED - gamma / (m * sigma**2) * BENDING,
    ),
    title=TITLE + "the terms collected",
)  # fmt: skip
FULL = equation(
    {41: ((509, r"-\frac{1}{m}\bm{M}\right)"), None),
     42: ((510, r"-\frac{3}{m}\bm{\hat{y}}_{j}"), None)},
    equal(
        hessian(u),
        gamma**2 / sigma**2 * (
            project(H(project(u)))
            - 1 / (m * gamma) * (
                gbar * dot(yhat, u)
                + yhat * dot(gbar, u)
                - number(3) / m * yhat * ALONG * dot(yhat, u)
                + ALONG * off_mean(u)
            )
        ),
    ),
    result="S-eq-41-42",
    title="the Hessian of the network",
    remark="At γ = 0 the right side is undefined as it is printed.",
)  # fmt: skip
library_hessian = Primitive(
    "batchnorm.hvp",
    lambda unit, y, g, u: batchnorm.hvp(y, g, unit.H, u, unit.gamma, unit.eps),
    r"\mathtt{{batchnorm.hvp}}({0}, {1}, H, {2}, \gamma, \epsilon)",
    gives=Sort.VECTOR,
)
"""The formula that this library ships."""

HESSIAN = [
    *PUT_IN.with_epsilon(PROVED, REFUTED),
    *BY_FACT_C2.with_epsilon(PROVED, REFUTED),
    garbled(
        BY_FACT_C2,
        PROOF,
        {36: (299, r"\hat{\boldsymbol{y}}_{j} \right) \right) \tag{36}")},
        "The last term of (36) ends in the vector ŷ, without its transpose: a vector among"
        " matrices",
    ),
    *SUMMED.with_epsilon(PROVED, REFUTED),
    garbled(
        SUMMED,
        PROOF,
        {38: (305, r"m\boldsymbol{H}_{jj} - \boldsymbol{M}\boldsymbol{H}_{jj}")},
        "(38) and (39) have run together into one line with two terms twice, two missing and a"
        " bracket closed twice",
    ),
    *FULL.with_epsilon(PROVED, REFUTED),
    garbled(
        FULL,
        PROOF,
        {41: (309, r"- \frac{1}{m}\boldsymbol{M}"), 42: (311, r"\widehat{\boldsymbol{g}}")},
        "The conversion ends line (41) with '- M/m )', a bracket that nothing opens, and has lost"
        " the bar over the first g of line (42)",
        name="S-eq-41-42-supp",
    ),
    FULL.under(EPS, PROVED).sharpened(
        "shipped",
        title="the Hessian, by this project's function",
        says=equal(hessian(u), library_hessian(y, g, u)),
    ),
]

IDENTITIES = {"result": "S-eq-43-47"}
FORTY_THREE = equation(
    {43: ((514, r"\bm{M}\overline{\bm{\hat{g}_{j}}}"), (315, r"M\overline{\hat{g}_j}"))},
    equal(M(gbar), 0),
    title="the centred gradient has no mean",
    **IDENTITIES,
)
FORTY_FOUR = equation(
    {44: ((515, r"\left(I-\frac{1}{m}\bm{M}"), (317, r"\left(I - \frac{1}{m}\boldsymbol{M}"))},
    equal(project(project(u)), project(u)),
    title="the projection is idempotent",
    **IDENTITIES,
)
FORTY_FIVE = equation(
    {45: ((516, r"=\bm{0}"), (320, r"= \mathbf{0}"))},
    equal(off_yhat(yhat), 0),
    title="the projection annihilates ŷ",
    **IDENTITIES,
)
FORTY_SIX = equation(
    {46: ((517, r"\overline{\bm{\hat{g}_{j}}}"), (323, r"\overline{\hat{\boldsymbol{g}}_{j}}"))},
    equal(off_mean(off_yhat(gbar)), off_yhat(gbar)),
    title="the centred gradient without its part along ŷ has mean zero",
    **IDENTITIES,
)
FORTY_SEVEN = equation(
    {47: ((521, r"\frac{\gamma}{\sigma}\overline"), (328, r"\frac{\gamma}{\sigma} \overline"))},
    equal(partial, gamma / sigma * off_yhat(gbar)),
    title="the gradient as a projection",
    **IDENTITIES,
)
FORM = [
    *FORTY_THREE.with_epsilon(PROVED),
    *FORTY_FOUR.with_epsilon(REFUTED, PROVED, "S-eq-44/eps/corrected"),
    FORTY_FOUR.under(EPS, REFUTED).corrected(
        title="what the square of I - M/m - ŷŷᵀ/m is",
        says=equal(project(project(u)), project(u) - eps / (m * sigma**2) * YY(u)),
    ),
    *FORTY_FIVE.with_epsilon(REFUTED, PROVED, "S-eq-45/eps/corrected"),
    FORTY_FIVE.under(EPS, REFUTED).corrected(
        title="what I - ŷŷᵀ/m leaves of ŷ", says=equal(off_yhat(yhat), eps / sigma**2 * yhat)
    ),
    *FORTY_SIX.with_epsilon(PROVED, PROVED),
    *FORTY_SEVEN.with_epsilon(PROVED, REFUTED),
    FORTY_NINE := equation(
        {48: ((525, r"=\frac{\gamma^{4}}{\sigma^{4}}\overline{"), None),
         49: ((526, r"\frac{\gamma^{3}}{m\sigma^{4}}\overline"),
              (336, r"-\frac{\gamma^3}{m\sigma^4} \overline"))},
        equal(
            hessian_form(PARTIAL),
            gamma**4 / sigma**4 * row(off_yhat(gbar), H(off_yhat(gbar)))
            - gamma**3 / (m * sigma**4) * row(gbar, off_yhat(gbar)) * ALONG,
        ),
        title="the Hessian along the gradient, expanded",
    ),
    FORTY_NINE.under(EPS, REFUTED, corrected_by="S-thm-4.2a/eps/corrected"),
    garbled(
        FORTY_NINE,
        PROOF,
        {48: (333, r"\frac{\gamma^4}{\sigma^4} \widehat{\boldsymbol{g_j}}^{\top}")},
        "(48) has lost the bar over g, which (47) before it and (49) after it have",
    ),
]  # fmt: skip

CLAIMS = with_hints([*PRODUCT_RULE, *TERMS, *HESSIAN, *FORM])
