r"""Theorem 4.4: the minimax bound on the gradient in the weights; its proof, (10) to (18).

One output unit, y = XW, h = dLhat/dy.  The proof holds g, sigma and yhat fixed while X varies over
spectral norm at most lambda, so ghat_j = lambda^2 |h|^2 (:mod:`theory.maxima`).  Read literally,
g_j^2 is the square of a maximum; the charitable reading ``not-squared`` takes it for the maximum,
lambda^2 |g|^2.  The text does not say what mu_{g_j} is the mean of: dL/dy, lambda dL/dy
(``scaled-mean``), or g_j, one number (``itself``).

Every reading falls by one case: m = 2, y = (1, -1), gamma = sigma = 1, g = (1/2, -1/2), lambda = 1
has h = 0, and the right side is at most 1/2 - 0 - 1 < 0.  The proof breaks between (17) and its
last display: the coefficient of <g, yhat>^2 was 1/sqrt(m) (itself a slip for 1/m) and becomes 1,
g_j becomes g_j^2, and lambda^2 leaves the mean's term.  What is right is an equality with 1/m.

At each X it holds with <= (``each-input``).  The one consistent reading, in which X varies and y =
Xw stays what it is, is ``batch-held``: with two inputs or more and |y| <= lambda |w| the maximum is
the same, attained by X = y w'/|w|^2 + Qh v'/sqrt(h'Qh), Q = lambda^2 - y y'/|w|^2, v a unit vector
orthogonal to w.  Where everything moves with X (``inputs-move``: W = (1, 0), X = (y, u), the right
side at X0 = (v, 0) of norm lambda = |v|), no bound can hold: the gradient grows without limit in u.

The proof's (10) takes the largest eigenvalue of any square M for max x'Mx over |x| = 1, which is
right for symmetric M (the bounds of the proof use it for XX' alone; the sentence after it, for any
X, holds by Cauchy and Schwarz).  For M = uv' with <u, v> >= 0 the eigenvalue is <u, v>, the maximum
(<u, v> + |u||v|)/2.  With g = (1, 0), y = (1, -1) and gamma = lambda = 1 (17) says 0 <= 1/2 -
1/sqrt(2).

W_ij takes input x_i to unit j: y's derivative in W_ij is x_i.  A maximum over X is one over
X = lambda u e_1'/|u|.
"""

from dataclasses import replace
from typing import Any

