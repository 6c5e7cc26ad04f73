r"""Theorem C.1: the minimax bound on smoothness in the weights; its proof, (52) to (58).

As in Theorem 4.4, g, H, sigma and yhat are fixed while X varies.  Let h and Hh be the gradient and
Hessian of Lhat in y.  A maximum over X is one over X = lambda u e1'/|u|, u any vector
(:mod:`theory.maxima`), so "max betahat < R" says betahat < R for every u.  On the right the loss
is chosen so that its maximum is known: H = I, where it is lambda^4 |g|^2 (at X = lambda g e1'/|g|),
or linear, where it is zero; both preserve relative norms, as "the same conditions" ask.

kappa, "the separation given in the previous theorem", can be what the brackets of Theorem 4.2
subtract (``kappa``, second display: <g, yhat>|h|^2/(m gamma); ``first-display``: gamma^2/sigma^2
times that), what Theorem 4.4 subtracts (``weights``), or the difference g'Hg - (sigma^2/gamma^2)
h'Hh h itself (``difference``).  None makes the theorem true, nor "<=" for "<".

What is right, for every X, with v = XX'h and PX the inputs without their parts along 1 and yhat:

    betahat(X) = (gamma/sigma)^4 beta(PX) - (gamma/(m sigma^2)) <g, yhat> |Pv|^2
                 - 2/(m sigma) <h, v> <yhat, v>,

and for a linear loss with <g, yhat> = 0 nothing but the last term is left, whose sharp bound is in
the entry ``minimax``: nothing is subtracted for free.

The proof breaks at (58): X = lambda I does not maximise betahat.  The maximum of v'Av over |v|^2 <=
<v, a> is at v = a only if a is an eigenvector of A.  At eps = 0, <yhat, Hh h> = -|h|^2/sigma while
<yhat, h> = 0, so h is no eigenvector of Hh unless it is zero: with (57) corrected, (58) is false
wherever h is not zero.  Nor does anything there give "<": with gamma = 0 both sides are zero.  (57)
puts the gradient of (47) in without its factor gamma/sigma, squared here, and without the bar over
g; the mean of g is no matter at X = lambda I, but at other X it can be: with y = (-1, 0, 1), gamma
= sigma, g = (1, 1, 1), H = I and X = (1, 0, 0)' the sides are 0 and 1/6.  (55) holds no formula in
either text.
"""

from dataclasses import replace

from theory.claim import Claim, Form
from theory.language.expression import (
    Expression,
    Operation,
    Relation,
    Says,
    along,
    equal,
    named,
    number,
)
from theory.language.operations import average, centred, dot, norm2, row, sqrt
from theory.santurkar2018.chosen import ONES, in_directions, opposite, with_hints
from theory.santurkar2018.letters import (
    ALONG,
    EPS,
    SCALE,
    SLOPING,
    UNIT,
    H,
    gbar,
    hessian,
    hessian_form,
    off_yhat,
    project,
    quadratic,
)
from theory.santurkar2018.texts import displayed, final, supplement
from theory.santurkar2018.theorem_4_4 import in_weight, x_i, x_k
from theory.statement import PROVED, REFUTED, Hypothesis, assume
from theory.unit import (
    L,
    Lhat,
    bound,
    g,
    gamma,
    grad,
    m,
    one,
    sigma,
    u,
    variable,
    y,
    yhat,
    z,
)

beta_hat = named(
    r"\hat\beta(\lambda u e_1^\top/\|u\|)",
    bound**4 * dot(u, grad) ** 2 * hessian_form(u) / norm2(u) ** 2,
)
r"""The left side at one X for each u."""

LINEAR = assume(
    equal(norm2(H(g)), 0), impose=lambda case: case.with_isotropic_loss(case.other_direction, 0),
    printed=False, words=r"L \text{ is linear, so that } \max_X\beta = 0",
)  # fmt: skip
CONVEX = assume(
    equal(norm2(H(g) - g), 0),
    impose=lambda case: case.with_isotropic_loss(case.other_direction, 1), printed=False,
    words=r"H = I, \text{ so that } \max_X\beta = \lambda^4\|g\|^2",
)  # fmt: skip
largest_beta = named(r"\max_X\beta", bound**4 * quadratic(g))
"""The maximum on the right, for these losses."""

KAPPAS = {
    "kappa": (
        1 / (m * gamma) * ALONG * norm2(grad),
        "κ what the second display of Theorem 4.2 subtracts",
    ),
    "first-display": (
        gamma / (m * sigma**2) * ALONG * norm2(grad),
        "κ what the first display of Theorem 4.2 subtracts",
    ),
    "weights": (m * average(g) ** 2 + bound**2 * ALONG**2, "κ what Theorem 4.4 subtracts"),
    "difference": (
        quadratic(g) - sigma**2 / gamma**2 * hessian_form(grad),
        "κ the difference of the quadratic forms",
    ),
}
"""The readings of the separation."""

