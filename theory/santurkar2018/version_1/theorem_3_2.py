r"""Theorem 3.2, the gradient in one weight; Theorem C.4, its form under a condition on sigma.

.. math:: \Big|\frac{\partial\hat L}{\partial W_{ij}}\Big|^2 \le
          \frac{(|c|^{-1/2} + 1)^2}{\sigma^2}\Big|\frac{\partial L}{\partial W_{ij}}\Big|^2

The "correlation" c is read as the square of the cosine of x and g, as in lines (9) and (14) of the
proof.  The theorem then holds, for every eps and every mean of x, and a factor 4 can be saved: the
Jacobian is P/s, and 2P - I has norm at most one (a reflection at eps = 0), so that
:math:`s|\partial\hat L| = |\langle x, Pg\rangle| \le (|\langle x, g\rangle| + |x||g|)/2`, at
eps = 0 and for x and g of mean zero an equality where y lies along :math:`x/|x| - s\,g/|g|` with
:math:`s = \pm 1`, :math:`s\langle x, g\rangle \ge 0`.  The gradient g is the loss's at the
layer's output, as in the proof.

The text gets Theorem 3.2 from Theorem C.4 by "simple rearranging", which gives it only where its
factor is below one.
"""

from dataclasses import replace
from typing import Any

from theory.claim import Form, Hypothesis
from theory.language.expression import Expression, Letter, along, equal, named
from theory.language.operations import absolute, centred, dot, norm, norm2, sqrt
from theory.santurkar2018.chosen import NEARLY_ACROSS, UNLIKE, steep_at_the_output, with_hints
from theory.santurkar2018.letters import EPS
from theory.santurkar2018.texts import ONE_TEXT, lines_of, readings_of, version_1
from theory.santurkar2018.version_1.letters import (
    DL,
    LOSS,
    SLOPE,
    TWO_EPSILONS,
    X_I_CENTRED,
    any_epsilon,
    below,
    bracket,
    by_weights,
    corr_size,
    cosine,
    g,
    g_at_y,
    lengths,
    tenfold,
    x_i,
)
from theory.statement import PROVED, REFUTED, UNREADABLE, assume
from theory.unit import (
    L,
    Lhat,
    bound,
    eps,
    gamma,
    m,
    normalize,
    one,
    sigma,
    variable,
    variance,
    y,
    yhat,
    z,
)

p = dot(x_i, g)
COSINE = cosine(x_i, g)
DEVIATION = named(r"\sigma(x_i)", norm(centred(x_i)) / sqrt(m))


def gain(root: Expression) -> Expression:
    r"""Return :math:`(|c|^{-1/2} + 1)^2/\sigma^2` for a root of c."""
    return (1 / root + 1) ** 2 / sigma**2


def reflected(x: Expression, g: Expression, share: int = 1) -> Expression:
    r"""Return (|x||g| + |p|)^2 / (4 sigma^2), or more, less the square of the slope.

    r is :math:`\langle x, Rg\rangle` with R = 2P - I, and :math:`|r| \le |x||g|` by Lagrange's
    identity and :math:`|Rg|^2 = |g|^2 - 4(1 - \theta)\langle g, \hat y\rangle^2/m`.
    """
    p, n, quarter = dot(x, g), lengths(x, g), 1 / (4 * sigma**2)
    image = 2 * bracket(centred(g)) - g
    r = dot(x, image)
    across = norm2(x) * norm2(image - r / norm2(x) * x)
    lost = 4 * eps / sigma**2 / m * norm2(x) * dot(g, yhat) ** 2
    steeper = absolute(p) * sqrt(1 / n) ** 2  # a square: its sign is seen where that of 1/n is not
    return (
        quarter * across
        + quarter * steeper * across
        + quarter * lost
        + quarter * steeper * lost
        + quarter / absolute(p) * sqrt(1 / n) ** 2 * (absolute(p) * n - p * r) ** 2
        + (share - 1) * quarter * (n + absolute(p)) ** 2
    )


