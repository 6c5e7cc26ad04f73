r"""Theorem 4.2: the Hessian along the gradient; the words that follow it; its proof, (19) to (51).

First display.  At eps = 0 the two sides are equal, which is the proof's (50).  With eps > 0 the
gradient is no longer orthogonal to yhat, and the sign of the difference is the loss's to choose.

Second display, eq. (51), "if H preserves the relative norms" of g and of the gradient h.  With
A = g'Hg and B = h'Hh the words can be read in three ways:

- ``ratio``: the norm that H induces keeps the ratio of the two, A |h|^2 = B |g|^2;
- ``order``: it keeps their order, (|g|^2 - |h|^2)(A - B) >= 0;
- ``direct``: B <= A, which is what the proof uses.

The text leaves out that h is not longer than g, which |gamma| <= sigma gives.  With it, and A >= 0,
``ratio`` serves; ``order`` does where h is shorter.

"PSD if the loss is locally convex which is true for the case of deep networks with piecewise-linear
activation functions and a convex loss at the final layer":

- ``psd``: where no piecewise-linear unit is at its kink, and with no normalisation after this
  layer, the network is affine nearby and H = A'DA with D the convex loss's Hessian, so that
  u'Hu = (Au)'D(Au), whatever A and D are; ``psd/network`` examines such networks;
- ``kink``: "locally convex" at every point, kinks included; the loss is then convex on every
  segment;
- ``later-batchnorm``: a later layer may be a Batch Normalization, as in the networks that the
  paper trains.  Its own bending then counts, eq. (42), and no convexity of the loss outweighs it.

``descent`` reads "the negative gradient points towards the minimum of the loss" as: its inner
product with the way to a minimum u is positive.  gamma is taken positive, as the text does when it
calls gamma/sigma a scaling.

The proof: the Hessian of the network, (19) to (42), and its form along the gradient, (43) to (49).
Operators are applied to any direction u; M is the matrix of ones.  With eps > 0 yhat has the
squared norm m (1 - eps/sigma^2), so that I - M/m - yhat yhat'/m is no projection: (44) and (45)
fall, and with them (48), (49).
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm, layer
from theory.claim import Claim, Form
from theory.language.expression import (
    Expression,
    Letter,
    Primitive,
    Sort,
    along,
    equal,
    gradient,
    named,
    number,
)
from theory.language.operations import average, centred, dot, norm2, row, spread, sqrt
from theory.matrix_claim import Kind, MatrixClaim
from theory.santurkar2018.chosen import (
    beyond_the_layer,
    convex_along,
    leaning_towards_one,
    with_hints,
)
from theory.santurkar2018.letters import (
    ALONG,
    EPS,
    GRAD,
    MOVED,
    PARTIAL,
    SCALE,
    UNIT,
    YY,
    H,
    M,
    contracting,
    gbar,
    hessian,
    hessian_form,
    off_mean,
    off_yhat,
    project,
    quadratic,
)
from theory.santurkar2018.texts import displayed, final, garbled, supplement
from theory.statement import PROVED, REFUTED, SUPPORTED, assume
from theory.unit import (
    BN,
    L,
    beta,
    deviation,
    eps,
    g,
    gamma,
    grad,
    later_normalizations,
    m,
    normalize,
    one,
    partial,
    sigma,
    u,
    v,
    variable,
    y,
    yhat,
    z,
)

PROOF = "App. C.2, proof of Theorem 4.2"

BOUND = SCALE * quadratic(PARTIAL) - gamma / (m * sigma**2) * ALONG * norm2(partial)
b = dot(yhat, grad)
OFF = grad - b / m * yhat
BENT = 2 * dot(gbar, grad) * b + ALONG * (norm2(grad) - number(3) / m * b**2)

FIRST = Claim(
    id="S-thm-4.2a", title="the Hessian along the gradient",
    locations=(
        final(179, "Sect. 4.2, Theorem 4.2, first display", r"-\frac{\gamma}{m\sigma^{2}}"),
        supplement(222, "App. C.2, Theorem 4.2, first display", r"- \frac{\gamma}{m\sigma^2}"),
    ),
    says=hessian_form(GRAD) <= BOUND,
    expected=PROVED,
)  # fmt: skip
SHARED = FIRST.under(EPS, REFUTED)
CORRECTED = SHARED.corrected(
    title="the Hessian along the gradient, with epsilon",
    says=equal(hessian_form(GRAD), SCALE * quadratic(OFF) - gamma / (m * sigma**2) * BENT),
)


def isotropic(case: Any) -> Any:
    """Give the case a loss whose Hessian is a multiple of the identity, positive or zero."""
    return case.with_isotropic_loss(case.direction, (case.bound - 1) ** 2)


A, B = quadratic(g), quadratic(GRAD)
RATIO = assume(equal(A * norm2(grad), B * norm2(g)), impose=isotropic)
NOT_ZERO = assume(norm2(g) > 0, printed=False)
ORDER = assume((norm2(g) - norm2(grad)) * (A - B) >= 0, impose=isotropic)
DIRECT = assume(A >= B)
POSITIVE = assume(A >= 0, printed=False)
SHORTER = assume(norm2(g) > norm2(grad), impose=contracting, printed=False)
NOT_LONGER_GRADIENT = assume(norm2(grad) <= norm2(g), impose=contracting, printed=False)
FROM_RATIO = (
    SCALE / norm2(g) * POSITIVE.slack * NOT_LONGER_GRADIENT.slack - SCALE / norm2(g) * RATIO.slack
)

ACROSS, ACROSS_G = project(u), project(g)
PER_SQUARE = gamma**2 / (m**2 * sigma**4)
LARGEST_BENDING = 2304 * gamma**2 / (3125 * m * eps**2)
"""(48/(25 sqrt 5))^2 gamma^2/(m eps^2)."""
UBAR = centred(u)
CURVED = yhat * (number(3) / m**2 * dot(yhat, u) ** 2 - norm2(UBAR) / m) - UBAR * (
    number(2) / m * dot(yhat, u)
)
r"""sigma^2 times the second derivative of yhat along u."""
PART, REST = spread(y) / sigma**2, eps / sigma**2
r"""The variance's part of sigma^2, rho, and epsilon's, 1 - rho."""
PER_CURVED = gamma**2 / sigma**4 * norm2(gbar)
MOST_BENT = (
    number(4) / 21875 * gamma**2 / (m * eps**2)
    * (907 * REST**3 + 2416 * PART * REST**2 + 1386 * PART**2 * REST + 252 * PART**3) * norm2(gbar)
    * ((4 - 5 * REST) * norm2(UBAR)) ** 2
)  # fmt: skip
r"""With ubar, u less its mean, s = |ubar|^2/m, a = <yhat, u>^2/m^2 <= rho s and b = 4 - 3 rho, the
squared norm of the second derivative, times sigma^4/m, is rho s^2 + 2bas - 3ba^2, which is (rho +
b(1 + 2 rho)^2/7)s^2 less 4ba(rho s - a) and 7b(a - (1 + 2 rho)s/7)^2.  Times (1 - rho)^2 the number
before s^2 is at most 2304/3125; what it lacks has the factor (5 rho - 1)^2."""
QUARTER = assume(
    equal(4 * spread(y), eps),
    impose=lambda case: replace(case, eps=4 * batchnorm.variance(case.y)), printed=False,
)  # fmt: skip
YBAR = centred(y)
WITH_EPSILON = {"because": None, "corrected_by": CORRECTED.id}
DISPLAYS = [
    FIRST,
    SHARED,
    FIRST.under(UNIT, REFUTED, corrected_by=CORRECTED.id),
    CORRECTED,
    FIRST.sharpened(
        "bending", title="how much the layer itself can bend the loss",
        says=(hessian_form(u) - SCALE * quadratic(project(u))) ** 2
        <= 4 * gamma**2 / (3 * m * sigma**4) * norm2(gbar) * norm2(u) ** 2,
        because=PER_SQUARE / 3 * m * norm2(gbar) * (2 * norm2(centred(u)) - 3 * norm2(ACROSS)) ** 2
        + 4 * PER_SQUARE / 3 * norm2(gbar) * dot(one, u) ** 2 * norm2(u)
        + 4 * PER_SQUARE / 3 * norm2(gbar) * dot(one, u) ** 2 * norm2(centred(u))
        + PER_SQUARE / m * norm2(2 * ALONG * dot(yhat, u) * ACROSS - m * norm2(ACROSS) * ACROSS_G)
        + 4 * PER_SQUARE * dot(yhat, u) ** 2 * norm2(ACROSS)
        * norm2(ACROSS_G - ACROSS * (dot(ACROSS_G, ACROSS) / norm2(ACROSS))),
        attack=(leaning_towards_one,),
        remark="With the layer a linear loss is curved by at most 2/√3 |γ| ‖ḡ‖/(√m σ²), ḡ being g"
        " less its mean.",
    ),
    BENDING_SHARED := SHARED.sharpened(
        "bending", title="how much the layer itself can bend the loss, whatever the batch",
        says=(hessian_form(u) - quadratic(MOVED)) ** 2
        <= LARGEST_BENDING * norm2(gbar) * norm2(u) ** 2,
        because=MOST_BENT
        + 7 * (1 + 3 * REST) * m * PER_CURVED
        * (dot(yhat, u) ** 2 / m**2 - (1 + 2 * PART) / (7 * m) * norm2(UBAR)) ** 2
        + 4 * (1 + 3 * REST) / m**3 * PER_CURVED * dot(yhat, u) ** 2 * norm2(UBAR)
        * norm2(yhat - UBAR * (dot(yhat, u) / norm2(UBAR)))
        + PER_CURVED * norm2(CURVED - gbar * (dot(gbar, CURVED) / norm2(gbar)))
        + LARGEST_BENDING / m * norm2(gbar) * dot(one, u) ** 2 * norm2(u)
        + LARGEST_BENDING / m * norm2(gbar) * dot(one, u) ** 2 * norm2(UBAR),
        remark="With the layer a linear loss is curved by at most 48/(25 √5) |γ| ‖ḡ‖/(√m ϵ),"
        " ḡ being g less its mean; by as much where the variance is ϵ/4, and ḡ and u are multiples"
        " of y - μ.",
    ),
    BENDING_SHARED.sharpened(
        "attained", title="a batch for which the layer bends a linear loss as much as it can",
        says=equal(
            along(along(dot(YBAR, BN(variable)), variable, YBAR), variable, YBAR, at=y) ** 2,
            LARGEST_BENDING * norm2(YBAR) * norm2(YBAR) ** 2,
        ),
        hypotheses=(QUARTER,),
        because=None,
        remark="The loss is linear, with the centred batch for its gradient and for u.",
    ),
    BY_RATIO := Claim(
        id="S-thm-4.2b/ratio", title="smoother where H preserves relative norms: their ratio",
        locations=(
            final(183, "Sect. 4.2, Theorem 4.2, second display", r"-\frac{1}{m\gamma}\left\langle"),
            final(531, f"{PROOF}, eq. (51)",
                  r"\bm{\hat{g}_{j}}^{\top}\bm{H}_{{jj}}\bm{\hat{g}_{j}}-\frac{1}"),
            supplement(226, "App. C.2, Theorem 4.2, second display", r"- \frac{1}{m\gamma}"),
            supplement(344, f"{PROOF}, eq. (51)", r"\leq \frac{\gamma^2}{\sigma^2} \left["),
        ),
        says=hessian_form(GRAD) <= SCALE * (A - 1 / (m * gamma) * ALONG * norm2(partial)),
        hypotheses=(RATIO,), form=Form.READING, expected=REFUTED,
        attack=(convex_along(3, -2, -1, scale=2),),
        remark="At γ = 0 the right side is undefined.",
    ),
    BY_RATIO.sharpened(
        "how-much",
        title="by how much the second display of Theorem 4.2 is wrong",
        says=equal(
            hessian_form(GRAD) - BY_RATIO.says.claimed,  # type: ignore[union-attr]
            SCALE * A / norm2(g) * (norm2(GRAD) - norm2(g)),
        ),
        because=SCALE / norm2(g) * -RATIO.slack,
        attack=(),
        remark="So if H preserves the ratio of the norms, the display fails, whatever the batch,"
        " exactly where gᵀHg and ‖h‖² - ‖g‖² are both positive or both negative, h being the"
        " gradient ∂L̂/∂y.",
    ),
    BY_ORDER := replace(
        BY_RATIO, id="S-thm-4.2b/order",
        title="smoother where H preserves relative norms: their order",
        hypotheses=(ORDER,),
    ),
    DIRECTLY := replace(
        BY_RATIO, id="S-thm-4.2b/direct",
        title="smoother where H preserves relative norms: as the proof uses it",
        hypotheses=(DIRECT,), attack=(), expected=PROVED,
        because=SCALE * DIRECT.slack,
    ),
    BY_RATIO.corrected(
        hypotheses=(RATIO, NOT_ZERO, POSITIVE, NOT_LONGER_GRADIENT),
        because=FROM_RATIO,
        remark=BY_RATIO.remark,
    ),
    BY_ORDER.corrected(
        hypotheses=(ORDER, SHORTER),
        because=SCALE / SHORTER.slack**2 * ORDER.slack * SHORTER.slack,
        remark=BY_ORDER.remark,
    ),
    *(
        c.under(reading, REFUTED, **WITH_EPSILON)
        for c in (BY_RATIO, BY_ORDER, DIRECTLY) for reading in (EPS, UNIT)
    ),
]  # fmt: skip

PIECEWISE_LINEAR = assume(
    equal(later_normalizations, 0), impose=lambda case: case.with_relu_network_loss(),
    words="the layers after this one are piecewise linear, and the loss is convex; no normalisation"
    " is among them, which the text does not say",
)  # fmt: skip
WITH_NORMALIZATION = assume(
    later_normalizations > 0, impose=lambda case: case.with_later_batchnorm_loss(), printed=False,
    words="a later layer is a Batch Normalization, the loss is convex",
)  # fmt: skip
WORDS_ON_CURVATURE = final(
    185, "Sect. 4.2, after Theorem 4.2", "piecewise-linear activation functions"
)
A_LATER = Letter("A", "A", Sort.MATRIX, lambda network: network.H)
"""What the later layers multiply the unit's outputs by where they are affine, (outputs, m)."""
OUTPUTS = Letter("z", "z", Sort.VECTOR, lambda network: network.W[0, :])
DIRECTION = Letter("u", "u", Sort.VECTOR, lambda network: network.direction[1:])