PLACES = (
    final(539, "App. C.2, Theorem C.1", r"-\lambda^{4}\kappa\right],"),
    final(541, "App. C.2, Theorem C.1", "is the separation given in the previous theorem"),
    supplement(351, "App. C.2, Theorem C.1", r"- \lambda^4 \kappa \right],"),
    supplement(353, "App. C.2, Theorem C.1", "is the separation given in the previous theorem"),
)


FLAT = in_directions(ONES, (1, -4, 3)), in_directions(ONES, (-2, -2, 2))
"""gamma = sigma, H = I, an input along the ones: betahat is zero, and kappa large."""
FLAT_LINEAR = (in_directions(ONES, (0, -2, 2)),)
"""The same for a linear loss."""


def minimax(kappa: str, relation: Relation, loss: Hypothesis) -> Claim:
    """Return the printed theorem with a kappa, strict or not, for one kind of loss."""
    separation, title = KAPPAS[kappa]
    subtracted = bound**4 * separation
    right = -(SCALE * subtracted) if loss is LINEAR else SCALE * (largest_beta - subtracted)
    strict = relation is Relation.LESS_THAN
    return Claim(
        id=f"S-thm-C1/{kappa}{'/linear' if loss is LINEAR else ''}{'' if strict else '/at-most'}",
        locations=PLACES,
        title=f"smoothness in the weights, {title}"
        + (", a linear loss" if loss is LINEAR else "")
        + ("" if strict else ", with ≤"),
        form=Form.PRINTED if strict and kappa == "kappa" else Form.READING,
        says=Says(beta_hat, relation, right),
        hypotheses=(loss,),
        expected=REFUTED,
        attack=FLAT_LINEAR if loss is LINEAR else FLAT,
        corrected_by="S-thm-C1/kappa/corrected",
        remark="The text speaks of the maximum over X: where β̂ at one X is above the bound, the"
        " maximum is as well.",
    )


STRICT = [minimax(kappa, Relation.LESS_THAN, CONVEX) for kappa in KAPPAS]
AT_MOST = [minimax(kappa, Relation.AT_MOST, CONVEX) for kappa in KAPPAS]
ON_LINEAR = [minimax(kappa, Relation.AT_MOST, LINEAR) for kappa in ("kappa", "weights")]

ALONG_ONES = named(
    r"\hat\beta(\lambda\mathbf 1 e_1^\top/\sqrt m)",
    bound**4 * dot(one, grad) ** 2 * hessian_form(one) / m**2,
)
TOWARDS = assume(gamma * ALONG > 0, printed=False)