AT_OUTPUT = "The gradient on the right is taken at the layer's output, as in (9) and (14)."
"""A remark on statements that print the gradient of the network without the layer."""

gradient_in_weight = readings_of(
    "S-v1-thm-3.2",
    (
        version_1(167, "Sect. 3.3, Theorem 3.2", r"|c_{ij}\right|^{-1/2}+1\right)^2"),
        version_1(163, "Sect. 3.3, definition of c", "to be the correlation (over the mini-batch)"),
    ),
    "the gradient in one weight, c ",
    expected=REFUTED,
)
SHARP = reflected(x_i, g)
x_c, g_c, CORRELATION = centred(x_i), centred(g), corr_size(x_i, g)
NOT_ZERO = {at: assume(dot(x_i, at) ** 2 > 0, printed=False) for at in (g, g_at_y)}
THEOREM = [
    SQUARE := gradient_in_weight(
        "/square", DL**2 <= gain(COSINE) * p**2, "the square of a cosine",
        form=Form.PRINTED, hypotheses=(NOT_ZERO[g],), because=reflected(x_i, g, 4),
        expected=PROVED,
        remark=f"{AT_OUTPUT} The slack is at least three quarters of the bound; more where x and"
        " the gradient, reflected by the layer, make an angle, and with ϵ.",
    ),
    SQUARE.under(EPS, PROVED),
    SHARPENED := SQUARE.sharpened(
        says=DL**2 <= (1 / COSINE + 1) ** 2 / (4 * sigma**2) * p**2,
        because=SHARP,
    ),
    SHARPENED.under(EPS, PROVED, remark="Attained for every ϵ: x = g = (1,-2,1), y = (1,0,-1)."),
    PEARSON := gradient_in_weight(
        "/square-pearson", DL**2 <= gain(CORRELATION) * p**2,
        "the square of a correlation coefficient",
        hypotheses=(X_I_CENTRED, NOT_ZERO[g]), expected=PROVED,
        because=reflected(x_c, g_c, 4)
        + gain(CORRELATION) * dot(one, g) * (p + dot(x_c, g_c)) * X_I_CENTRED.slack,
        remark="The slack is as with the cosine; this c is at least as large.",
    ),
    PEARSON.under(EPS, PROVED),
    gradient_in_weight(
        "/square-pearson-any-mean", PEARSON.says,
        "the square of a correlation coefficient, inputs of any mean",
        form=Form.BOUNDARY, hypotheses=(assume(dot(x_c, g_c) ** 2 > 0, printed=False),),
        corrected_by=PEARSON.id, attack=(UNLIKE,),
    ),
    BY_COSINE := gradient_in_weight(
        "/cosine", DL**2 <= gain(sqrt(COSINE)) * p**2, "a cosine",
        hypotheses=(X_I_CENTRED, NOT_ZERO[g]), corrected_by=SHARPENED.id, attack=NEARLY_ACROSS,
        remark="True where the cosine is at least 3 - 2 √2.",
    ),
    BY_COSINE.under(EPS, REFUTED, corrected_by=f"{SHARPENED.id}/eps"),
    TWO_NETWORKS := gradient_in_weight(
        "/two-networks", DL**2 <= gain(cosine(x_i, g_at_y)) * dot(x_i, g_at_y) ** 2,
        "and the gradient on the right those of the network without BatchNorm",
        hypotheses=(X_I_CENTRED, NOT_ZERO[g_at_y]),
        corrected_by=SHARPENED.id, attack=(steep_at_the_output,),
    ),
    TWO_NETWORKS.under(EPS, REFUTED, corrected_by=f"{SHARPENED.id}/eps"),
]  # fmt: skip


def condition(e: Expression, root: Expression, impose: Any = None) -> Hypothesis:
    r"""Return :math:`\sigma^2 \ge (1 + \sqrt c)^2/(c - \varepsilon)`."""
    return assume(sigma**2 >= (1 + root) ** 2 / (root**2 - e), impose)