def second(of: Any, variable: Letter, at: Any, direction: Any) -> Any:
    r"""Return :math:`d^\top\nabla^2 f(x)\,d`."""
    return row(direction, along(gradient(of, variable), variable, direction, at=at))


CONVEX_LOSS = assume(
    named(
        r"(Au)^\top\,(\nabla^2\ell)(Az)\,(Au)",
        second(layer.L1(layer.a), layer.a, A_LATER @ OUTPUTS, A_LATER @ DIRECTION),
    )
    >= 0
)

TOWARDS_MINIMUM = assume(
    dot(-g, u - z) > 0, impose=lambda case: case.with_isotropic_loss(-1 * case.direction, 1),
    words=r"\langle -g, u - z\rangle > 0 \text{ for a minimum } u \text{ of the loss}",
)  # fmt: skip
TOWARDS_BETA = assume(
    dot(-g, beta * one - z) > 0,
    impose=lambda case: case.with_isotropic_loss(0 * case.y - case.beta, 1), printed=False,
)  # fmt: skip
POSITIVE_GAMMA = assume(
    gamma > 0, impose=lambda case: replace(case, gamma=1 + case.gamma**2), printed=False
)


def towards_beta(claim: Claim) -> Claim:
    """Return the statement that holds: the minimum is beta times the vector of ones."""
    return claim.corrected(
        title="⟨ŷ, g⟩ is positive where the negative gradient points towards the layer's centre",
        hypotheses=(POSITIVE_GAMMA, TOWARDS_BETA),
        because=1 / gamma**2 * POSITIVE_GAMMA.slack * TOWARDS_BETA.slack,
        remark="As z - β1 = γŷ, the condition is γ⟨ŷ, g⟩ > 0.",
    )


