r"""The words around Theorems 4.1 and 4.2: what the constants and terms are said to do.

Before 4.1, "a better Lipschitz constant", "without any assumptions on the specific weights or the
loss": |dLhat/dy| <= |g| needs |gamma| <= sigma, and sigma is the weights' (``lipschitz``); gamma =
sigma alone is not enough for two real networks (``two-networks``).  At eps = 0, for m >= 3 and
gamma != 0, no constant serves all y; with eps > 0 the best one is |gamma|/sqrt(eps) (``global``).

After 4.1, <1, g>^2 "grows quadratically in the dimension": so it does in the batch size m, if the
mean of g stays away from zero; but the theorem subtracts <1, g>^2/m, which is linear like |g|^2
itself, so its share does not grow.  And nothing keeps it, or <g, yhat>^2, from being zero: they are
the squared derivatives in beta and gamma (``by-parameters``).

After 4.2, the gradients are "more predictive" if the quadratic forms of H and <yhat, g> are
non-negative.  That can be read as a smaller second-order term (``smoothness``), or a smaller change
of the gradient, which is what the paper's figures measure (``gradient``).  Both are false, even
with gamma = sigma and beta = mean, where both networks give the same outputs: with h and Hhat the
gradient and the Hessian of Lhat in y, 4.2 bounds h'Hhat h by h'Hh, which exceeds g'Hg where the
projection lengthens g in the norm of H; and for a linear loss the standard network's gradient does
not change at all.  At eps = 0 the change Hhat h always has the part -|h|^2/(m sigma) yhat: the
floor that the last entry proves.
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.batchnorm import centre
from theory.claim import Claim, Form
from theory.language.expression import along, equal, gradient, named, number
from theory.language.letters import number_of
from theory.language.operations import average, dot, norm2
from theory.santurkar2018.chosen import (
    in_directions,
    linear,
    shifted_away_from_a_minimum,
    with_hints,
)
from theory.santurkar2018.letters import (
    ALONG,
    EPS,
    GRAD,
    NOT_LONGER,
    SCALE,
    VANILLA,
    H,
    gbar,
    hessian,
    hessian_form,
    quadratic,
    unscaled,
)
from theory.santurkar2018.observation_4_3 import off
from theory.santurkar2018.texts import final, readings_of
from theory.santurkar2018.theorem_4_1 import IDENTITY_LAYER
from theory.santurkar2018.theorem_4_2 import NOT_ZERO, POSITIVE, RATIO
from theory.statement import PROVED, REFUTED, assume
from theory.unit import (
    BN,
    L,
    eps,
    g,
    gamma,
    grad,
    m,
    normalize,
    one,
    sigma,
    u,
    v,
    variable,
    y,
    yhat,
    z,
)

BEFORE, AFTER = "Sect. 4.2", "Sect. 4.2, after Theorem 4.1"
WEIGHT = gamma**2 / (m * sigma**2)
GAINS = WEIGHT * dot(one, g) ** 2 + WEIGHT * (1 + eps / sigma**2) * ALONG**2
"""What Theorem 4.1 subtracts."""


def below_deviation(case: Any) -> Any:
    r"""Give the case :math:`s = v/(1 + v)` for :math:`v = \sigma^2`, which is at most sigma."""
    v = batchnorm.variance(case.y) + case.eps
    return replace(case, bound=v / (1 + v))


LIPSCHITZ = Claim(
    id="S-remark-growth/lipschitz", title="the gradient is no longer than without the layer",
    locations=(final(163, BEFORE, "Without any assumptions on the specific weights or the loss"),),
    says=norm2(grad) <= norm2(g),
    form=Form.READING, expected=REFUTED, attack=(linear(1, -2, 1, scale=2),),
)  # fmt: skip
CONTRACTING = {
    "title": "the gradient is no longer than without the layer, |γ| at most σ",
    "hypotheses": (NOT_LONGER,),
    "because": 1 / sigma**2 * NOT_LONGER.slack * norm2(g) + GAINS,
}
SAME_SCALE = assume(equal(gamma**2, sigma**2), impose=unscaled)


LEAST = number_of("s", "s", "bound", "s > 0")
AT_LEAST_S = assume(sigma**2 >= LEAST**2, impose=below_deviation, printed=False)
CONSTANTS = [
    LIPSCHITZ,
    LIPSCHITZ.corrected(**CONTRACTING),
    LIPSCHITZ_SHARED := LIPSCHITZ.under(EPS, REFUTED),
    LIPSCHITZ_SHARED.corrected(**CONTRACTING),
    TWO := replace(
        LIPSCHITZ, id="S-remark-growth/two-networks",
        title="the gradients of two networks, each at its own point",
        locations=(final(163, BEFORE, "even when the scaling of BN is identical"),),
        says=norm2(grad) <= norm2(VANILLA),
        hypotheses=(SAME_SCALE,), attack=(shifted_away_from_a_minimum,),
        corrected_by="S-remark-growth/lipschitz/corrected",
    ),
    TWO.under(EPS, REFUTED, corrected_by="S-remark-growth/lipschitz/eps/corrected"),
    *TWO.sharpened(
        "constants", title="a Lipschitz constant of the loss gives one with the layer",
        says=norm2(grad) <= gamma**2 / LEAST**2 * norm2(g),
        hypotheses=(AT_LEAST_S,),
        because=gamma**2 / (LEAST**2 * sigma**2) * AT_LEAST_S.slack * norm2(g) + GAINS,
        remark="If the loss has the Lipschitz constant ℓ, the network with the layer has |γ| ℓ/s"
        " wherever σ is at least s.",
    ).with_epsilon(PROVED),
    replace(
        LIPSCHITZ, id="S-remark-growth/global", title="a Lipschitz constant for every batch",
        says=norm2(grad) <= gamma**2 / eps * norm2(gbar),
        form=Form.BOUNDARY, expected=PROVED,
        because=SCALE * (sigma**2 - eps) / eps * norm2(gbar)
        + WEIGHT * (1 + eps / sigma**2) * ALONG**2,
        remark="On a constant batch both sides are equal, so no smaller factor serves every y; at ϵ"
        " = 0, for m ≥ 3 and γ ≠ 0, no factor does.",
    ).under(EPS, PROVED),
]  # fmt: skip

MU = average(g)
OF_MEAN_LOSS = named(r"\nabla\bar L", gradient(L(variable) / m, variable, at=z))
"""The gradient of the loss as a mean over the batch, L/m."""
IN_BETA = named(
    r"\left(\frac{\partial\hat L}{\partial\beta}\right)", along(L(variable), variable, one, at=z)
)
IN_GAMMA = named(
    r"\left(\frac{\partial\hat L}{\partial\gamma}\right)",
    along(L(variable), variable, normalize(y), at=z),
)
"""z moves along the normalised batch."""
BEST_SCALE = assume(
    equal(IN_GAMMA, 0),
    impose=lambda case: case.with_isotropic_loss(off(case.direction, centre(case.y)), 0),
    printed=False,
)


growth = readings_of(
    "S-remark-growth",
    (final(171, AFTER, "grows quadratically in the dimension, so the middle"),),
    expected=REFUTED,
)
SQUARED_SLOPE = {
    "form": Form.SHARPENED,
    "title": "m times the last term of Theorem 4.1 is the squared derivative in γ",
    "says": equal(ALONG**2, IN_GAMMA**2),
    "hypotheses": (),
    "remark": "It is zero where training has made γ stationary, and the middle term, (∂L̂/∂β)²/m,"
    " where it has made β stationary.",
}
TWO_EXAMPLES = assume(equal(norm2(one), 2), printed=False, words="m = 2")
GROWTH = [
    growth(
        "/sum", equal(dot(one, g) ** 2, m**2 * MU**2),
        "the squared sum of the gradient, as an identity",
        expected=PROVED,
        remark="Quadratic in m if the mean of g stays away from zero. The text's 'dimension' is m,"
        " the number of examples; the layer's width does not occur.",
    ),
    MIDDLE := growth(
        "/middle-term", equal(1 / m * dot(one, g) ** 2, m**2 * MU**2),
        "how the middle term of Theorem 4.1 grows",
        form=Form.BOUNDARY,
    ),
    MIDDLE.corrected(says=equal(1 / m * dot(one, g) ** 2, m * MU**2)),
    MIDDLE.sharpened(
        title="the middle term's share of the squared norm of the gradient",
        says=1 / m * dot(one, g) ** 2 <= norm2(g),
        because=1 * norm2(gbar),
        remark="The slack is the squared norm of the centred gradient. The share can be anything"
        " from 0 to 1.",
    ),
    MEAN_LOSS := growth(
        "/mean-loss", equal(dot(one, OF_MEAN_LOSS) ** 2, m**2 * MU**2),
        "the squared sum of the gradient for a loss that is a mean over the batch",
        attack=(linear(1, 1, 1),),
        remark="L is the sum over the batch, and g its gradient; what is trained is L/m.",
    ),
    MEAN_LOSS.corrected(says=equal(dot(one, OF_MEAN_LOSS) ** 2, MU**2)),
    growth(
        "/positive", dot(one, g) ** 2 > 0, "the squared sum of the gradient is positive",
        hypotheses=(NOT_ZERO,), form=Form.BOUNDARY,
        corrected_by="S-remark-growth/middle-term/sharpened",
    ),
    LAST_TERM := growth(
        "/last-term", ALONG**2 > 0,
        "the last term of Theorem 4.1 is positive, also where γ is stationary",
        locations=(final(171, AFTER, "expected to be bounded away from zero"),),
        hypotheses=(BEST_SCALE, NOT_ZERO), form=Form.BOUNDARY,
        remark="The text expects it to be bounded away from zero, with γ and β constants for its"
        " analysis. A γ that is trained goes to where ∂L̂/∂γ = ⟨g, ŷ⟩ is zero.",
    ),
    LAST_TERM.corrected(**SQUARED_SLOPE),
    LAST_TERM_SHARED := LAST_TERM.under(EPS, REFUTED),
    LAST_TERM_SHARED.corrected(**SQUARED_SLOPE),
    LAST_TERM.sharpened(
        "by-parameters", title="Theorem 4.1 by the derivatives in β and γ",
        says=equal(norm2(grad), SCALE * (norm2(g) - (IN_BETA**2 + IN_GAMMA**2) / m)),
        hypotheses=(),
        remark="Both gains vanish where β and γ are stationary.",
    ),
    LAST_TERM.sharpened(
        "isotropic-share", title="the share of both terms in a random gradient",
        says=equal((norm2(one) + norm2(yhat)) / m, 2),
        hypotheses=(),
        remark="For a g of independent entries of mean zero and variance s the mean of ⟨a, g⟩² is s"
        " ‖a‖². So both terms together take 2s of the ms that ‖g‖² is in the mean: a share of 2/m.",
    ),
    NO_GRADIENT := LAST_TERM.sharpened(
        "two-examples", title="a batch of two examples has the gradient zero",
        says=equal(norm2(grad), 0),
        hypotheses=(TWO_EXAMPLES,),
        remark="Its normalised outputs are 1 and -1, whatever it is.",
    ),
    LAST_TERM.sharpened(
        "two-examples-hessian", title="a batch of two examples has the Hessian zero",
        says=equal(norm2(hessian(u)), 0),
        hypotheses=(TWO_EXAMPLES,),
    ),
    LAST_TERM.sharpened(
        "curvature-by-parameters", title="Theorem 4.2 by the derivative in γ",
        says=equal(
            hessian_form(GRAD),
            SCALE * quadratic(GRAD) - gamma / (m * sigma**2) * IN_GAMMA * norm2(grad),
        ),
        hypotheses=(),
        remark="The gain vanishes where γ is stationary.",
    ),
]  # fmt: skip

HERE = "Sect. 4.2, after Theorem 4.2"
convex_loss = named(
    "L({0})", number(1) / 2 * dot(v, BN(variable) - y) ** 2 + dot(u, BN(variable)), BN(variable)
)
"""A convex loss behind the layer: at z = y, g = u and H = vv'."""
slope_of_convex = named("h", gradient(convex_loss, variable, at=y))
bending_of_convex = named(
    r"h^\top\hat H h",
    dot(slope_of_convex, along(gradient(convex_loss, variable), variable, slope_of_convex, at=y)),
)
MEETS_CONVEX = assume(dot(yhat, u) >= 0, words=r"\langle \hat y, u\rangle \ge 0,\ u = g")
MEETS = assume(dot(yhat, g) >= 0)
NOT_REVERSED = assume(gamma >= 0, printed=False)
CONVEX_ALONG = replace(POSITIVE, printed=True)
"""The second of the text's two conditions."""
LINEAR = assume(
    equal(norm2(H(g)), 0), impose=lambda case: case.with_isotropic_loss(case.direction, 0),
    printed=False, words=r"L \text{ is linear, a convex loss with } H = 0",
)  # fmt: skip
POSITIVE_SHARE = SCALE**2 / (norm2(g) * m) * CONVEX_ALONG.slack
PREDICTIVE = [
    SMOOTHNESS := Claim(
        id="S-remark-predictive/smoothness", title="the layer makes the second-order term smaller",
        locations=(
            final(185, HERE, "as long as these two conditions hold, the"),
            final(185, HERE, "are more predictive than those of the standard network"),
        ),
        says=bending_of_convex <= named(r"g^\top H g", dot(u, v) ** 2),
        hypotheses=(IDENTITY_LAYER, MEETS_CONVEX), form=Form.READING, expected=REFUTED,
        attack=(in_directions((0, 0, 1), (0, 1, 0)),),
        remark="For the convex loss L(z) = ⟨v, z - y⟩²/2 + ⟨u, z⟩: at z = y it has g = u and"
        " H = vvᵀ.",
    ),
    SMOOTHNESS.corrected(
        title="the layer makes the second-order term smaller",
        says=hessian_form(GRAD) <= quadratic(g),
        hypotheses=(RATIO, NOT_ZERO, CONVEX_ALONG, NOT_LONGER, MEETS, NOT_REVERSED),
        because=1 / sigma**2 * CONVEX_ALONG.slack * NOT_LONGER.slack
        + SCALE / sigma**2 * CONVEX_ALONG.slack * NOT_LONGER.slack
        + POSITIVE_SHARE * dot(one, g) ** 2
        + POSITIVE_SHARE * dot(yhat, g) ** 2
        - SCALE / norm2(g) * RATIO.slack
        + 1 / (m * sigma**2) * NOT_REVERSED.slack * MEETS.slack * norm2(grad),
        remark="The first hypothesis, of relative norms, is that of Theorem 4.2's second display;"
        " every H that is a multiple of the identity meets it.",
    ),
    SMOOTHNESS.under(
        EPS, REFUTED,
        corrected_by="S-thm-4.2a/eps/corrected", attack=(in_directions((0, 1, 0), (1, 0, 0)),),
    ),
    CHANGE := replace(
        SMOOTHNESS, id="S-remark-predictive/gradient",
        title="the layer makes the gradient change less",
        says=norm2(hessian(grad)) <= norm2(H(g)),
        hypotheses=(LINEAR, IDENTITY_LAYER, MEETS), attack=(in_directions((1, -2, 1), (1, -2, 1)),),
        corrected_by="S-remark-predictive/gradient/sharpened",
        remark="For a linear loss the gradient does not change without the layer.",
    ),
    CHANGE.sharpened(
        title="how much the gradient changes at least, with the layer",
        says=norm2(hessian(grad)) >= norm2(grad) ** 2 / (m * sigma**2),
        hypotheses=(),
        because=1 * norm2(hessian(grad) + yhat * (norm2(grad) / (m * sigma))),
    ),
    CHANGE.under(EPS, REFUTED, corrected_by="S-thm-4.2a/eps/corrected"),
]  # fmt: skip

CLAIMS = with_hints([*CONSTANTS, *GROWTH, *PREDICTIVE])
