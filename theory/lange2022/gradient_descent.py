r"""Sect. 3.1: gradient descent near a minimizer, (5) and (6), and a change of variables, (7), (8).

**"A local minimizer (or gradient zero and Hessian positive semi-definite)."**  Read as "that is",
it is not right.  Read as two hypotheses, with :math:`\lambda_{\min} > 0` as the text assumes next,
either gives the other.  So the words harm nothing where they are used.

**(5)** holds with every learning rate for one step, and for all steps if r < 1: if
:math:`r + \epsilon \le 1` the neighbourhood is kept.  For all steps and any learning rate, as
printed, it does not: on :math:`t^2/2 + t^4/4` with :math:`\alpha = 1 + r > 2` a step multiplies t
by :math:`-(r + (1 + r)t^2)`, so every start other than 0 goes away until the ratio is above
:math:`r + \epsilon`.

**r bounds what a step does to a vector.**  For h between :math:`\lambda` and :math:`\Lambda`, with
s = 2 - alpha (lambda + Lambda),

.. math:: (1 - \alpha\lambda)^2 - (1 - \alpha h)^2
          = \alpha^2(h - \lambda)(\Lambda - h) + \alpha s (h - \lambda), \qquad
          (1 - \alpha\Lambda)^2 - (1 - \alpha h)^2
          = \alpha^2(h - \lambda)(\Lambda - h) - \alpha s (\Lambda - h),

so one of the two ends is the largest.  A matrix may stand for h: :math:`\lambda I \preceq H \preceq
\Lambda I` gives :math:`(H - \lambda)(\Lambda - H) \succeq 0` by the spectral theorem.

**(7) and (8)** are the chain rule, P being linear and constant.  Where P depends on the point, the
Jacobian of :math:`z \mapsto P(z)z` takes its place: so it is for all layers jointly, where the P of
one depends on the weights of those below.
"""

from dataclasses import replace
from typing import Any

from theory.descent import (
    H,
    H_above,
    H_definite,
    L,
    P,
    alpha,
    curved_star,
    definite,
    high,
    highest,
    iterates,
    learning_rate,
    listed,
    low,
    lowest,
    pair,
    rate,
    slope,
    slope_star,
    theta,
    theta_star,
    trace_of,
    v,
    variable,
    x,
    zero,
)
from theory.lange2022.chosen import descent_of
from theory.lange2022.texts import about, at
from theory.language.arrays import cubes, dot, entrywise, largest, norm2, smallest, transpose
from theory.language.expression import Expression, along, equal, gradient, named, number
from theory.language.letters import free, number_of, positive, vector_of
from theory.matrix_claim import Kind
from theory.statement import REFUTED, SUPPORTED, Form, assume

# "A local minimizer (or gradient zero and Hessian positive semi-definite)"


def cubic(point: Expression) -> Expression:
    """A cubic whose gradient and Hessian vanish at 0."""
    return dot(x, point) * norm2(point)


GROWN = (dot(theta, H @ theta) + alpha * norm2(theta)) / 2 + cubic(theta)
"""The cubic and half the quadratic form of a matrix whose eigenvalues are at least alpha."""
SEMI_DEFINITE = assume(dot(theta, H @ theta) >= 0)
NEAR = assume(dot(x, theta) >= -alpha / 2)
CRITICAL = assume(equal(gradient(cubic(variable), variable, at=zero), 0))
SLOPE_OF_CUBIC = along(cubic(variable), variable, theta)
FLAT_CURVED = assume(along(SLOPE_OF_CUBIC, variable, theta, at=zero) >= 0)