WORDS = [
    DESCENT := Claim(
        id="S-thm-4.2-discussion/descent",
        title="⟨ŷ, g⟩ is positive where the negative gradient points towards a minimum",
        locations=(
            final(185, "Sect. 4.2, after Theorem 4.2", "pointing towards the minimum of the loss"),
        ),
        says=dot(yhat, g) > 0,
        hypotheses=(POSITIVE_GAMMA, TOWARDS_MINIMUM), form=Form.READING, expected=REFUTED,
        attack=(beyond_the_layer,),
        remark="It holds where the minimum is at the layer's own centre, β times the vector of"
        " ones.",
    ),
    DESCENT_SHARED := DESCENT.under(EPS, REFUTED),
    towards_beta(DESCENT),
    towards_beta(DESCENT_SHARED),
    PSD := MatrixClaim(
        id="S-thm-4.2-discussion/psd", title="the loss's Hessian is positive semi-definite",
        locations=(WORDS_ON_CURVATURE,),
        says=named(
            r"u^\top\,\nabla_z^2\,\ell(Az)\,u",
            second(layer.L1(A_LATER @ layer.w), layer.w, OUTPUTS, DIRECTION),
        )
        >= 0,
        hypotheses=(CONVEX_LOSS,), subject=Kind.LAYER, form=Form.READING, expected=PROVED,
        because=CONVEX_LOSS.slack,
        remark="Where no unit is at its kink the later layers are affine near z; their constant is"
        " taken into the convex function ℓ. So H = AᵀDA with D the Hessian of ℓ.",
    ),
    NETWORK := Claim(
        id="S-thm-4.2-discussion/psd/network",
        title="the loss's Hessian is positive semi-definite, in networks with piecewise-linear"
        " layers",
        locations=(WORDS_ON_CURVATURE,),
        says=quadratic(u) >= 0,
        hypotheses=(PIECEWISE_LINEAR,), form=Form.READING, expected=SUPPORTED,
    ),
    replace(
        NETWORK, id="S-thm-4.2-discussion/kink", title="the loss is convex across kinks",
        says=L(z) <= 1 / number(2) * L(z + v) + 1 / number(2) * L(z - v),
        expected=REFUTED, corrected_by=PSD.id,
        remark="A piecewise-linear unit may bend downwards; convexity holds between its kinks.",
    ),
    replace(
        NETWORK, id="S-thm-4.2-discussion/later-batchnorm",
        title="the loss's Hessian is positive semi-definite, with a later normalisation",
        hypotheses=(WITH_NORMALIZATION,), expected=REFUTED, corrected_by=PSD.id,
    ),
]  # fmt: skip