V = named("v", bound**2 * dot(u, grad) / norm2(u) * u)
r""":math:`XX^\top h`."""
UNIT_V = named("v", u * (dot(u, grad) / norm2(u)))
"""The same where lambda is one."""
beta_of_projected = named(
    r"\beta(\lambda Pu e_1^\top/\|u\|)",
    bound**4 * dot(project(u), g) ** 2 * quadratic(project(u)) / norm2(u) ** 2,
)
FOURTH, MIDDLE = gamma**4 / sigma**4, gamma / (m * sigma**2) * ALONG * norm2(project(V))
CROSS_TERM = 2 / (m * sigma) * dot(grad, V) * dot(yhat, V)
OFF_H = project(UNIT_V) - grad * (dot(grad, UNIT_V) / norm2(grad))
EXCESS = bound**4 / sigma * sqrt(27 * norm2(grad) ** 3 / (64 * m))
T = dot(grad, UNIT_V) / norm2(grad)
IN_UNITS = 2 * bound**8 / (m**2 * sigma**2 * EXCESS)
THEOREM = [
    *STRICT,
    *AT_MOST,
    *ON_LINEAR,
    *(
        c.under(reading, REFUTED, corrected_by="S-eq-58/eps/corrected", attack=attack)
        for c in (STRICT[0], AT_MOST[0], ON_LINEAR[0])
        for reading, attack in ((EPS, c.attack), (UNIT, (opposite,)))
    ),
    STRICT[0].sharpened(
        "every-batch", title="where Theorem C.1 fails: along the ones, for a linear loss",
        says=ALONG_ONES > -(SCALE * bound**4 * KAPPAS["kappa"][0]),
        hypotheses=(TOWARDS, SLOPING), attack=(),
        because=bound**4 / (m * sigma**2) * TOWARDS.slack * SLOPING.slack,
        remark="The left side is zero whatever the batch, as the layer takes away what lies along"
        " the ones. So for a linear loss the theorem fails, for every m from 3 on and every batch,"
        " wherever γ ⟨g, ŷ⟩ is positive, as for γ > 0 the discussion of Theorem 4.2 asks, and"
        " h = ∂L̂/∂y is not zero.",
    ),
    STRICT[0].corrected(
        title="smoothness in the weights at each input matrix",
        says=equal(beta_hat, FOURTH * beta_of_projected - MIDDLE - CROSS_TERM),
        hypotheses=(),
    ),
    STRICT[0].sharpened(
        title="smoothness in the weights: how large the last term can be",
        says=dot(yhat, UNIT_V) ** 2
        <= m * (dot(grad, UNIT_V) - dot(grad, UNIT_V) ** 2 / norm2(grad)),
        hypotheses=(SLOPING,),
        because=m * norm2(OFF_H) + dot(one, UNIT_V) ** 2,
        remark="Let h = ∂L̂/∂y and ⟨h, v⟩ = t‖h‖². As t³(1 - t) ≤ 27/256, the last term's square is"
        " at most (27/64) λ⁸ ‖h‖⁶/(m σ²), attained at t = 3/4 where v lies in the span of h and ŷ.",
    ),
    STRICT[0].sharpened(
        "minimax", title="smoothness in the weights: what is added to that of the normal network",
        says=beta_hat <= FOURTH * beta_of_projected - MIDDLE + EXCESS,
        hypotheses=(),
        because=1 / (2 * EXCESS) * (EXCESS + CROSS_TERM) ** 2
        + IN_UNITS * m * norm2(grad) ** 2 * norm2(grad) * (T - number(3) / 4) ** 2
        * (T + number(1) / 4) ** 2
        + IN_UNITS / 8 * m * norm2(grad) ** 2 * norm2(grad) * (T - number(3) / 4) ** 2
        + IN_UNITS * m * dot(grad, UNIT_V) ** 2 * norm2(OFF_H)
        + IN_UNITS * dot(grad, UNIT_V) ** 2 * dot(one, UNIT_V) ** 2,
        remark="PX is no longer than X, so the first term is at most (γ/σ)⁴ max β."
        " Equality: y = (1, -1, 1, -1, 1, -1), γ = λ = 1, a linear loss with"
        " g = (1, 0, -1, 0, 0, 0), u = (2, 1, -4, 1, -1, 1).",
    ),
]  # fmt: skip

equation = displayed("App. C.2, proof of Theorem C.1", "S-eq-52-58")


def twice(
    function: Operation, at: Expression, a: Expression, b: Expression, name: str
) -> Expression:
    """Return the second derivative of a function along two inputs, by their weights' names."""
    return named(name, along(along(function(variable), variable, a), variable, b, at=at))