words = about(Kind.DESCENT, "L-def-minimiser", "Sect. 3.1, above eq. (5)")
MINIMIZER = [
    THAT_IS := words(
        "", 82, "be a local minimizer of", "a critical point taken for a minimizer",
        cubic(theta) >= 0,
        hypotheses=(CRITICAL, FLAT_CURVED), form=Form.READING, expected=REFUTED,
        remark="'Or' read as 'that is'. A minimizer has both, so it is the converse that fails: a"
        " cubic that is negative somewhere is so in every neighbourhood of 0.",
    ),
    THAT_IS.corrected(
        says=GROWN >= 0,
        title="a loss of degree three with a positive definite Hessian at its critical point 0",
        hypotheses=(NEAR, SEMI_DEFINITE),
        because=number(1) / 2 * SEMI_DEFINITE.slack + norm2(theta) * NEAR.slack,
        remark="The left side is the loss at θ. Its gradient at 0 is zero, and its Hessian there"
        " H + αI, whose least eigenvalue is positive, as the text assumes next. The first"
        " hypothesis holds for ‖θ‖ ≤ α/(2‖x‖), so that the minimizer is a local one.",
    ),
    THAT_IS.sharpened(
        "growth", title="how such a loss grows around its minimizer",
        says=GROWN >= (alpha / 2 + dot(x, theta)) * norm2(theta),
        hypotheses=(SEMI_DEFINITE,),
        because=number(1) / 2 * SEMI_DEFINITE.slack,
    ),
]  # fmt: skip

# (5)

r_above_1 = number_of("r", "r", lambda descent: 1 + descent.step, "r > 1")
t = number_of("t", "t", free(0))
t_near = number_of("t_0", "t_0", lambda descent: descent.free[0] / 4)
u_near = vector_of("u_0", "u_0", lambda descent: descent.direction / 16)
alpha_any = learning_rate(lambda descent: descent.step / trace_of(definite(descent)))


def quartic_step(point: Expression) -> Expression:
    r"""A step on :math:`t^2/2 + t^4/4` with the learning rate 1 + r."""
    return point - (1 + r_above_1) * (point + point**3)


def quartic_loss(point: Expression) -> Expression:
    r"""The loss :math:`\tfrac12\theta^\top H\theta + \tfrac14\sum\theta_i^4`, minimal at 0."""
    value = dot(point, H_definite @ point) / 2 + norm2(entrywise(point, point)) / 4
    return named(r"\mathcal L({0})", value, point)


def curved(point: Expression) -> Expression:
    """The Hessian of that loss at a point, applied to v."""
    return along(gradient(quartic_loss(variable), variable), variable, v, at=point)


def quartic_step_in_space(point: Expression) -> Expression:
    """A step on it."""
    return point - alpha_any * (H_definite @ point + cubes(point))


NUMBERS = iterates("t", t_near, quartic_step, 2)
VECTORS = iterates("u", u_near, quartic_step_in_space, 3)
RATE = rate(alpha_any, H_definite)
MARGIN = named(r"\epsilon", alpha_any * norm2(u_near))

five = about(Kind.DESCENT, "L-eq-5-6", "Sect. 3.1, eq. (5)")
AVERAGE = named(r"\bar H v", (curved(zero) + 4 * curved(v / 2) + curved(v)) / 6)
"""The average of the Hessian over the segment, as degree four has it by Simpson's rule."""

theta_k = named(r"\theta_k", theta_star + v)
OFF = theta_k - theta_star
NEXT = theta_k - alpha * slope_star(theta_k)
STEPPED = NEXT - theta_star
CURVED_OFF = curved_star(theta_star, OFF)
LINEAR_STEP = OFF - alpha * CURVED_OFF
REST = named("e_k", slope_star(theta_k) - slope_star(theta_star) - CURVED_OFF)
"""What the slope is beyond the Hessian times the distance."""
r_positive = number_of("r", "r", positive(0), "r > 0")
epsilon = number_of("epsilon", r"\epsilon", positive(2), r"\epsilon > 0")
AT_RATE_R = assume(norm2(LINEAR_STEP) <= r_positive**2 * norm2(OFF))
NEARLY_LINEAR = assume(alpha**2 * norm2(REST) <= epsilon**2 * norm2(OFF))
"""What a small neighbourhood gives."""
BY_TRIANGLE = (
    (1 + epsilon / r_positive) * AT_RATE_R.slack
    + (1 + r_positive / epsilon) * NEARLY_LINEAR.slack
    + 1 / (r_positive * epsilon) * norm2(epsilon * LINEAR_STEP + r_positive * alpha * REST)
)
"""The proof that the norm of a sum is at most the sum of the norms."""