conditional = readings_of(
    "S-v1-thm-C4",
    (
        version_1(421, "App. C, Theorem C.4", r"(1+\sqrt{|c_{ij}|})^2}{|c_{ij}|-\varepsilon}"),
        version_1(423, "App. C, Theorem C.4", r"1 - |c_{ij}|^{-1} \cdot \varepsilon"),
    ),
    "the gradient in one weight under a condition, c ",
    expected=REFUTED, corrected_by="S-v1-thm-C4/square",
)  # fmt: skip
EPSILON = below(r"\varepsilon", COSINE**2, any_epsilon.domain)
SMALL = assume(COSINE**2 > EPSILON, printed=False)
KEPT = bound / (1 + bound) * p**2 / sigma**2
r""":math:`(1 - \varepsilon/c)p^2/\sigma^2`."""
CONDITION = condition(EPSILON, COSINE, tenfold)
QUARTER = assume(
    sigma**2 >= (1 + COSINE) ** 2 / (4 * (COSINE**2 - EPSILON)), tenfold, printed=False
)
LARGEST = COSINE - (1 + sqrt(COSINE)) ** 2 / sigma**2
TILTED = Lhat(variable) - dot(g_at_y - x_i, normalize(variable))
TILTED_NAME = Letter(
    "Lhat", r"\left[\mathcal L(\hat y) - \langle\nabla\mathcal L(y) - x_i, \hat y\rangle\right]"
)
APPENDIX = [
    CONDITIONAL := conditional(
        "/square", DL**2 <= (1 - EPSILON / COSINE**2) * p**2,
        "the square of a cosine",
        form=Form.PRINTED, hypotheses=(SMALL, CONDITION), expected=PROVED, corrected_by=None,
        because=KEPT * CONDITION.slack + reflected(x_i, g, 4),
        remark=f"{AT_OUTPUT} The slack is that of the condition and that of Theorem 3.2.",
    ),
    CONDITIONAL.under(EPS, PROVED, remark=f"{CONDITIONAL.remark} {TWO_EPSILONS}"),
    SHARPENED_CONDITIONAL := CONDITIONAL.sharpened(
        hypotheses=(SMALL, QUARTER),
        because=KEPT * QUARTER.slack + SHARP,
        remark="With equality where the condition and the sharpened Theorem 3.2 have it.",
    ),
    SHARPENED_CONDITIONAL.under(
        EPS, PROVED, remark=f"{SHARPENED_CONDITIONAL.remark} {TWO_EPSILONS}"
    ),
    conditional(
        "/any-epsilon", DL**2 <= (1 - any_epsilon / COSINE**2) * p**2,
        "the square of a cosine, any ε > 0",
        hypotheses=(X_I_CENTRED, NOT_ZERO[g], condition(any_epsilon, COSINE)),
        remark="The text has ε > 0. Above c the condition is void and the bound negative, and at c"
        " the condition is undefined; smaller ε are meant.",
    ),
    conditional(
        "/cosine", DL**2 <= (1 - named(r"\varepsilon", LARGEST) / COSINE) * p**2,
        "a cosine, ε the largest that is allowed",
        hypotheses=(X_I_CENTRED, assume(named(r"\varepsilon", LARGEST) > 0, tenfold)),
        attack=NEARLY_ACROSS,
    ),
    replace(
        CONDITIONAL, id="S-v1-thm-C4/two-networks",
        title="the gradient in one weight under a condition, two networks, a loss for which c = 1",
        says=by_weights("ij", along(TILTED, variable, x_i, at=y), TILTED_NAME) ** 2
        <= (1 - named(r"\varepsilon", 1 - 4 / sigma**2)) * norm2(x_i) ** 2,
        hypotheses=(X_I_CENTRED, assume(named(r"\varepsilon", 1 - 4 / sigma**2) > 0, tenfold)),
        form=Form.READING, expected=REFUTED, corrected_by=CONDITIONAL.id,
        because=None,
        remark="The loss is chosen: any loss less a linear function, so that its gradient at y is"
        " the input xᵢ itself and c = 1.",
    ),
]  # fmt: skip