from theory.claim import Claim, Form
from theory.language.expression import (
    Expression,
    Operation,
    Says,
    Sort,
    along,
    equal,
    gradient,
    named,
    number,
)
from theory.language.letters import vector_of
from theory.language.operations import average, dot, norm2, sqrt
from theory.maxima import largest_gradient
from theory.santurkar2018.chosen import four_signs, linear, shifted_away_from_a_minimum, with_hints
from theory.santurkar2018.letters import ALONG, EPS, SCALE, SLOPING, UNIT, VANILLA
from theory.santurkar2018.texts import displayed, final, supplement
from theory.statement import PROVED, REFUTED, assume
from theory.unit import (
    L,
    Lhat,
    bound,
    eps,
    g,
    gamma,
    grad,
    m,
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

PROOF = "App. C.2, proof of Theorem 4.4"

largest = Operation(
    "largest gradient", largest_gradient, r"\max_{{\|X\| \le {1}}}\|X^\top {0:product}\|^2",
    takes=(Sort.VECTOR, Sort.NUMBER),
)  # fmt: skip
"""The maximum over the inputs, what they are multiplied by being held fixed."""
g_hat = named(r"\hat g_j", largest(grad, bound))
g_j = named("g_j", largest(g, bound))


def printed(size: Expression, mean: Expression) -> Says:
    """Return the printed inequality; what g_j squared and the mean are is the reading's choice."""
    return g_hat <= SCALE * (size - m * mean**2 - bound**2 * ALONG**2)


def right_side(g: Expression, coefficient: Expression) -> Expression:
    """Return the right side that holds, with a coefficient before the last term."""
    last = coefficient * bound**2 * dot(g, yhat) ** 2
    return SCALE * (largest(g, bound) - bound**2 * m * average(g) ** 2 - last)


OVER_M = 1 / m
SLACK = eps * bound**2 * gamma**2 / (m * sigma**4) * ALONG**2


PRINTED = Claim(
    id="S-thm-4.4", title="the largest gradient in the weights",
    locations=(
        final(199, "Sect. 4.2, Theorem 4.4", r"g_{j}^{2}-m\mu_{g_{j}}^{2}-\lambda^{2}"),
        final(452, PROOF, r"g_{j}^{2}-m\mu_{g_{j}}^{2}-\lambda^{2}"),
        supplement(177, "App. C.2, Theorem 4.4", r"g_{j}^{2} - m \mu_{g_{j}}^{2} - \lambda^{2}"),
        supplement(215, PROOF, r"g_j^2 - m \mu_{g_j}^2 - \lambda^2"),
    ),
    says=printed(g_j**2, average(g)),
    expected=REFUTED, corrected_by="S-thm-4.4/corrected",
    remark="X varies while g, σ and ŷ are held.",
)  # fmt: skip


def reading(name: str, says: Says, title: str, **fields: Any) -> Claim:
    """Return another reading of the printed theorem."""
    settled = {"form": Form.READING, "title": title, **fields}
    return replace(PRINTED, id=f"S-thm-4.4/{name}", says=says, **settled)


READINGS = [
    PRINTED,
    *(
        reading(name, printed(size, mean), f"the largest gradient in the weights, {words}")
        for name, size, mean, words in (
            ("scaled-mean", g_j**2, bound * average(g), "μ the mean of λ ∂L/∂y"),
            ("itself", g_j**2, g_j, "μ the mean of gⱼ, one number"),
            ("not-squared", g_j, average(g), "gⱼ not squared"),
            ("not-squared/scaled-mean", g_j, bound * average(g),
             "gⱼ not squared and μ the mean of λ ∂L/∂y"),
        )
    ),
]  # fmt: skip
SHARED = PRINTED.under(EPS, REFUTED)
CORRECTED_SHARED = SHARED.corrected(
    says=g_hat <= right_side(g, OVER_M),
    because=SLACK,
    remark="The slack is ϵ times a square: with ϵ the norm of ŷ is below √m.",
)

AT_X = bound**2 * dot(u, grad) ** 2 / norm2(u)
OFF_X = bound**2 * norm2(grad - u * (dot(u, grad) / norm2(u)))

w = vector_of("w", "w", "other_direction")
"""The weights."""


def held(a: Expression) -> Expression:
    r"""Return :math:`Qa = \lambda^2 a - y\langle y, a\rangle/\|w\|^2`."""
    return named("Q {0:product}", bound**2 * a - y * (dot(y, a) / norm2(w)), a)


WITHIN = assume(norm2(y) <= bound**2 * norm2(w), printed=False)
ASIDE = u - grad * (dot(held(grad), u) / dot(grad, held(grad)))
NOT_SQUARED = next(r for r in READINGS if r.id == "S-thm-4.4/not-squared")
AT_ANY = "X = λ u e₁ᵀ/‖u‖ for any u, while g, σ and ŷ are held, those of any batch."
MOVES = (
    "The gradient at X = (y u), and λ²‖∂L̂/∂y‖² at X = v e₁ᵀ with λ = ‖v‖; the weights are (1, 0)."
    " The outputs, and with them g, σ and ŷ, move with X."
)
ALONG_BATCH = (linear(-1, 0, 1),)
WITH_EPSILON = {"corrected_by": CORRECTED_SHARED.id}
THEOREM = [
    *(replace(r, attack=ALONG_BATCH) for r in READINGS),
    PRINTED.sharpened(
        "how-much",
        title="by how much the bound with gⱼ squared is wrong",
        says=equal(
            g_hat - PRINTED.says.claimed,  # type: ignore[union-attr]
            SCALE * (
                bound**2 * norm2(g) * (number(1) - bound**2 * norm2(g))
                + (number(1) - bound**2) * m * average(g) ** 2
                + bound**2 * (number(1) - 1 / m) * ALONG**2
            ),
        ),
        remark="So for λ up to 1 the bound fails for every m from 2 on and every batch,"
        " wherever the gradient g is shorter than 1/λ and neither g nor γ is zero.",
    ),
    NOT_SQUARED.sharpened(
        "how-much", title="by how much the bound with gⱼ not squared is wrong",
        says=equal(
            g_hat - printed(g_j, average(g)).claimed,
            SCALE * (
                (number(1) - bound**2) * m * average(g) ** 2
                + bound**2 * (number(1) - 1 / m) * ALONG**2
            ),
        ),
        remark="gⱼ is the maximum of a squared norm already. So for λ up to 1 the bound fails for"
        " every m from 2 on, wherever γ ⟨g, ŷ⟩ is not zero.",
    ),
    *(replace(r, attack=ALONG_BATCH).under(EPS, REFUTED, **WITH_EPSILON) for r in READINGS),
    *(replace(r, attack=ALONG_BATCH).under(UNIT, REFUTED, **WITH_EPSILON) for r in READINGS),
    CORRECTED := PRINTED.corrected(
        title="the largest gradient in the weights, exactly",
        says=equal(g_hat, right_side(g, OVER_M)),
    ),
    CORRECTED_SHARED,
    SHARED.sharpened(
        "equality", title="the largest gradient in the weights, exactly",
        says=equal(g_hat, right_side(g, (number(1) + eps / sigma**2) / m)),
    ),
    EACH := reading(
        "each-input", AT_X <= right_side(g, OVER_M),
        "the gradient in the weights at each input matrix of one column",
        form=Form.BOUNDARY, expected=PROVED, corrected_by=None,
        because=OFF_X + SLACK,
        remark=f"{AT_ANY} The slack is λ² times the squared norm of the part of the gradient that"
        " is orthogonal to u.",
    ),
    EACH.under(EPS, PROVED, remark=AT_ANY),
    EACH.under(UNIT, REFUTED, because=None, corrected_by="S-thm-4.4/each-input/eps", remark=AT_ANY),
    MOVING := reading(
        "inputs-move",
        dot(y, grad) ** 2 + dot(u, grad) ** 2
        <= norm2(v) * norm2(gradient(Lhat(variable), variable, at=v)),
        "the gradient at one input matrix, and the bound (16) at another",
        form=Form.BOUNDARY, corrected_by=EACH.id,
        remark=f"{MOVES} That both X are small would not help: the gradient does not change when X"
        " is scaled.",
    ),
    MOVING.under(EPS, REFUTED, corrected_by="S-thm-4.4/each-input/eps", remark=MOVES),
    TWO := reading(
        "two-networks", g_hat <= right_side(VANILLA, OVER_M),
        "the largest gradients of two networks, each at its own point",
        form=Form.BOUNDARY, attack=(shifted_away_from_a_minimum,),
    ),
    TWO.under(EPS, REFUTED, **WITH_EPSILON),
    HELD := reading(
        "batch-held",
        equal(dot(y, grad) ** 2 / norm2(w) + dot(grad, held(grad)), right_side(g, OVER_M)),
        "the largest gradient in the weights, the batch held",
        form=Form.SHARPENED, expected=PROVED, amends="S-thm-4.4/corrected", corrected_by=None,
        remark="X varies so that y = Xw is held; w are the weights, two or more, with ‖y‖ ≤ λ‖w‖.",
    ),
    replace(
        HELD, id=f"{HELD.id}/within",
        title="the inputs that attain the maximum are within the bound",
        says=dot(y, u) ** 2 / norm2(w) + dot(held(grad), u) ** 2 / dot(grad, held(grad))
        <= bound**2 * norm2(u),
        hypotheses=(WITHIN, SLOPING),
        because=1 / norm2(w) * WITHIN.slack * norm2(ASIDE)
        + norm2(y) / norm2(w) * norm2(ASIDE - y * (dot(y, ASIDE) / norm2(y))),
    ),
]  # fmt: skip

equation = displayed(PROOF, "S-eq-10-18")
x, v_of_10, Xv = (
    vector_of("x", "x", "y"),
    vector_of("v", "v", "y"),
    vector_of("Xv", "Xv", "direction"),
)
MIRROR = 2 * dot(x, u) * x - norm2(x) * u
"""What u, reflected at x, is when it is not scaled."""
EIGENVALUE = assume(
    dot(u, v) >= 0, printed=False,
    words=r"\lambda_0(uv^\top) = \langle u, v\rangle, \text{ as } \langle u, v\rangle \ge 0",
)  # fmt: skip
BOUNDED = assume(norm2(Xv) <= bound**2 * norm2(v_of_10))
XTv = vector_of("X'v", r"X^\top v", "direction")
XXTv = vector_of("XX'v", r"XX^\top v", "other_direction")
TRANSPOSED = assume(norm2(XTv) <= bound**2 * norm2(v_of_10))
TWICE = assume(norm2(XXTv) <= bound**2 * norm2(XTv))
EIGENVALUES = [
    TEN := equation(
        {10: ((423, r"||x||_{2}=1}x^{\top}Mx"), (181, r"||x||_2 = 1} x^\top M x"))},
        dot(x, u) * dot(x, v) <= dot(u, v) * norm2(x),
        title="a quadratic form and the largest eigenvalue, M = uvᵀ",
        hypotheses=(EIGENVALUE,), expected=REFUTED,
    ),
    TEN.corrected(
        title="a quadratic form and the largest eigenvalue, M = uuᵀ",
        says=dot(x, u) ** 2 <= norm2(u) * norm2(x),
        hypotheses=(),
        because=norm2(u) * norm2(x - u * (dot(u, x) / norm2(u))),
    ),
    TEN.sharpened(
        title="a quadratic form and the largest eigenvalue of (M + Mᵀ)/2, M = uvᵀ",
        says=(2 * dot(x, u) * dot(x, v) - dot(u, v) * norm2(x)) ** 2
        <= norm2(u) * norm2(v) * norm2(x) ** 2,
        hypotheses=(),
        because=norm2(v) * norm2(MIRROR - v * (dot(v, MIRROR) / norm2(v))),
    ),
    equation(
        {10: ((425, "making this bound tight"), (183, "making this bound tight"))},
        dot(v_of_10, Xv) <= bound * norm2(v_of_10),
        id="S-eq-10-remark", title="a quadratic form and the spectral norm",
        hypotheses=(BOUNDED,),
        because=1 / (2 * bound) * norm2(bound * v_of_10 - Xv) + 1 / (2 * bound) * BOUNDED.slack,
        remark="By Cauchy and Schwarz; (10) gives it for symmetric X only. X = λI makes it an"
        " equality. In the proof X is m × d: λ[I 0] serves if d ≥ m, and for d < m a matrix of rank"
        " one for each v.",
    ),
]  # fmt: skip

x_i, x_k = vector_of("x_i", "x_i", "direction"), vector_of("x_k", "x_k", "other_direction")


def in_weight(
    x: Expression, name: str = r"\left(\frac{\partial\hat L}{\partial W_{ij}}\right)"
) -> Expression:
    """Return the derivative in the weight of an input, by differentiation of the network."""
    return named(name, along(Lhat(variable), variable, x, at=y))


IN_K = in_weight(x_k, r"\left(\frac{\partial\hat L}{\partial W_{kj}}\right)")

AT_U = bound**2 * along(Lhat(variable), variable, u, at=y) ** 2 / norm2(u)
AT_H = bound**2 * along(Lhat(variable), variable, grad, at=y) ** 2 / norm2(grad)
OF_L_AT_U = bound**2 * along(L(variable), variable, u, at=z) ** 2 / norm2(u)
OF_L_AT_G = bound**2 * along(L(variable), variable, g, at=z) ** 2 / norm2(g)
EACH_18 = {
    "says": OF_L_AT_U <= bound**2 * norm2(g),
    "because": bound**2 * norm2(g - u * (dot(u, g) / norm2(u))),
    "title": "the gradient of the loss at z, without the layer, at each input matrix of one column",
    "remark": "X = λ u e₁ᵀ/‖u‖: the maximum over ‖X‖ ≤ λ is one over such X.",
}
ATTAINED_18 = {
    "says": equal(OF_L_AT_G, bound**2 * norm2(g)),
    "title": "the gradient of the loss at z, without the layer, at the inputs that attain the"
    " maximum",
    "remark": "X = λ g e₁ᵀ/‖g‖.",
}
LINES = [
    *EIGENVALUES,
    equation(
        {15: ((438, r"||XX^{\top}||_{2}\leq\lambda^{2}"), (201, r"||XX^{\top}||_2 \le \lambda^2"))},
        norm2(XXTv) <= bound**4 * norm2(v_of_10),
        id="S-eq-15-remark", title="the spectral norm of XXᵀ",
        hypotheses=(TRANSPOSED, TWICE),
        because=bound**2 * TRANSPOSED.slack + 1 * TWICE.slack,
        remark="The bound of ‖X‖ is one of ‖Xᵀ‖ as well.",
    ),
    *equation(
        {11: ((429, r"{\partial W_{ij}} (11)"),
              (187, r"\frac{\partial y_{j}^{(b)}}{\partial W_{ij}}")),
         12: ((430, r"{x_{i}}^{(b)} (12)"), (190, r"x_i^{(b)}")),
         13: ((431, r"{\bm{x_{i}}}\right\rangle (13)"), (193, r"x_i \right\rangle \tag{13}"))},
        equal(in_weight(x_i, r"\frac{\partial\hat L}{\partial W_{ij}}"), dot(partial, x_i)),
        result="S-steps",
        title="the gradient in one weight",
    ).with_epsilon(PROVED),
    *(WEIGHTS := equation(
        {14: ((432, r"=\bm{X}^{\top}\left("), (195, r"\boldsymbol{X}^{\top} \left("))},
        equal(along(Lhat(variable), variable, x_i + 2 * x_k, at=y),
              dot(partial, x_i) + 2 * dot(partial, x_k)),
        title="the gradient in two weights, along (1, 2)",
    )).with_epsilon(PROVED),
    *equation(
        {15: ((436, r"\bm{XX^{\top}}\left("), (199, r"X X^{\top} \left("))},
        equal(in_weight(x_i) ** 2 + IN_K**2,
              dot(partial, x_i * dot(x_i, partial) + x_k * dot(x_k, partial))),
        title="the squared gradient in two weights, X = (xᵢ, xₖ)",
    ).with_epsilon(PROVED),
    *replace(
        WEIGHTS, id=f"{WEIGHTS.id}/bias", title="the gradient in a bias",
        says=equal(in_weight(one, r"\frac{\partial\hat L}{\partial b_j}"), 0),
        form=Form.BOUNDARY,
    ).with_epsilon(PROVED),
    *(SIXTEEN := equation(
        {16: ((440, r"\leq\lambda^{2}\left("), (203, r"\leq \lambda^{2} \left("))},
        AT_U <= bound**2 * norm2(partial),
        title="the gradient in the weights at each input matrix of one column",
        because=OFF_X,
        remark="X = λ u e₁ᵀ/‖u‖: the maximum over ‖X‖ ≤ λ is one over such X (the text has ‖X‖ < λ,"
        " where nothing attains it). The slack is λ² times the squared norm of the part of h ="
        " ∂L̂/∂y that is orthogonal to u; it vanishes for u = h, so the maximum is the right side.",
    )).with_epsilon(PROVED),
    SIXTEEN.sharpened(
        "equality", title="the gradient in the weights at the inputs that attain the maximum",
        says=equal(AT_H, bound**2 * norm2(partial)),
        hypotheses=(SLOPING,),
        because=None,
        remark="X = λ h e₁ᵀ/‖h‖ with h = ∂L̂/∂y.",
    ),
    SEVENTEEN := equation(
        {17: ((444, r"-\frac{1}{\sqrt{m}}\left\langle{"),
              (207, r"\frac{\lambda^2 \gamma^2}{\sigma^2}"))},
        g_hat <= bound**2 * gamma**2 / sigma**2 * (
            norm2(g) - 1 / m * dot(one, g) ** 2 - 1 / sqrt(m) * ALONG**2
        ),
        title="the largest gradient in the weights, by Theorem 4.1",
        expected=REFUTED, attack=(four_signs,), corrected_by=CORRECTED.id,
        remark="Both texts print the root here, where in the last version (9) and Theorem 4.1 have"
        " 1/m, and ‖X‖ < λ, read as ≤: else nothing attains the maximum.",
    ),
    SEVENTEEN.under(EPS, REFUTED, **WITH_EPSILON),
    SEVENTEEN.under(UNIT, REFUTED, **WITH_EPSILON),
    EIGHTEEN := equation(
        {18: ((448, r"g_{j}:=\max_{||X||_{2}<\lambda}"),
              (211, r"g_{j} := \max_{||X||_{2} < \lambda}"))},
        equal(largest(grad, bound), bound**2 * norm2(g)),
        title="the largest gradient of the normal network",
        expected=REFUTED, attack=ALONG_BATCH,
        remark="Both texts print L̂ on the left, where the words 'in the normal network' speak of"
        " L, and ‖X‖ < λ, read as ≤: else nothing attains the maximum.",
    ),
    SHARED_18 := EIGHTEEN.under(EPS, REFUTED),
    EIGHTEEN.corrected(**EACH_18),
    EIGHTEEN.sharpened("attained", **ATTAINED_18),
    SHARED_18.corrected(**EACH_18),
    SHARED_18.sharpened("attained", **ATTAINED_18),
]  # fmt: skip

CLAIMS = with_hints([*THEOREM, *LINES])