# The proof, whose (50) and (51) are the theorem's displays.

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

PRODUCT_RULE = [
    *equation(
        {19: ((470, r"{\hat{y}_{j}}^{(b)}\left\langle{\bm{\hat{g}_{j}}}"),
              (240, r"\hat{y}_j^{(b)} \left\langle"))},
        equal(
            hessian(u),
            along(gamma / (m * deviation(y)) * bracket(normalize(y), slope(BN(y))), y, u),
        ),
        title=TITLE + "the gradient, differentiated",
        remark="Both texts print the entry ŷ^(b) for the vector ŷ, which (20) has.",
    ).with_epsilon(PROVED),
    *(TWENTY_ONE := equation(
        {20: ((472, r"\right)\cdot\frac{\partial\bm{z_{q}}}{\partial\bm{y_{j}}} (20)"),
              (245, r"\cdot \frac{\partial z_q}{\partial y_j}")),
         21: ((473, r"\left(\frac{\gamma}{m\sigma_{j}}\right)\right)\cdot\left("),
              (248, r"\left(\frac{\gamma}{m\sigma_i} \right) \right) \cdot"))},
        equal(
            hessian(u),
            THROUGH_Z + bracket(yhat, g) * dot(gradient(gamma / (m * deviation(y)), y), u),
        ),
        title=TITLE + "the product rule",
        remark="(21) prints a column times a column. Read as (32) writes it: the bracket times the"
        " transposed derivative. z_q is z_j. At γ = 0 the right side is undefined.",
    )).with_epsilon(PROVED),
    IN_ORDER := replace(
        TWENTY_ONE, id="S-eq-20-21/printed-order",
        title=TITLE + "the product rule, in the printed order",
        says=equal(
            hessian(u),
            THROUGH_Z + gradient(gamma / (m * deviation(y)), y) * dot(bracket(yhat, g), u),
        ),
        expected=REFUTED, corrected_by=TWENTY_ONE.id,
        remark="The derivative times the transposed bracket.",
    ),
    IN_ORDER.under(EPS, REFUTED, corrected_by=f"{TWENTY_ONE.id}/eps"),
    *equation(
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
        remark="The last factor of (23) is read as a row, as (32) writes it. At γ = 0 the right"
        " side is undefined.",
    ).with_epsilon(PROVED),
]  # fmt: skip