IN_W_TWICE = r"\frac{\partial^2\hat L}{\partial W_{\cdot j}\partial W_{\cdot j}}"
SLOPE = in_weight(x_i)
BENDING = twice(Lhat, y, x_i, x_i, r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{ij}}")
beta = named(r"\beta", SLOPE * BENDING * SLOPE)
BOTH = x_i + 2 * x_k
ONE_INPUT = "At one input, X = (xᵢ); the text has all of them."
WITH_47 = {
    "title": "the quadratic form along the gradient, with (47) for the gradient",
    "says": equal(beta, SCALE * dot(x_i, off_yhat(gbar)) ** 2 * hessian_form(x_i)),
    "remark": ONE_INPUT,
}
BENDING_U = SCALE * quadratic(project(u)) - gamma / (m * sigma**2) * (
    2 * dot(gbar, u) * dot(yhat, u)
    + ALONG * (norm2(centred(u)) - number(3) / m * dot(yhat, u) ** 2)
)
r""":math:`u^\top\frac{\partial\hat L}{\partial y\partial y}u`, for every epsilon."""
IN_CLOSED_FORM = {
    "title": "the quadratic form at each input matrix of one column, in closed form",
    "says": equal(beta_hat, bound**4 * SCALE * dot(u, project(g)) ** 2 * BENDING_U / norm2(u) ** 2),
    "corrected_by": None,
}
WITH_EPSILON = {"corrected_by": "S-eq-58/eps/corrected"}
LINES = [
    *equation(
        {52: ((544, r"\frac{\partial\mathcal{L}}{\partial W_{ij}\partial W_{kj}}"),
              (357, r"\boldsymbol{x}_{i}^{\top} \frac{\partial \mathcal{L}}"))},
        equal(twice(L, z, x_i, x_k, r"\frac{\partial^2 L}{\partial W_{ij}\partial W_{kj}}"),
              row(x_i, H(x_k))),
        title="the Hessian of the loss in two weights, without the layer, at z",
        remark="The text writes ∂L for ∂²L throughout.",
    ).with_epsilon(PROVED),
    *equation(
        {53: ((545, r"\frac{\partial\widehat{\mathcal{L}}}{\partial W_{ij}\partial W_{kj}}"),
              (360, r"\boldsymbol{x}_{i}^{\top} \frac{\partial \widehat{\mathcal{L}}}"))},
        equal(twice(Lhat, y, x_i, x_k, r"\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}}"),
              row(x_i, hessian(x_k))),
        title="the Hessian in two weights",
    ).with_epsilon(PROVED),
    *equation(
        {54: ((546, r"=\bm{X}^{\top}\frac{\partial\widehat{\mathcal{L}}}"),
              (363, r"= X^{\top} \frac{\partial \widehat{\mathcal{L}}}"))},
        equal(twice(Lhat, y, BOTH, BOTH, rf"(1, 2) {IN_W_TWICE} (1, 2)^\top"),
              hessian_form(x_i) + 4 * row(x_i, hessian(x_k)) + 4 * hessian_form(x_k)),
        title="the Hessian in two weights, along (1, 2)",
    ).with_epsilon(PROVED),
    *equation(
        {56: ((550, r":=\left(\frac{\partial\widehat{\mathcal{L}}}"), (369, r"\beta := \left("))},
        equal(SLOPE * BENDING * SLOPE, dot(x_i, grad) ** 2 * hessian_form(x_i)),
        result="S-steps",
        title="the quadratic form along the gradient in one weight",
        remark=ONE_INPUT,
    ).with_epsilon(PROVED),
    FIFTY_SEVEN := equation(
        {57: ((551, r"=\bm{\hat{g}_{j}}^{\top}\left(\bm{I}-\frac{1}{m}"),
              (372, r"= \hat{\boldsymbol{g}}_{j}^{\top} \left(\boldsymbol{I} - \frac{1}{m}"))},
        equal(beta, dot(x_i, off_yhat(g)) ** 2 * hessian_form(x_i)),
        title="the quadratic form along the gradient, with (47), its factor and its bar left out",
        expected=REFUTED,
        remark=ONE_INPUT,
    ),
    replace(
        FIFTY_SEVEN, id="S-eq-57/scaled",
        title="the quadratic form along the gradient, with (47), its bar left out",
        says=equal(beta, SCALE * dot(x_i, off_yhat(g)) ** 2 * hessian_form(x_i)),
        form=Form.BOUNDARY, corrected_by="S-eq-57/corrected",
        remark=f"γ/σ restored, and still without the bar over g. {ONE_INPUT}",
    ),
    SHARED_57 := FIFTY_SEVEN.under(EPS, REFUTED),
    FIFTY_SEVEN.under(UNIT, REFUTED, corrected_by=f"{SHARED_57.id}/corrected"),
    FIFTY_SEVEN.corrected(**WITH_47),
    SHARED_57.corrected(**WITH_47),
    FIFTY_EIGHT := equation(
        {58: ((555, r"\max_{\left|\left|{X}\right|\right|\leq\lambda}\beta"),
              (377, r"\max_{||X|| \le \lambda} \beta"))},
        beta_hat <= bound**4 * hessian_form(off_yhat(g)),
        title="the largest quadratic form, at each input matrix of one column",
        expected=REFUTED, corrected_by="S-eq-58/corrected",
    ),
    SCALED_58 := replace(
        FIFTY_EIGHT, id="S-eq-58/scaled",
        title="the largest quadratic form, at each input matrix of one column, (57) corrected",
        says=beta_hat <= bound**4 * hessian_form(grad),
        form=Form.BOUNDARY,
        remark="With (57) corrected the maximum is still not where XXᵀ = λ²I.",
    ),
    SHARED_58 := FIFTY_EIGHT.under(EPS, REFUTED, **WITH_EPSILON),
    SCALED_58.under(EPS, REFUTED, **WITH_EPSILON),
    FIFTY_EIGHT.under(UNIT, REFUTED, **WITH_EPSILON),
    FIFTY_EIGHT.corrected(**IN_CLOSED_FORM),
    SHARED_58.corrected(**IN_CLOSED_FORM),
    SCALED_58.sharpened(
        "no-eigenvector", title="the gradient is no eigenvector of the Hessian",
        says=equal(dot(yhat, hessian(grad)), -(norm2(grad) / sigma)),
        remark="ŷ is orthogonal to h = ∂L̂/∂y and, unless h is zero, not to Ĥh. So (58), which"
        " puts λ²I for XXᵀ, does not take the maximum.",
    ),
]  # fmt: skip

CLAIMS = with_hints([*THEOREM, *LINES])