line = lines_of("App. C, proof of Theorem C.4", "S-v1-steps", hypotheses=(X_I_CENTRED,))
S, ALPHA, a, a_c = norm2(g), dot(x_i, yhat), dot(g, yhat), dot(x_c, yhat)
p_c = dot(x_c, g)
SQUARED = sigma**2 * DL**2


def expanded(p: Expression, first: Expression, alpha: Expression) -> Expression:
    """Return the right side of (12) to (14) for a first square."""
    return first - 2 * (alpha / m) * p * a + alpha**2 / m**2 * a**2


MIDDLE, SHARE = a_c / m * p_c * a, absolute(a_c / m)
BOUNDED = p_c**2 + 2 * absolute(MIDDLE) + a_c**2 / m**2 * a**2
SIGN = (absolute(MIDDLE) + MIDDLE) ** 2 / absolute(MIDDLE)
n, k = sqrt(S) * norm(x_c), sqrt(S) * sqrt(m)
ACROSS = norm2(yhat - a / S * g)
SEVENTEEN = line(
    "S-v1-eq-17/repaired", (465, r"2\sqrt{c\alpha_{ij}}S_j\sigma_{xi}"),
    SQUARED <= p_c**2 + 2 * cosine(x_c, g) * a_c * S * DEVIATION + a_c**2 / m * S,
    "the square of the slope in one weight, the last sum by its bound, with c alone under the root",
    hypotheses=(), form=Form.READING, expected=REFUTED,
)  # fmt: skip
PROOF = [
    line(
        "S-v1-eq-8", (429, r"\frac{\partial G}{\partial z_j^{(b)}} x_i^{(b)}"),
        equal(by_weights("ij", along(L(z + gamma * (variable - y)), variable, x_i, at=y), LOSS), p),
        "the slope in one weight without BatchNorm, by the chain rule",
        remark="The loss without the layer is shifted so that its gradient at y is the loss's at"
        " ŷ.",
    ),
    line(
        "S-v1-eq-9", (435, r"= c \sigma_{x_i}^2 \sum_{b=1}^m"),
        equal(p**2, COSINE**2 * variance(x_i) * S),
        "the square of the slope in one weight, a factor m lost",
        expected=REFUTED, corrected_by="S-v1-proof-C4/vanilla-square", remark=ONE_TEXT,
    ),
    line(
        "S-v1-eq-10", (439, r"\sum_{b=1}^{m} \frac{\partial G}{\partial \hat{y}_{i}^{(b)}}"),
        equal(DL, dot(g, SLOPE)), "the slope in one weight with BatchNorm, by the chain rule",
    ),
    *line(
        "S-v1-eq-11",
        (441, r"\left( x_{i}^{(b)} - \frac{\alpha_{ij}}{m} \hat{y}_{j}^{(b)} \right)"),
        equal(DL, 1 / sigma * dot(g, bracket(x_i))), "the slope in one weight, Fact C.2 put in",
    ).with_epsilon(PROVED),
    line(
        "S-v1-eq-12",
        (443, r"\sigma_j^2 \left(\frac{\partial \mathcal{L}}{\partial \hat{y}_j^{(b)}}\right)^2"),
        equal(sigma**2 * S, m * expanded(p, p**2, ALPHA)),
        "the square of the loss's gradient, summed over the batch",
        expected=REFUTED, corrected_by="S-v1-eq-13",
        remark="Printed is the square in one example b, which the right side does not have; both"
        f" sides are summed over b here. {ONE_TEXT}",
    ),
    *line(
        "S-v1-eq-13", (453, r"\frac{\alpha_{ij}^{2}}{m^{2}}"),
        equal(SQUARED, expanded(p, p**2, ALPHA)), "the square of the slope in one weight, expanded",
    ).with_epsilon(PROVED),
    *line(
        "S-v1-eq-14", (456, r"cS_{j}m\sigma_{xi}^{2}"),
        equal(SQUARED, expanded(p, COSINE**2 * S * m * variance(x_i), ALPHA)),
        "the square of the slope in one weight, its first term by c",
    ).with_epsilon(PROVED),
    line(
        "S-v1-eq-15", (459, r"\leq cS_{j}m\sigma_{xi}^{2} + 2\left|\frac{\alpha_{ij}}{m}"),
        SQUARED <= BOUNDED,
        "the square of the slope in one weight, its middle term by the absolute value",
        hypotheses=(), because=SIGN,
        remark="The slack is twice the middle term, without its sign, where that is negative.",
    ),
    SIXTEEN := line(
        "S-v1-eq-16", (463, r"2\frac{\alpha_{ij}}{m}S_j(m\sigma_{xi})"),
        BOUNDED <= p_c**2 + 2 * (a_c / m) * S * (m * DEVIATION) + a_c**2 / m**2 * a**2,
        "the square of the slope in one weight, two sums by their bounds",
        hypotheses=(), expected=REFUTED, remark=ONE_TEXT,
    ),
    SIXTEEN.corrected(
        says=BOUNDED <= p_c**2 + 2 * SHARE * S * (m * DEVIATION) + a_c**2 / m**2 * a**2,
        because=2 * SHARE * k * (1 / sqrt(n + absolute(p_c))) ** 2 * S * norm2(x_c - p_c / S * g)
        + 2 * SHARE * absolute(p_c) * S / (k + absolute(a)) * ACROSS,
        remark="The slack is what the bounds of |⟨x, g⟩| and |⟨g, ŷ⟩| leave.",
    ),
    replace(
        SEVENTEEN, id="S-v1-eq-17",
        title="the square of the slope in one weight, the last sum by its bound",
        says=None,
        display=r"\ldots \le cS_jm\sigma_{x_i}^2 + 2\sqrt{c\alpha_{ij}}\,S_j\sigma_{x_i}"
        r" + \frac{\alpha_{ij}^2}{m}S_j",
        in_words="Its radical is drawn over too much.",
        form=Form.STEP, expected=UNREADABLE,
        unreadable="The radical is drawn over α too; scaling x shows that it cannot be, since all"
        " other terms grow with the square, and the condition on σ that follows has it over c.",
    ),
    SEVENTEEN,
    SEVENTEEN.corrected(
        id="S-v1-eq-17/corrected",
        says=SQUARED
        <= p_c**2 + 2 * cosine(x_c, g) * absolute(a_c) * S * DEVIATION + a_c**2 / m * S,
        hypotheses=(),
        because=SIGN
        + 2 * SHARE * absolute(p_c) / (k + absolute(a)) * S * ACROSS
        + S * (a_c / m) ** 2 * ACROSS,
        remark="The slack is twice the middle term of (13), without its sign, where that is"
        " negative, and what the bound of |⟨g, ŷ⟩| leaves.",
    ),
    line(
        "S-v1-proof-C4/vanilla-square", (469, r"mc\sigma_{x_i}^2 S_j"),
        equal(p**2, m * COSINE**2 * variance(x_i) * S),
        "the square of the slope in one weight without BatchNorm", place="after eq. (17)",
    ),
    line(
        "S-v1-proof-C4/gain", (477, r"\frac{\epsilon}{c} \cdot"),
        p**2 - DL**2 >= EPSILON / COSINE**2 * p**2, "what the condition on σ gains",
        place="the end",
        hypotheses=(SMALL, CONDITION), because=CONDITIONAL.because,
        remark="The slack is that of Theorem C.4.",
    ),
]  # fmt: skip

CLAIMS = with_hints([*THEOREM, *APPENDIX, *PROOF])
