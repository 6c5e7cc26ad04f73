r"""Theorem 1: the null space of the Hessian, the rate, its proof, and the networks it is for.

**The null space.**  Let :math:`X_s\theta` be the direction in which the incoming weights and the
biases of the hidden units grow by s and their outgoing weights shrink by it.  The loss does not
change along it, so :math:`\langle\nabla\mathcal L, X_s\theta\rangle = 0` at every :math:`\theta`;
differentiated, :math:`\nabla^2\mathcal L(\theta)\, X_s\theta = -X_s\nabla\mathcal L(\theta)`, which
vanishes at every critical point, minimizer or not.  Off the kinks of the ReLU: scaling by a
positive number keeps the sign of every pre-activation, so units are open or closed throughout.

**What the theorem asks of a network.**  "The null space is the column space" fails

- with a unit that is closed on the whole batch: all its parameters are flat, and only one direction
  of them is a scaling;
- for softmax with cross-entropy, the networks of sect. 5: adding one number to all output biases,
  or to all outgoing weights of a unit, changes nothing and scales no unit.  For one open unit with
  one weight and no bias these are all beside the scaling: with two different inputs the null space
  has dimension three.  A bias of the unit adds what it exchanges with the output biases;
- for softmax with few data: the Hessian at an interpolating minimizer has at most the rank
  :math:`N(n_{out} - 1)`; with one input and :math:`n_{out}` classes the null space of that unit
  has dimension :math:`n_{out} + 2`.

The proof wants less: a manifold of minimizers whose tangent space is the null space of the Hessian,
whatever moves along it.

**The rate**, on the smallest network :math:`\mathcal L = \tfrac12(ab - 1)^2`.  The minimizers are
:math:`\theta^*(t) = (t, 1/t)`; there the Hessian is :math:`n n^\top` with n = (1/t, t), so its one
nonzero eigenvalue is :math:`\lambda = t^2 + 1/t^2`, not bounded along the manifold.  Every point
near it is :math:`\theta = \theta^* + s n` for its nearest :math:`\theta^*`, with
:math:`ab - 1 = s(\lambda + s)`, and a step leads to

.. math:: \theta_{k+1} - \theta_k^* = s(1 - \alpha\lambda)n - \alpha e_k, \qquad
          e_k = s^2 n + s^2(\lambda + s)m, \quad m = (t, 1/t),\ \|m\|^2 = \|n\|^2 = \lambda .

So one step obeys (26) with an explicit constant.  The theorem for all k follows where r < 1.  With
:math:`\alpha > 2/\lambda` it does not: on the diagonal a = b near (1, 1), r = 2 alpha - 1, the
iteration leaves a neighbourhood of (1, 1), and for small :math:`\epsilon` some step has a larger
ratio than :math:`r + \epsilon`.
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

from array_api_compat import array_namespace

from theory.arithmetic.operations import larger
from theory.arithmetic.spectra import eigenvalues, nonzero
from theory.descent import (
    H,
    L,
    alpha,
    iterates,
    learning_rate,
    listed,
    pair,
    slope_star,
    theta_star,
    trace_of,
    x,
)
from theory.lange2022.chosen import descent_of
from theory.lange2022.gradient_descent import (
    AT_RATE_R,
    BY_TRIANGLE,
    LINEAR_STEP,
    NEARLY_LINEAR,
    NEXT,
    OFF,
    REST,
    STEPPED,
    epsilon,
    r_positive,
    theta_k,
)
from theory.lange2022.texts import about, at
from theory.language.arrays import absolute, dot, entrywise, first, maximum, norm, norm2, second
from theory.language.expression import (
    Expression,
    Letter,
    Operation,
    Primitive,
    Says,
    Sort,
    along,
    equal,
    gradient,
    named,
    number,
)
from theory.language.letters import free, number_of, positive, vector_of
from theory.matrix_claim import Kind
from theory.statement import REFUTED, SUPPORTED, Form, assume

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX

theorem = about(Kind.DESCENT, "L-thm-1", "Sect. 3.2")

# Sect. 3.2: the network output is invariant

relu = Operation(
    "relu", lambda z: z if z > 0 else 0 * z, r"\operatorname{{relu}}({0})", takes=(_N,)
)
w = vector_of("w", "w", "theta")
bias = number_of("b", "b", free(0))
scale = number_of("alpha", r"\alpha", "step", r"\alpha > 0")
gate = number_of("g", "g", free(1), r"g \in \{0, 1\}, \text{or any}")
weight = number_of("a", "a", free(2))
moving = Letter("b", "b")


def slope_at_kink(side: str, opened: Expression) -> Expression:
    """The slope at b = 0 of a ReLU network's loss, the unit's output being what it is there."""
    loss = (weight * opened - 1) ** 2 / 2
    latex = rf"\partial_b\tfrac12(a \operatorname{{relu}}(b) - 1)^2\big|_{{b = 0^{side}}}"
    return named(latex, along(loss, moving, number(1), at=number(0)))


SCALING = [
    INVARIANCE := theorem(
        "/invariance", 116, "the network output is invariant under simultaneous scaling",
        "scaling the rows of a ReLU layer and not its bias",
        equal(relu(scale * dot(w, x) + bias) / scale, relu(dot(w, x) + bias)),
        expected=REFUTED, sizes={"n": "d"},
        remark="Network (1) has biases: x = w = b = 1 and α = 2 give 3/2 against 2.",
    ),
    INVARIANCE.corrected(
        says=equal(relu(scale * dot(w, x) + scale * bias) / scale, relu(dot(w, x) + bias)),
        title="scaling the rows of a ReLU layer and its bias", expected=SUPPORTED,
    ),
    INVARIANCE.corrected(
        "open", title="scaling the rows and the bias of a unit that stays open, or closed",
        says=equal(gate / scale * (scale * dot(w, x) + scale * bias), gate * (dot(w, x) + bias)),
        remark="So it is away from the kinks of the ReLU.",
    ),
    theorem(
        "/kink", 130, "with continuous third order derivatives", "the loss at a kink of the ReLU",
        equal(slope_at_kink("+", moving), slope_at_kink("-", 0 * moving)),
        at="Theorem 1", form=Form.BOUNDARY, expected=REFUTED, sizes={},
        remark="Theorem 1 assumes continuous third derivatives. A ReLU network's loss need"
        " not have them where a pre-activation of the batch is 0.",
    ),
]  # fmt: skip

# Softmax with cross-entropy: one open unit, its outgoing weights, the output biases, its weight


def _one_more(vector: Any) -> Any:
    return array_namespace(vector).concat([vector, 0 * vector[:1] + 1])


def _probabilities(descent: Any) -> Any:
    weights = _one_more(descent.theta * descent.theta + 1)
    return weights / weights.sum()


def _parameters(outgoing: Callable[[Any], Any], biases: int, incoming: int) -> Callable[[Any], Any]:
    """Return a direction in parameter space, by what it is in outgoing weights and biases."""

    def direction(descent: Any) -> Any:
        b = _one_more(descent.direction)
        a = descent.free[:1]
        return array_namespace(b).concat([outgoing(b), 0 * b + biases, incoming * a])

    return direction


p = vector_of("p", "p", _probabilities, r"p > 0,\ \textstyle\sum_i p_i = 1")
"""The labels, which are the network's own probabilities."""
outgoing = vector_of("b", "b", lambda descent: _one_more(descent.direction), r"b \ne 0")
incoming = number_of("a", "a", free(0))
scaled_unit = vector_of(
    "s", "s", _parameters(lambda b: -b, 0, 1),
    r"s = (-b, 0, a) \text{, like } z = (z_{\text{out}}, z_{\text{bias}}, z_{\text{in}})"
    r"\text{: outgoing weights, output biases, incoming weight}",
)  # fmt: skip
shifted_biases = vector_of("t", "t", _parameters(lambda b: 0 * b, 1, 0), r"t = (0, \mathbf 1, 0)")
shifted_weights = vector_of(
    "r", "r", _parameters(lambda b: 0 * b + 1, 0, 0), r"r = (\mathbf 1, 0, 0)"
)
no_change = vector_of("0", "0", _parameters(lambda b: 0 * b, 0, 0))
change = Letter("z", "z", _V)
of_weights = Operation(
    "outgoing", lambda z: z[: z.shape[0] // 2], r"{0:atom}_{{\text{{out}}}}", gives=0, takes=(_V,)
)
of_biases = Operation(
    "biases", lambda z: z[z.shape[0] // 2 : -1], r"{0:atom}_{{\text{{bias}}}}", gives=0, takes=(_V,)
)  # fmt: skip
of_incoming = Operation("incoming", lambda z: z[-1], r"{0:atom}_{{\text{{in}}}}", takes=(_V,))
rows = Primitive(
    "rows", lambda descent, *vectors: array_namespace(descent.theta).stack(vectors),
    r"\left({0}, {1}, {2}\right)", gives=_M, takes=(_V, _V, _V),
)  # fmt: skip


def cross_entropy(z: Expression) -> Expression:
    r"""Cross-entropy with the labels p, up to second order in the change z of the parameters.

    The outputs change by :math:`u = (b + z_{out})(a + z_{in}) - a b + z_{bias}`.
    """
    u = named(
        "u", (outgoing + of_weights(z)) * (incoming + of_incoming(z))
        - incoming * outgoing + of_biases(z),
    )  # fmt: skip
    moved = dot(p, u + entrywise(u, u) / 2)
    return named(r"\mathcal L({0})", moved - moved**2 / 2 - dot(p, u), z)


def flat(direction: Expression) -> Expression:
    r"""Return :math:`\nabla^2\mathcal L` at the minimizer times a direction."""
    moved = along(gradient(cross_entropy(change), change), change, direction, at=no_change)
    return named(r"\nabla^2\mathcal L(0) {0:product}", moved, direction)


def parallel(a: Expression, b: Expression) -> Says:
    """Say that two vectors are multiples of each other: Cauchy-Schwarz is an equality."""
    return equal(norm2(a) * norm2(b), dot(a, b) ** 2)


changed_unit = vector_of(
    "t", "t",
    lambda descent: array_namespace(descent.theta).concat([descent.theta, descent.P[0, :1]]),
    r"t = (t_{\text{out}}, t_{\text{in}}) \text{, like } s",
)  # fmt: skip
scaled_alone = vector_of(
    "s", "s",
    lambda descent: array_namespace(descent.theta).concat([-descent.direction, descent.free[:1]]),
    r"s = (-b, a) \text{: outgoing weights, incoming weight}",
)  # fmt: skip

NETWORKS = [
    SHIFT := theorem(
        "/softmax", 130, "is equal to", "softmax: a flat direction that is no scaling",
        parallel(shifted_biases, scaled_unit), at="Theorem 1, second part",
        hypotheses=(assume(equal(flat(shifted_biases), 0), printed=False),), form=Form.BOUNDARY,
        expected=REFUTED, sizes={},
        remark="Theorem 1 assumes that scalings span the null space. With softmax, as in sect. 5,"
        " adding one number to all output biases changes nothing either. Here the cross-entropy"
        " stands to second order in the change u of the logits, with the network's own"
        " probabilities p for labels: its Hessian at 0 is the same.",
    ),
    SHIFT.corrected(
        says=equal(rows(*map(flat, (scaled_unit, shifted_biases, shifted_weights))), 0),
        title="softmax: the flat directions of an open unit",
        hypotheses=(), sizes=None,
        remark="With two different inputs a unit of one weight and no bias has no other flat"
        " directions, and Theorem 1 holds for the manifold of all three. With one input it has"
        " others. There are d + 1 outputs.",
    ),
    theorem(
        "/closed-unit", 130, "is equal to", "a unit that no example of the batch opens",
        parallel(changed_unit, scaled_alone),
        at="Theorem 1, second part", form=Form.BOUNDARY, expected=REFUTED, sizes={},
        remark="Theorem 1 assumes that scalings span the null space. The loss does not depend on"
        " the parameters of a unit that is closed on the whole batch: every direction t is in the"
        " null space, not the scaling s alone.",
    ),
]  # fmt: skip

# The null space: d units with a weight, a bias and an outgoing weight each

Theta = Letter(
    "Theta", r"\theta", _M,
    lambda descent: array_namespace(descent.theta).stack(
        [descent.theta, descent.P[0], descent.direction]
    ),
)  # fmt: skip
"""The units' incoming weights, biases and outgoing weights, (3, d)."""
moved = Letter("Z", "Z", _M)
s_units = vector_of(
    "s", "s", lambda descent: descent.P[-1],
    r"X_s Z = (s \odot Z_a,\ s \odot Z_c,\ -s \odot Z_b)"
    r"\text{ for incoming weights } Z_a\text{, biases } Z_c\text{ and outgoing weights } Z_b",
)  # fmt: skip
x_in = number_of("x", "x", "step", "x > 0")
row_a = Operation("incoming weights", lambda Z: Z[0], r"{0:atom}_a", gives=_V, takes=(_M,))
row_c = Operation("biases", lambda Z: Z[1], r"{0:atom}_c", gives=_V, takes=(_M,))
row_b = Operation("outgoing weights", lambda Z: Z[2], r"{0:atom}_b", gives=_V, takes=(_M,))
scaled = Operation(
    "X", lambda s, Z: array_namespace(Z).stack([s * Z[0], s * Z[1], -s * Z[2]]),
    r"X_{{{0}}} {1:product}", gives=_M, takes=(_V, _M),
)  # fmt: skip
inner = Operation("inner", lambda A, B: (A * B).sum(), r"\langle {0}, {1}\rangle", takes=(_M, _M))


def contributions(Z: Expression) -> Expression:
    """What the open units contribute at the input x."""
    return named("f({0})", entrywise(row_b(Z), row_a(Z) * x_in + row_c(Z)), Z)


def critical(Z: Expression) -> Expression:
    r"""A loss of the contributions of which :math:`\theta` is a critical point."""
    at_theta = gradient(L(u), u, at=contributions(Theta))
    return named(r"\mathcal L_*({0})", L(contributions(Z)) - dot(at_theta, contributions(Z)), Z)


def hessian(loss: Callable[[Expression], Expression], latex: str, Z: Expression) -> Expression:
    """The Hessian of a loss at the parameters, times a direction."""
    return named(latex, along(gradient(loss(moved), moved), moved, Z, at=Theta), Z)


u = Letter("u", "u", _V)
SLOPE = named(r"\nabla\mathcal L(\theta)", gradient(L(contributions(moved)), moved, at=Theta))
UNITS = "There are d units, each with an incoming weight, a bias and an outgoing weight."
FLAT = [
    NULL_SPACE := theorem(
        "", 130, "contains at least the column space", "scalings lie in the Hessian's null space",
        equal(
            hessian(critical, r"\nabla^2\mathcal L_*(\theta) {0:product}", scaled(s_units, Theta)),
            0,
        ),
        at="Theorem 1, first part",
        also=at(120, "Sect. 3.2", "null space containing at least the column space"),
        remark="The formula is of one hidden layer whose units stay open, at one input x > 0: no"
        " ReLU is left in it. It needs a critical point, not a minimizer. Coq knows the same of"
        " every loss that does not change when units are scaled, at a critical point, whatever the"
        f" network and its depth. {UNITS}",
    ),
    NULL_SPACE.sharpened(
        "every-point", title="the Hessian and a scaling at every point",
        says=equal(
            hessian(
                lambda Z: L(contributions(Z)),
                r"\nabla^2\mathcal L(\theta) {0:product}",
                scaled(s_units, Theta),
            ),
            -scaled(s_units, SLOPE),
        ),
        remark=f"At a critical point the right side is zero. {UNITS}",
    ),
    NULL_SPACE.sharpened(
        "gradient", says=equal(inner(SLOPE, scaled(s_units, Theta)), 0),
        title="no slope along a scaling", remark=UNITS,
    ),
]  # fmt: skip

# The rate, on the diagonal from (1 + x, 1 + x)


def _squared_distance(x: Any) -> Any:
    """From (1 + x, 1 + x) to the hyperbola ab = 1, a > 0: least at (1, 1) while x is at most 1."""
    return 2 * x * x if x <= 1 else (1 + x) * (1 + x) - 2


distance2 = Operation(
    "squared distance", _squared_distance,
    r"\operatorname{{dist}}\big((1 + {0}, 1 + {0}), \{{ab = 1, a > 0\}}\big)^2", takes=(_N,),
)  # fmt: skip
x_0 = number_of("x_0", "x_0", lambda descent: descent.free[0] / 512)
alpha_large = number_of("alpha", r"\alpha", lambda descent: 1 + descent.step, r"\alpha > 1")
x_far = number_of("x_0", "x_0", lambda descent: descent.free[0] / 8)
alpha_small = number_of(
    "alpha", r"\alpha", lambda descent: 1 / (1 + descent.step), r"0 < \alpha < 1"
)


def on_diagonal(alpha: Expression, factor: Expression, start: Expression, steps: int) -> Says:
    """Say that steps from (1 + x, 1 + x) come closer to the minimizers by a factor each."""
    points = iterates("x", start, lambda x: x - alpha * x * (2 + x) * (1 + x), steps)
    return listed(*map(distance2, points[1:])) <= listed(
        *(factor**2 * distance2(point) for point in points[:-1])
    )


closest_next = vector_of(
    "theta_next", r"\theta_{k+1}^*", lambda descent: descent.theta + descent.P[0] / 16
)
NEXT_OFF = named(r"\theta_{k+1}", NEXT) - closest_next
CLOSEST = assume(norm2(NEXT_OFF) <= norm2(STEPPED))

R_SMALL = named("r", absolute(1 - 2 * alpha_small))
EPSILON = named(r"\epsilon", alpha_small * (3 * absolute(x_0) + x_0**2))
RATES = [
    RATE := theorem(
        "/rate", 132, r"\leq(r+\epsilon)||\theta_{k}-\theta^{*}_{k}||",
        "the rate of every step near a scale-invariant manifold",
        on_diagonal(alpha_large, named("r", 2 * alpha_large - 1) + 1, x_far, 2),
        at="Theorem 1, second part", expected=REFUTED, attack=(descent_of(-4, 3),), sizes={},
        remark="For the loss (ab - 1)²/2, α = 4, ϵ = 1 and x₀ = -1/2 the second step fails; from a"
        " nearer start other than 0 some step does. Of the first two points (1, 1) is the closest"
        " minimizer, where λ_max = 2 and r = 2α - 1. The proof breaks at 'Clearly, r < 1', which"
        " says that α < 2/λ_max at θₖ*: L-proof-thm-1/contraction. The theorem's constants depend"
        " on θₖ* as well.",
    ),
    RATE.corrected(
        "any-loss",
        says=norm2(NEXT_OFF) <= (r_positive + epsilon) ** 2 * norm2(OFF),
        title="a step near any manifold of minimizers, each point by its closest minimizer",
        hypotheses=(AT_RATE_R, NEARLY_LINEAR, CLOSEST), sizes=None,
        because=BY_TRIANGLE + CLOSEST.slack,
        remark="The first hypothesis holds with r over the eigenvalues that are not zero where the"
        " null space is the manifold's tangent space, as the theorem assumes, since θₖ - θₖ* is at"
        " a right angle to that (L-proof-thm-1/eq-25/last-line); the second, near a minimizer, for"
        " every loss that is twice continuously differentiable there. Where they hold near one"
        " minimizer with r + ϵ < 1, no step leaves, and so it is for every k (theorem_1_every_step"
        " in theory/coq).",
    ),
    RATE.corrected(
        title="the rate of every step near the hyperbola ab = 1, where r + ϵ is at most one",
        says=on_diagonal(alpha_small, R_SMALL + EPSILON, x_0, 6),
        hypotheses=(assume(R_SMALL + EPSILON <= 1, printed=False),), expected=SUPPORTED,
    ),
]  # fmt: skip

# The proof: (24), (25) and the maximum over nonzero eigenvalues

step = about(
    Kind.DESCENT, "L-proof-thm-1", "App. A, proof of Theorem 1", result="L-steps", form=Form.STEP
)


def _rates(H: Any, alpha: Any) -> list[Any]:
    """|1 - alpha lambda_i| for the eigenvalues that are not zero."""
    kept = nonzero(eigenvalues(H), 2**-40)
    if len(kept) == 0:
        raise ZeroDivisionError("the matrix is zero, so it has no eigenvalue that is not")
    return [abs(1 - alpha * value) for value in kept]


alpha_trace = learning_rate(lambda descent: descent.step / trace_of(descent.hessian))
all_rates = Operation(
    "largest rate", lambda H, alpha: reduce(larger, _rates(H, alpha)),
    r"\max_{{\lambda_i({0}) \ne 0}}|1 - {1:product} \lambda_i({0})|", takes=(_M, _N),
)  # fmt: skip
rate_of_smallest = Operation(
    "rate of the smallest", lambda H, alpha: _rates(H, alpha)[0],
    r"|1 - {1:product} \lambda^*_{{\min}}({0})|", takes=(_M, _N),
)  # fmt: skip
"""That of the smallest eigenvalue that is not zero."""
rate_of_largest = Operation(
    "rate of the largest", lambda H, alpha: _rates(H, alpha)[-1],
    r"|1 - {1:product} \lambda_{{\max}}({0})|", takes=(_M, _N),
)  # fmt: skip
IN_RANGE = H @ x
LARGEST = all_rates(H, alpha_trace)

EXPANSION = [
    step(
        "/eq-24", 507, r"(\theta_{k})-\nabla\mathcal{L}(\theta^{*}_{k}))|| (24)",
        "a step near the manifold, the gradient at the minimizer put in",
        equal(STEPPED, OFF - alpha * (slope_star(theta_k) - slope_star(theta_star))), at="eq. (24)",
        remark="The first line of the display is the definition of the closest minimizer.",
    ),
    step(
        "/eq-25", 512, r"||+\alpha||e_{k}|| (25)",
        "a step near the manifold, split by the triangle inequality",
        norm(STEPPED) <= norm(LINEAR_STEP) + alpha * norm(REST), at="eq. (25)", expected=SUPPORTED,
        remark="By the triangle inequality from L-proof-thm-1/eq-25/exactly.",
    ),
    step(
        "/eq-25/exactly", 512, r"||+\alpha||e_{k}|| (25)", "the vectors whose norms (25) compares",
        equal(STEPPED, LINEAR_STEP - alpha * REST),
        at="eq. (25)", form=Form.SHARPENED, amends="L-proof-thm-1/eq-25",
    ),
    step(
        "/eq-25/last-line", 513, r"\leq\max_{\lambda_{i}\neq 0}",
        "the nonzero eigenvalues bound what happens off the null space",
        norm2(IN_RANGE - alpha_trace * (H @ IN_RANGE)) <= LARGEST**2 * norm2(IN_RANGE),
        at="below eq. (25)", expected=SUPPORTED,
        remark="By L-eq-5-6/rate and L-eq-5-6/rate-fast, which have it as quadratic forms.",
    ),
    step(
        "/maximum", 517, r"\max_{\lambda_{i}\neq 0}|1-\alpha\lambda_{i}|=\max",
        "the maximum of |1 - αx| over the nonzero eigenvalues is at one of the ends",
        LARGEST <= maximum(rate_of_smallest(H, alpha_trace), rate_of_largest(H, alpha_trace)),
        expected=SUPPORTED,
        remark="|1 - αx| is convex in x, and both ends are eigenvalues, so it is an equality.",
    ),
]  # fmt: skip

# The remainder and (26), for (ab - 1)^2/2 near (t, 1/t)

t = number_of("t", "t", free(0), r"t \ne 0")
s = number_of("s", "s", free(1))
s_positive = number_of("s", "s", positive(0), "s > 0")
C = number_of("C", "C", free(2))
C_positive = number_of("C", "C", "step", "C > 0")
y = Letter("y", "y", _V)
NOT_ZERO = assume(t**2 > 0)


def eigenvalue(t: Expression) -> Expression:
    """The eigenvalue at (t, 1/t) that is not zero."""
    return named(r"\lambda", t**2 + 1 / t**2)


def foot(t: Expression) -> Expression:
    """A minimizer."""
    return named(r"\theta_k^*", pair(t, 1 / t))


def near(t: Expression, s: Expression) -> Expression:
    """A point near it, at a right angle to the manifold."""
    return named(r"\theta_k", pair(t + s / t, 1 / t + s * t))


def slope_of_product(point: Expression) -> Expression:
    """The gradient of (ab - 1)^2/2."""
    loss = (first(y) * second(y) - 1) ** 2 / 2
    return named(r"\nabla\mathcal L({0})", gradient(loss, y, at=point), point)


def remainder(t: Expression, s: Expression) -> Expression:
    """What the gradient is beyond the Hessian times the distance."""
    moved = along(slope_of_product(y), y, near(t, s) - foot(t), at=foot(t))
    curved = named(r"\nabla^2\mathcal L(\theta_k^*)(\theta_k - \theta_k^*)", moved)
    return named("e_k", slope_of_product(near(t, s)) - slope_of_product(foot(t)) - curved)


def off(t: Expression, s: Expression) -> Expression:
    """The distance as a vector."""
    return near(t, s) - foot(t)


LAMBDA = eigenvalue(t)
STEP_26 = absolute(1 - alpha * LAMBDA) + alpha * absolute(s) * (1 + LAMBDA + absolute(s))
SECOND_ORDER = s**2 * pair(1 / t, t) - s**2 * (LAMBDA + s) * pair(t, 1 / t)
"""With x and y the two parts of the remainder, |x + y|^2 = 2 |x|^2 + 2 |y|^2 - |x - y|^2."""
AT_C = eigenvalue(C_positive)
EXCESS = AT_C + 4 * (AT_C + s_positive) + AT_C * (
    AT_C / C_positive**2 + 2 * AT_C * s_positive + s_positive**2
)  # fmt: skip
ONE_STEP = [
    REMAINDER := step(
        "/remainder", 509, r"\leq C||\theta_{k}-\theta^{*}_{k}||^{2}",
        "one constant for the remainder along the manifold",
        norm2(remainder(t, s)) <= C**2 * norm2(off(t, s)) ** 2,
        hypotheses=(NOT_ZERO,), form=Form.READING, expected=REFUTED,
        remark="The text has 'for some C', and then δ = ϵ/(αC) for every k. If that is one C for"
        " the whole manifold, every C fails (L-proof-thm-1/remainder/every-constant). Near one"
        " minimizer there is one; along the manifold third derivatives grow like t, so δ depends on"
        " where one starts.",
    ),
    REMAINDER.corrected(
        says=norm2(remainder(t, s))
        <= 2 / LAMBDA * (1 + (LAMBDA + s) ** 2) * norm2(off(t, s)) ** 2,
        title="a constant for the remainder that depends on the place",
        because=norm2(SECOND_ORDER),
    ),
    REMAINDER.sharpened(
        "every-constant", title="the remainder at t = C, where the constant C is too small",
        says=norm2(remainder(C_positive, s_positive))
        > C_positive**2 * norm2(off(C_positive, s_positive)) ** 2,
        hypotheses=(),
        because=s_positive**4 * EXCESS,
        remark="It is so at every distance from the manifold: no constant serves all of it.",
    ),
    step(
        "/eq-26", 521, r"r\cdot||\theta_{k}", "a step near the manifold, with an explicit constant",
        norm2(near(t, s) - alpha * slope_of_product(near(t, s)) - foot(t))
        <= STEP_26**2 * norm2(off(t, s)),
        at="eq. (26)", hypotheses=(NOT_ZERO,), expected=SUPPORTED,
        remark="(26) with an explicit constant, at every point near the manifold and any learning"
        " rate; (24) and (25) are in L-proof-thm-1/eq-24 and L-proof-thm-1/eq-25.",
    ),
]  # fmt: skip

# "Clearly, r < 1", and the induction

d_k = number_of("d_k", "d_k", lambda descent: descent.free[0] ** 2 / 8, r"d_k \ge 0")
r = number_of("r", "r", lambda descent: descent.free[1] / 4)
delta = number_of("delta", r"\delta", lambda descent: descent.free[2] ** 2, r"\delta \ge 0")
C_third = number_of("C", "C", lambda descent: descent.free[3] ** 2 / 8, r"C \ge 0")
x_1 = number_of("x", "x", free(0))
SMALL_RATE = assume(alpha * LAMBDA < 2, printed=False)
FAR = named("t^2", 2 / alpha + x_1**2)
INSIDE, KEPT = assume(d_k <= delta), assume(r + alpha * C_third * delta <= 1)
INSIDE_TERM = d_k * alpha * C_third * INSIDE.slack
NEXT = (r + alpha * C_third * d_k) * d_k

INDUCTION = [
    CLEARLY := step(
        "/contraction", 523, "Clearly,", "the rate r is below one", (1 - alpha * LAMBDA) ** 2 < 1,
        expected=REFUTED,
        remark="At α = t = 1 it is αλ = 2, so r = 1. That α < 2/λ_max is a hypothesis that Theorem"
        " 1 does not have.",
    ),
    CLEARLY.corrected(
        hypotheses=(SMALL_RATE,), because=alpha * LAMBDA * SMALL_RATE.slack,
        title="r is below one for small learning rates",
    ),
    CLEARLY.sharpened(
        "no-rate", says=alpha * (FAR + 1 / FAR) > 2,
        title="no learning rate is small enough along the whole manifold",
        because=alpha * x_1**2 + alpha / FAR,
        remark="So r < 1 at every minimizer holds for no learning rate.",
    ),
    step(
        "/induction", 525, r"\leq\big{(}r+\alpha C\delta\big{)}",
        "a step near the manifold stays in the neighbourhood",
        NEXT <= d_k,
        hypotheses=(INSIDE, KEPT),
        because=INSIDE_TERM + d_k * KEPT.slack,
    ),
    step(
        "/last-display", 529, r"\leq(r+\epsilon)||\theta_{k}-\theta^{*}_{k}||",
        "the rate of a step in the neighbourhood",
        NEXT <= (r + alpha * C_third * delta) * d_k,
        hypotheses=(INSIDE,),
        because=INSIDE_TERM,
        remark="ϵ stands for αCδ.",
    ),
]  # fmt: skip

CLAIMS = [*SCALING, *NETWORKS, *FLAT, *RATES, *EXPANSION, *ONE_STEP, *INDUCTION]