STEPS = [
    FIVE := five(
        "/5", 82, "in that neighborhood, we have",
        "every step of gradient descent near a minimizer",
        listed(*(after**2 for after in NUMBERS[1:]))
        <= listed(*((r_above_1 + 1) ** 2 * before**2 for before in NUMBERS[:-1])),
        form=Form.READING, expected=REFUTED, attack=(descent_of(2, 2),),
        remark="For the loss t²/2 + t⁴/4, r = 3, α = 1 + r, ϵ = 1 and t₀ = 1/2 the second step"
        " fails; from a nearer start other than 0 the second or a later one"
        " (L-eq-5-6/5/goes-away). Nor can ϵ be left out: for t²/2 - t⁴/4 and α = 1/2 the ratio is"
        " (1 + t²)/2, and r = 1/2.",
    ),
    FIVE.corrected(
        "any-loss", title="a step of gradient descent on any loss, near a minimizer",
        says=norm2(STEPPED) <= (r_positive + epsilon) ** 2 * norm2(OFF),
        hypotheses=(AT_RATE_R, NEARLY_LINEAR),
        because=BY_TRIANGLE,
        remark="A loss that is twice differentiable at θ* has a neighbourhood where the second"
        " hypothesis holds, and the first holds with the r of (5). Where r + ϵ ≤ 1 no step leaves"
        " it, and so it is for every k (equation_5_every_step in theory/coq).",
    ),
    FIVE.corrected(
        title="every step of gradient descent on a loss of degree four, where r + ϵ is at most one",
        says=listed(*(norm2(after) for after in VECTORS[1:]))
        <= listed(*((RATE + MARGIN) ** 2 * norm2(before) for before in VECTORS[:-1])),
        hypotheses=(assume(RATE + MARGIN <= 1, printed=False),), expected=SUPPORTED,
        remark="If r < 1 this is so for all k, from a small enough u₀. The loss is half a quadratic"
        " form plus a quarter of a sum of fourth powers.",
    ),
    FIVE.corrected(
        "average-hessian", title="one step on a loss of degree four, exactly",
        says=equal(v - alpha * gradient(quartic_loss(variable), variable, at=v),
                   v - alpha * AVERAGE),
        remark="For any loss H̄ is the mean of the Hessian over the segment from the minimizer,"
        " which Simpson's rule gives for degree four. By L-eq-5-6/rate the norm of the right side"
        " is at most (r + α‖H̄ - H*‖) ‖θ₀ - θ*‖, for any learning rate.",
    ),
    FIVE.sharpened(
        "goes-away", title="descent from every start goes away where r > 1",
        says=quartic_step(t) ** 2 >= r_above_1**2 * t**2,
        because=2 * r_above_1 * (r_above_1 + 1) * (t**2) ** 2
        + (r_above_1 + 1) ** 2 * (t**3) ** 2,
        remark="So (5) fails in every neighbourhood: where r > 1 the iteration goes away until (1 +"
        " r)θ² > ϵ, and then a step is too long.",
    ),
]  # fmt: skip

# "In order for r < 1", and (6)


def _scaled(descent: Any) -> Any:
    return descent.step / (lowest(descent) + highest(descent))


alpha_scaled = learning_rate(_scaled)
r_any = number_of(
    "r", "r", lambda descent: 1 - _scaled(descent) * lowest(descent) + descent.free[2] ** 2
)
alpha_best, kappa = named(r"\alpha", 2 / (low + high)), named(r"\kappa", high / low)
STEP_BELOW_TWO = alpha_any * largest(H_definite) < 2
ABOVE_LOW = assume(r_any >= 1 - alpha_scaled * low)
ABOVE_HIGH = assume(r_any >= alpha_scaled * high - 1)