term = displayed(PROOF, "S-eq-24-33")
ROOT = sqrt(norm2(centred(y)))
SQUARES_WITH_EPSILON = norm2(centred(y)) + m * eps
WITHOUT_EPSILON = "The line puts in σ without ϵ; with ϵ put in too, it is the corrected form."
AT_GAMMA_0 = "At γ = 0 both sides are undefined."
RIGHT_AT_GAMMA_0 = "At γ = 0 the right side is undefined as it is printed."
TERMS = [
    *term(
        {24: ((480, r"=\frac{1}{m}\bm{1}"),
              (261, r"\frac{1}{m} \mathbf{1} \cdot \mathbf{1}^{\top}"))},
        equal(along(average(slope(z)) * one, z, u), 1 / m * M(H(u))),
        title="the derivative of the gradient's mean",
        remark="Between the two sides the texts print ∂(1ᵀg)/∂z, a row, without the vector 1 before"
        " it that makes it a matrix.",
    ).with_epsilon(PROVED),
    *equation(
        {25: ((481, r"=\frac{1}{\gamma}\frac{\partial}{\partial\bm{\hat{y}}_{j}}"),
              (264, r"= \frac{1}{\gamma} \frac{\partial}{\partial \hat{\mathbf{y}}_{j}}"))},
        equal(
            ALONG_YHAT,
            1 / gamma * along(yhat * dot(yhat, slope(gamma * yhat + beta * one)), yhat, u),
        ),
        title="the gradient's part along ŷ, differentiated through ŷ",
        remark=AT_GAMMA_0,
    ).with_epsilon(PROVED),
    *term(
        {26: ((482, r"+\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}\bm{H}_{{jj}}"),
              (267, r"\hat{\mathbf{y}}_j \hat{\mathbf{y}}_j^{\top} \mathbf{H}_{jj}")),
         27: ((483, r"+\frac{1}{\gamma}\bm{\hat{y}}_{j}"),
              (270, r"\frac{1}{\gamma} \boldsymbol{I}"))},
        equal(ALONG_YHAT, 1 / gamma * u * ALONG + YY(H(u)) + 1 / gamma * yhat * dot(g, u)),
        id="S-eq-27", title="the gradient's part along ŷ, differentiated",
        remark=AT_GAMMA_0,
    ).with_epsilon(PROVED),
    ROOT_POWER := equation(
        {28: ((484, r"^{-\frac{1}{2}}"), (273, r"^{-\frac{1}{2}}"))},
        equal(OF_SCALE, gamma * sqrt(m) * gradient(1 / ROOT, y)),
        title="the scale as a power of the centred batch's norm",
    ),
    ROOT_SHARED := ROOT_POWER.under(EPS, REFUTED, remark=WITHOUT_EPSILON),
    ROOT_SHARED.corrected(
        says=equal(OF_SCALE, gamma * sqrt(m) * gradient(1 / sqrt(SQUARES_WITH_EPSILON), y)),
    ),
    CUBE_POWER := equation(
        {29: ((485, r"^{-\frac{3}{2}}"), (276, r"^{-\frac{3}{2}}"))},
        equal(
            OF_SCALE,
            -(number(1) / 2 * gamma * sqrt(m)) / (norm2(centred(y)) * ROOT) * (2 * centred(y)),
        ),
        title="the scale's gradient, by the batch",
    ),
    CUBE_SHARED := CUBE_POWER.under(EPS, REFUTED, remark=WITHOUT_EPSILON),
    CUBE_SHARED.corrected(
        says=equal(
            OF_SCALE,
            -(number(1) / 2 * gamma * sqrt(m)) / (SQUARES_WITH_EPSILON * sqrt(SQUARES_WITH_EPSILON))
            * (2 * centred(y)),
        ),
    ),
    *term(
        {30: ((486, r"=-\frac{\gamma}{m\sigma^{2}}"), (279, r"= -\frac{\gamma}{m\sigma^2}"))},
        equal(OF_SCALE, -(gamma / (m * sigma**2) * yhat)),
        title="the scale's gradient",
    ).with_epsilon(PROVED, REFUTED),
]  # fmt: skip