six = about(Kind.DESCENT, "L-eq-5-6", "Sect. 3.1")
LEARNING_RATES = [
    NEEDS := six(
        "/needs", 86, "In order for ", "the learning rates for which descent can converge",
        STEP_BELOW_TWO, at="below eq. (5)", hypotheses=(assume(RATE < 1),), expected=SUPPORTED,
    ),
    NEEDS.sharpened(
        "enough", says=RATE < 1, expected=SUPPORTED,
        hypotheses=(assume(STEP_BELOW_TWO, printed=False),),
        title="the learning rates for which descent does converge",
    ),
    NEEDS.sharpened(
        "product", says=equal(1 - (1 - alpha * low) ** 2, alpha * low * (2 - alpha * low)),
        title="for which learning rates r is below one, by a product", hypotheses=(),
        remark="And likewise of the largest eigenvalue. So r < 1 exactly where α times it is below"
        " 2, the smallest being positive.",
    ),
    BEST := six(
        "/6", 86, r"\alpha=\frac{2}{\lambda_{\text{min}}", "the best learning rate",
        equal(pair(1 - alpha_best * low, alpha_best * high - 1),
              pair((kappa - 1) / (kappa + 1), (kappa - 1) / (kappa + 1))),
        at="above eq. (6)", also=at(88, "Sect. 3.1, eq. (6)", r"r=\frac{\kappa-1}{\kappa+1}"),
        hypotheses=(assume(low > 0),),
    ),
    BEST.sharpened(
        "lower-bound", title="no learning rate is better",
        says=(low + high) * r_any >= high - low,
        hypotheses=(ABOVE_LOW, ABOVE_HIGH),
        because=high * ABOVE_LOW.slack + low * ABOVE_HIGH.slack,
        remark="So r is at least (κ - 1)/(κ + 1), whatever the learning rate is.",
    ),
]  # fmt: skip

# r bounds what a step does to a vector

alpha_slow = learning_rate(lambda descent: 2 / (lowest(descent) + highest(descent) + descent.step))
alpha_fast = learning_rate(
    lambda descent: (2 + descent.step) / (lowest(descent) + highest(descent))
)
MOVED = H_above @ v
BETWEEN = assume(dot(MOVED - low * v, high * v - MOVED) >= 0)
OVER_LOW = assume(dot(v, MOVED) >= low * norm2(v))
UNDER_HIGH = assume(dot(v, MOVED) <= high * norm2(v))
SLOW, FAST = (
    replace(assume(case, printed=False), is_ours=True)
    for case in (alpha_slow * (low + high) <= 2, alpha_fast * (low + high) >= 2)
)
"""The two cases of the maximum."""

CONTRACTIONS = [
    CONTRACTED := six(
        "/rate", 86, r"r=\max\{\left|1-\alpha\lambda_{\text{min}}",
        "the rate r where the smallest eigenvalue decides",
        norm2(v - alpha_slow * MOVED) <= (1 - alpha_slow * low) ** 2 * norm2(v),
        at="below eq. (5)", hypotheses=(BETWEEN, OVER_LOW, SLOW),
        because=alpha_slow**2 * BETWEEN.slack + alpha_slow * SLOW.slack * OVER_LOW.slack,
    ),
    replace(
        CONTRACTED, id="L-eq-5-6/rate-fast",
        title="the rate r where the largest eigenvalue decides",
        says=norm2(v - alpha_fast * MOVED) <= (1 - alpha_fast * high) ** 2 * norm2(v),
        hypotheses=(BETWEEN, UNDER_HIGH, FAST),
        because=alpha_fast**2 * BETWEEN.slack + alpha_fast * FAST.slack * UNDER_HIGH.slack,
    ),
]  # fmt: skip

# (7) and (8)

z = vector_of("z", "z", "direction")
u = vector_of("u", "u", "theta")
P_z = P @ z
TRANSFORMED = gradient(L(P @ variable), variable)
SLOPE_Z = named(r"\nabla_z\mathcal L(P z)", gradient(L(P @ variable), variable, at=z))
CURVED_Z = named(r"\nabla_z^2\mathcal L(P z) u", along(TRANSFORMED, variable, u, at=z))
CURVED = named(
    r"\nabla_\theta^2\mathcal L(P z) {0:product}",
    along(slope(variable), variable, P @ u, at=P_z),
    P @ u,
)
VARYING_SLOPE = named(
    r"\nabla_z\mathcal L(P(z) z)", gradient(L(entrywise(variable, P @ variable)), variable, at=z)
)
"""For the matrix diag(z)P, which depends on the point."""
AT_VARYING = slope(entrywise(z, P_z))
IN_Z = named(r"P^\top H P", transpose(P) @ H @ P)
CONVEX = assume(smallest(H) > 0)