def factor(x: Expression) -> Expression:
    """Return the bracket of (31), a matrix, applied to a vector."""
    return m * H(x) - M(H(x)) - 1 / gamma * ALONG * x - YY(H(x)) - 1 / gamma * yhat * dot(g, x)


FROM_SCALE = gamma / (m * sigma**2) * (g - average(g) * one - 1 / m * yhat * ALONG) * dot(yhat, u)
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
library_hessian = Primitive(
    "batchnorm.hvp", lambda unit, y, g, u: batchnorm.hvp(y, g, unit.H, u, unit.gamma, unit.eps),
    r"\mathtt{{batchnorm.hvp}}({0}, {1}, H, {2}, \gamma, \epsilon)", gives=Sort.VECTOR,
)  # fmt: skip
"""The formula that this library ships."""

HESSIAN = [
    *equation(
        {31: ((490, r"(m\bm{H}_{{jj}}-\bm{1}\cdot\bm{1}^{\top}\bm{H}_{{jj}}"),
              (283, r"- \mathbf{1} \cdot \mathbf{1}^{\top} \boldsymbol{H}_{jj}")),
         32: ((491, r"\right)\bm{\hat{y}}_{j}^{\top} (32)"),
              (286, r"\right) \hat{\boldsymbol{y}}_{j}^{\top}"))},
        equal(hessian(u), gamma / (m * sigma) * factor(MOVED) - FROM_SCALE),
        title=TITLE + "the terms put in",
        remark=RIGHT_AT_GAMMA_0,
    ).with_epsilon(PROVED, REFUTED),
    *(BY_FACT_C2 := equation(
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
            - FROM_SCALE,
        ),
        title=TITLE + "the Jacobian put in",
        remark=RIGHT_AT_GAMMA_0,
    )).with_epsilon(PROVED, REFUTED),
    garbled(
        BY_FACT_C2,
        PROOF,
        {36: (299, r"\hat{\boldsymbol{y}}_{j} \right) \right) \tag{36}")},
        "The last term of (36) ends in the vector ŷ, without its transpose: a vector among"
        " matrices",
    ),
    *(SUMMED := equation(
        {38: ((506, r"\biggl{[}m\bm{H}_{{jj}}-\bm{M}\bm{H}_{{jj}}"), None),
         39: ((507, r"\biggr{]} (39)"), None),
         40: ((508, r"-\frac{3}{m}\bm{\hat{y}}_{j}\bm{\hat{y}}_{j}^{\top}"),
              (307, r"- \frac{3}{m}\hat{\boldsymbol{y}}_{j}\hat{\boldsymbol{y}}_{j}^{\top}"))},
        equal(hessian(u), gamma**2 / (m * sigma**2) * COLLECTED - gamma / (m * sigma**2) * BENDING),
        title=TITLE + "the terms collected",
    )).with_epsilon(PROVED, REFUTED),
    garbled(
        SUMMED,
        PROOF,
        {38: (305, r"m\boldsymbol{H}_{jj} - \boldsymbol{M}\boldsymbol{H}_{jj}")},
        "(38) and (39) have run together into one line with two terms twice, two missing and a"
        " bracket closed twice",
    ),
    *(FULL := equation(
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
        remark=RIGHT_AT_GAMMA_0,
    )).with_epsilon(PROVED, REFUTED),
    garbled(
        FULL,
        PROOF,
        {41: (309, r"- \frac{1}{m}\boldsymbol{M}"), 42: (311, r"\widehat{\boldsymbol{g}}")},
        "The conversion ends line (41) with '- M/m )', a bracket that nothing opens, and has lost"
        " the bar over the first g of line (42)",
        name="S-eq-41-42-supp",
    ),
    FULL.under(EPS, PROVED).sharpened(
        "shipped", title="the Hessian, by this project's function",
        says=equal(hessian(u), library_hessian(y, g, u)),
    ),
]  # fmt: skip

identity = displayed(PROOF, "S-eq-43-47")
FORM = [
    *identity(
        {43: ((514, r"\bm{M}\overline{\bm{\hat{g}_{j}}}"), (315, r"M\overline{\hat{g}_j}"))},
        equal(M(gbar), 0),
        title="the centred gradient has no mean",
    ).with_epsilon(PROVED),
    *(FORTY_FOUR := identity(
        {44: ((515, r"\left(I-\frac{1}{m}\bm{M}"), (317, r"\left(I - \frac{1}{m}\boldsymbol{M}"))},
        equal(project(project(u)), project(u)),
        title="the projection is idempotent",
    )).with_epsilon(REFUTED, PROVED, "S-eq-44/eps/corrected"),
    FORTY_FOUR.under(EPS, REFUTED).corrected(
        title="what the square of I - M/m - ŷŷᵀ/m is",
        says=equal(project(project(u)), project(u) - eps / (m * sigma**2) * YY(u)),
    ),
    *(FORTY_FIVE := identity(
        {45: ((516, r"=\bm{0}"), (320, r"= \mathbf{0}"))},
        equal(off_yhat(yhat), 0),
        title="the projection annihilates ŷ",
    )).with_epsilon(REFUTED, PROVED, "S-eq-45/eps/corrected"),
    FORTY_FIVE.under(EPS, REFUTED).corrected(
        title="what I - ŷŷᵀ/m leaves of ŷ", says=equal(off_yhat(yhat), eps / sigma**2 * yhat)
    ),
    *identity(
        {46: ((517, r"\overline{\bm{\hat{g}_{j}}}"),
              (323, r"\overline{\hat{\boldsymbol{g}}_{j}}"))},
        equal(off_mean(off_yhat(gbar)), off_yhat(gbar)),
        title="the centred gradient without its part along ŷ has mean zero",
    ).with_epsilon(PROVED, PROVED),
    *identity(
        {47: ((521, r"\frac{\gamma}{\sigma}\overline"), (328, r"\frac{\gamma}{\sigma} \overline"))},
        equal(partial, gamma / sigma * off_yhat(gbar)),
        title="the gradient as a projection",
        remark="Both sides are read as columns; the right one is printed as a row.",
    ).with_epsilon(PROVED, REFUTED),
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
    FORTY_NINE.under(UNIT, REFUTED, corrected_by="S-thm-4.2a/eps/corrected"),
    equation(
        {50: ((527, r"-\frac{\gamma}{m\sigma^{2}}\left\langle"),
              (339, r"- \frac{\gamma}{m\sigma^2} \left\langle"))},
        equal(hessian_form(GRAD), BOUND),
        id="S-thm-4.2a/equality", result="S-thm-4.2a",
        title="the Hessian along the gradient, exactly",
    ),
    garbled(
        FORTY_NINE,
        PROOF,
        {48: (333, r"\frac{\gamma^4}{\sigma^4} \widehat{\boldsymbol{g_j}}^{\top}")},
        "(48) has lost the bar over g, which (47) before it and (49) after it have",
    ),
]  # fmt: skip

CLAIMS = with_hints([*DISPLAYS, *WORDS, *PRODUCT_RULE, *TERMS, *HESSIAN, *FORM])