def best(matrix: Expression) -> Expression:
    """The learning rate that (6) is for."""
    return 2 / (smallest(matrix) + largest(matrix))


OPTIMUM = (largest(IN_Z) - smallest(IN_Z)) / (largest(IN_Z) + smallest(IN_Z))

kappa_theta = number_of(
    "kappa", r"\kappa", lambda descent: 1 + descent.free[0] ** 2, r"\kappa \ge 1"
)
kappa_z = number_of(
    "kappa_P", r"\kappa_P", lambda descent: 1 + descent.free[1] ** 2, r"\kappa_P \ge 1"
)
BETTER = assume(kappa_z <= kappa_theta)

seven = about(Kind.DESCENT, "L-eq-7-8", "Sect. 3.1")
CHANGED_VARIABLES = [
    seven(
        "", 98, r"P^{T}\nabla_{\theta}\mathcal{L}\left(\theta_{k}\right), (7)",
        "the gradient in the preconditioned parameters z",
        equal(SLOPE_Z, transpose(P) @ slope(P_z)), at="(7)",
    ),
    seven(
        "/hessian", 106, r"P^{T}\nabla^{2}_{\theta}\mathcal{L}\left({\theta}^{*}\right)P.",
        "the Hessian in the preconditioned parameters z",
        equal(CURVED_Z, transpose(P) @ CURVED), at="after (7)",
    ),
    seven(
        "/eq-8", 110, r"\theta_{k}-\alpha PP^{T}\nabla_{\theta}\mathcal{L}",
        "a step in the preconditioned parameters z, seen in θ",
        equal(P @ (z - alpha * SLOPE_Z), P_z - alpha * (P @ transpose(P) @ slope(P_z))), at="(8)",
    ),
    VARYING := seven(
        "/P-of-theta", 112, "simply involves modifying the gradient",
        "a preconditioner that depends on the point",
        equal(VARYING_SLOPE, transpose(P) @ entrywise(z, AT_VARYING)),
        at="after (8)", form=Form.BOUNDARY, expected=REFUTED,
        remark="P(z) = diag(z) P, as if it were constant.  The text has a constant P here; section"
        " 3.3 takes P from the batch, layer by layer.",
    ),
    VARYING.corrected(
        says=equal(
            VARYING_SLOPE, transpose(P) @ entrywise(z, AT_VARYING) + entrywise(P_z, AT_VARYING)
        ),
        title="a preconditioner that depends on the point, with the Jacobian in its place",
    ),
    seven(
        "/reduced", 108, "is reduced and the convergence accelerated",
        "a better condition number, a better rate",
        (kappa_z - 1) / (kappa_z + 1) <= (kappa_theta - 1) / (kappa_theta + 1),
        at="above (8)", hypotheses=(BETTER,),
        because=2 / ((kappa_z + 1) * (kappa_theta + 1)) * BETTER.slack,
        remark="r of (6) grows with κ.",
    ),
    KEPT_RATE := seven(
        "/kept-learning-rate", 104, r"as determined by (6) and the Hessian of",
        "the rate in z with the learning rate kept",
        rate(best(H), IN_Z) <= OPTIMUM,
        at="the bound in z", hypotheses=(CONVEX,), form=Form.READING, expected=REFUTED,
        remark="With the learning rate that is best for θ. 'r as determined by (6)' can be read as"
        " the rate of the best one for z, and then it holds.",
    ),
    KEPT_RATE.corrected(
        says=rate(best(IN_Z), IN_Z) <= OPTIMUM,
        title="the rate in z with the best learning rate there",
        expected=SUPPORTED,
    ),
]  # fmt: skip

CLAIMS = [*STEPS, *MINIMIZER, *LEARNING_RATES, *CONTRACTIONS, *CHANGED_VARIABLES]
