r"""The remarks of section 3.3: "close to the identity", "always", zero correlation, spectral norm.

After Theorem 3.1.  Taken at W = I, where :math:`y_j = x_j`, "approximately" becomes an equality.
It holds for i = j and :math:`\alpha = \langle x, \hat y\rangle` only, and is the text's own
evidence that this alpha is meant.  What it makes of the sensitivity is zero, not just less: the
layer does not see the scale of its input.  Off the diagonal it falls, because uncorrelated inputs
have :math:`\alpha_{ij} = 0`.

After Theorem 3.2.  "Inserting BatchNorm *always* makes the loss be more Lipschitz" depends on where
the gradient is taken.

- In y it is true for sigma >= 1 and every eps.
- In one weight it falls, however large sigma is: a weight whose gradient is zero without the layer
  need not have gradient zero with it.  Theorem 3.2's factor is below one only for
  :math:`\sigma > |c|^{-1/2} + 1`.  Half of that is enough, and sharp.
- In all weights of the unit it falls: the gradient is, for inputs of mean zero,
  :math:`\frac1\sigma\big(\nabla_W L - \theta\frac{\langle x_i, \bar y\rangle}{|\bar y|^2}
  \langle\bar y, g\rangle\big)_i` with :math:`\bar y` the batch less its mean and
  :math:`\theta = |\hat y|^2/m`, at eps = 0 an oblique projection, of norm at most
  :math:`(\kappa + 1)/(2\sqrt\kappa)` with kappa the condition of the inputs' covariance, if that
  is invertible.

"If \|c\| = 0 then the gradient is zero" holds for the cosine, and for the correlation coefficient
of inputs of mean zero.  "We expect sigma >= 1" is an expectation, no claim.

After Theorem 3.4.  "Bounded element-wise translates into a bound on the spectral norm (and
therefore an improvement)".  A bound: yes, with a factor root of n in front, for n weights.  An
improvement: no.  The entries of k[[1, 1], [1, 1]] are in absolute value k times those of [[1, 1],
[1, -1]], and for k near one its norm is larger.  Networks have such Hessians: a loss quadratic and
stationary at the layer's output,

.. math:: L = \frac12\Big(\|d\|^2 - \frac{1 + \kappa}{m}\langle d, \hat y\rangle^2\Big)

for a deviation d from there.  With the layer its Hessian is :math:`\frac1{\sigma^2}G`, G the inner
products of the brackets :math:`\tilde x_i`; without it, the first input across yhat, only the last
entry is another, :math:`G_{22} - \frac\kappa m a_2^2`, and kappa makes that :math:`-G_{22}`.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from theory.arithmetic import inner, norm_squared
from theory.arithmetic import sqrt as square_root
from theory.batchnorm import centre
from theory.claim import Claim, Form, Hypothesis, Reading
from theory.language.expression import (
    Expression,
    Letter,
    Operation,
    Says,
    Sort,
    along,
    equal,
    named,
    number,
)
from theory.language.operations import absolute, centred, dot, norm2, sqrt
from theory.santurkar2018.chosen import NEARLY_ACROSS, in_directions, leaning, with_hints
from theory.santurkar2018.letters import EPS
from theory.santurkar2018.texts import readings_of, version_1
from theory.santurkar2018.version_1.letters import (
    CENTRED,
    DL,
    DL_K,
    OUTPUT_SLOPE,
    SLOPE,
    SPREAD_OUTPUT,
    X_I_CENTRED,
    bracket,
    by_weights,
    corr,
    cosine,
    g,
    hessian,
    lengths,
    second_derivative,
    tenfold,
    x_i,
    x_k,
)
from theory.santurkar2018.version_1.theorem_3_2 import NOT_ZERO, SHARP
from theory.statement import PROVED, REFUTED, assume
from theory.unit import (
    L,
    Lhat,
    bound,
    eps,
    gamma,
    grad,
    m,
    normalize,
    one,
    sigma,
    variance,
    y,
    yhat,
    z,
)

p, q = dot(x_i, g), dot(x_k, g)
COSINE, ALPHA = cosine(x_i, g), dot(x_i, yhat)


# After Theorem 3.1: W close to the identity.

RESNET = "S-v1-remark-resnet"


def explained(alpha: Expression, x: Expression) -> Says:
    """Say that the square of alpha is that of m times the deviation of x."""
    return equal(alpha**2, m**2 * variance(x))


at_identity = readings_of(
    RESNET,
    (version_1(161, "Sect. 3.3, after Theorem 3.1", r"$\alpha^2 \approx m^2 \sigma(x_i)^2$"),),
    "α at W = I, where the input is the output, ",
    expected=REFUTED, corrected_by=f"{RESNET}/as-used",
)  # fmt: skip
ANY_PAIR = at_identity(
    "/any-pair", explained(ALPHA, x_i), "for two inputs",
    hypotheses=(X_I_CENTRED,), corrected_by=None,
    title="α at W = I, of an input and the output of another",
    remark="The theorem is 'for any i and j'.",
)  # fmt: skip
BOUND = ANY_PAIR.corrected(
    "bound", title="α of an input and any output, bounded by the input's deviation",
    says=ALPHA**2 <= m**2 * variance(x_i),
    hypotheses=(),
    because=norm2(yhat) * norm2(centred(x_i) - ALPHA / norm2(yhat) * yhat)
    + m * eps / sigma**2 * norm2(centred(x_i)),
    remark="The slack is the part of xᵢ that ŷ does not explain, and ϵ.",
)  # fmt: skip
IDENTITY = [
    USED := at_identity(
        "/as-used", explained(dot(y, yhat), y), "as the proofs use it",
        form=Form.PRINTED, expected=PROVED, corrected_by=None,
    ),
    at_identity("/as-defined", explained(dot(y, y), y), "as it is defined"),
    at_identity("/correlation", explained(corr(y, y), y), "a correlation coefficient"),
    ANY_PAIR,
    USED.under(EPS, REFUTED, corrected_by=BOUND.id),
    *BOUND.with_epsilon(PROVED),
    USED.sharpened(
        "no-sensitivity", title="an output's sensitivity at W = I",
        says=equal(
            norm2(named(r"\frac{\partial\hat y_i}{\partial W_{ii}}", along(normalize(y), y, y))), 0
        ),
    ),
    *Claim(
        id=f"{RESNET}/reduction", title="BatchNorm reduces an output's sensitivity",
        locations=(
            version_1(161, "Sect. 3.3, after Theorem 3.1", "leads to reduction of the"),
            version_1(161, "Sect. 3.3, after Theorem 3.1", r"we expect  $\sigma(y_j) \geq 1$"),
        ),
        says=norm2(SLOPE) <= norm2(OUTPUT_SLOPE),
        hypotheses=(SPREAD_OUTPUT,), expected=PROVED,
        because=1 / sigma**2 * norm2(x_i) * SPREAD_OUTPUT.slack
        + 1 / (m * sigma**2) * dot(one, x_i) ** 2
        + (1 + eps / sigma**2) / (m * sigma**2) * ALPHA**2,
        remark="The slack is due to σ² - 1, the mean of x and α; the sensitivity is not reduced"
        " only where xᵢ or all three are zero.",
    ).with_epsilon(PROVED),
]  # fmt: skip

# After Theorem 3.2: always more Lipschitz; no correlation.

ALWAYS = "S-v1-remark-always"
AFTER_3_2 = "Sect. 3.3, after Theorem 3.2"


always = readings_of(
    ALWAYS,
    (version_1(171, AFTER_3_2, "*always* makes the loss be more Lipschitz"),),
    "the loss always more Lipschitz, ",
    expected=REFUTED,
)


def first_input_only(case: Any) -> Any:
    """Give the unit the weights (lambda, 0); lean the second input to the first, losing none."""
    x = case.direction
    return replace(case, y=case.bound * x, other_direction=case.other_direction + 2 * x)


WEIGHTS = assume(
    equal(norm2(y - bound * x_i), 0), first_input_only, printed=False,
    words=r"y = \lambda x_i + 0 x_k",
)  # fmt: skip
WIDE = assume(sigma**2 >= (1 / COSINE + 1) ** 2 / 4, tenfold, printed=False)
x_c, y_c = centred(x_i), centred(y)
LIPSCHITZ = [
    ENTRY := always(
        "/one-weight", DL**2 <= p**2, "in one weight", form=Form.PRINTED,
        hypotheses=(X_I_CENTRED, SPREAD_OUTPUT), attack=NEARLY_ACROSS,
    ),
    VECTOR := always(
        "/all-weights", DL**2 + DL_K**2 <= p**2 + q**2, "in both weights of a unit with two inputs",
        hypotheses=(*CENTRED, WEIGHTS, SPREAD_OUTPUT), corrected_by=f"{ALWAYS}/all-weights/oblique",
        attack=(leaning,),
    ),
    *always(
        "/output", norm2(grad) <= norm2(g), "in the outputs",
        hypotheses=(SPREAD_OUTPUT,), expected=PROVED,
        because=1 / sigma**2 * norm2(g) * SPREAD_OUTPUT.slack
        + 1 / (m * sigma**2) * dot(one, g) ** 2
        + (1 + eps / sigma**2) / (m * sigma**2) * dot(yhat, g) ** 2,
        remark="The slack is due to σ² - 1, to the gradient's mean and to its part along ŷ.",
    ).with_epsilon(PROVED),
    *ENTRY.corrected(
        hypotheses=(NOT_ZERO[g], WIDE),
        because=1 / sigma**2 * p**2 * WIDE.slack + SHARP,
        title="the loss more Lipschitz in one weight, where σ is large",
        remark="The condition is sharp for m ≥ 3, at ϵ = 0.",
    ).with_epsilon(PROVED),
    VECTOR.corrected(
        "oblique", title="the gradient in the weights, by those without BatchNorm",
        says=equal(
            DL,
            1 / sigma
            * (dot(x_c, g) - (1 - eps / sigma**2) * dot(x_c, y_c) / norm2(y_c) * dot(y_c, g)),
        ),
        hypotheses=(), reading=Reading.SHARED_EPSILON,
    ),
]  # fmt: skip


def orthogonal(case: Any, x: Any) -> Any:
    """Give the case a linear loss whose gradient is orthogonal to a vector, and not constant."""
    pattern = np.array([1, 2] + [0] * len(case.y))[: len(case.y)]
    other = case.other_direction + 0 * case.y + pattern
    return case.with_isotropic_loss(norm_squared(x) * other - x * inner(x, other), 0)


NO_COSINE = assume(
    equal(named(r"\cos({0}, {1})", p / lengths(x_i, g), x_i, g), 0),
    lambda case: orthogonal(case, case.direction),
)
NO_CORRELATION = assume(
    equal(corr(x_i, g), 0), lambda case: orthogonal(case, centre(case.direction))
)


zero = readings_of(
    ALWAYS,
    (version_1(171, AFTER_3_2, r"if  $|c_{ij}| = 0$  then"),),
    "no correlation, no gradient, c ",
)
NO_GRADIENT = [
    zero(
        "/zero-cosine", p**2 <= 0, "a cosine", form=Form.PRINTED, hypotheses=(NO_COSINE,),
        because=-p * lengths(x_i, g) * NO_COSINE.slack,
    ),
    PEARSON := zero(
        "/zero-correlation", p**2 <= 0, "a correlation coefficient",
        hypotheses=(NO_CORRELATION, X_I_CENTRED),
        because=-p * lengths(centred(x_i), centred(g)) * NO_CORRELATION.slack
        - p * dot(one, g) * X_I_CENTRED.slack,
    ),
    zero(
        "/zero-correlation-any-mean", p**2 <= 0, "a correlation coefficient, inputs of any mean",
        form=Form.BOUNDARY, hypotheses=(NO_CORRELATION,), expected=REFUTED, corrected_by=PEARSON.id,
    ),
]  # fmt: skip

# After Theorem 3.4: from entries to the spectral norm.


def _spectral(first: Any, off: Any, last: Any) -> Any:
    trace, gap = first + last, square_root((first - last) ** 2 + 4 * off**2)
    return (square_root(trace * trace) + gap) / 2


spectral_norm = Operation(
    "spectral_norm", _spectral,
    r"\left\|\begin{{pmatrix}}{0} & {1}\\ {1} & {2}\end{{pmatrix}}\right\|_2",
    takes=(Sort.NUMBER,) * 3,
)  # fmt: skip
"""The largest absolute value of an eigenvalue of a symmetric matrix of two rows."""
PAIRS = {"ii": (x_i, x_i), "ik": (x_i, x_k), "kk": (x_k, x_k)}
TILDE_K, ALPHA_K = bracket(x_k), dot(x_k, yhat)
KAPPA = named(r"\kappa", 2 * m * norm2(TILDE_K) / ALPHA_K**2)


def bent(d: Expression) -> Expression:
    r"""Return :math:`\frac12\big(\|d\|^2 - \frac{1 + \kappa}m\langle d, \hat y\rangle^2\big)`."""
    return (norm2(d) - (1 + KAPPA) / m * dot(d, yhat) ** 2) / 2


FLIPPED = {
    names: (
        named(f"A_{{{names}}}", second_derivative(lambda w: bent(normalize(w) - yhat), *pair)),
        named(f"B_{{{names}}}", second_derivative(lambda w: bent(w - yhat), *pair, at=yhat)),
    )
    for names, pair in PAIRS.items()
}
"""The entries with and without the layer, for the loss of the module's text."""
ENTRIES = {
    names: (
        named(f"A_{{{names}}}", second_derivative(Lhat, *pair)),
        named(f"B_{{{names}}}", dot(pair[0], hessian(pair[1]))),
    )
    for names, pair in PAIRS.items()
}
"""The same for any loss."""
DIFFERENTIATED = {
    names: by_weights(
        f"{names[0]}j {names[1]}j",
        second_derivative(lambda w: L(z + gamma * (w - y)), *pair),
        Letter("L", r"\mathcal L"),
    )
    for names, pair in PAIRS.items()
}


def part_across(case: Any) -> Any:
    """Take from both inputs the mean, and from the first the part along the batch; stretch that."""
    c, x = centre(case.y), centre(case.direction)
    across = x * norm_squared(c) - c * inner(c, x)
    return replace(
        case, y=case.y * 5 / 4, direction=across, other_direction=centre(case.other_direction)
    )


ACROSS = assume(
    equal(dot(one, x_i) ** 2 + ALPHA**2 + dot(one, x_k) ** 2, 0), part_across, printed=False,
    words=r"x_i \perp \mathbf 1, \hat y,\quad x_k \perp \mathbf 1",
)  # fmt: skip


def smaller(entries: dict[str, tuple[Expression, Expression]]) -> tuple[Hypothesis, ...]:
    """Return that each entry is smaller with the layer than without."""
    return tuple(assume(a**2 < b**2) for a, b in entries.values())


def norms(entries: dict[str, tuple[Expression, Expression]]) -> tuple[Expression, Expression]:
    """Return the spectral norms with and without the layer."""
    with_layer, without = zip(*entries.values(), strict=True)
    return spectral_norm(*with_layer), spectral_norm(*without)


def form_of(first: Expression, off: Expression, last: Expression) -> Expression:
    r"""Return :math:`w^\top Aw` for :math:`w = (1, \lambda)`."""
    return first + 2 * bound * off + bound**2 * last


SMALLER = smaller(ENTRIES)
B_II, B_IK, B_KK = (absolute(b) for _, b in ENTRIES.values())
GAP = sqrt((ENTRIES["ii"][1] - ENTRIES["kk"][1]) ** 2 + 4 * ENTRIES["ik"][1] ** 2)
TRACE = absolute(ENTRIES["ii"][1] + ENTRIES["kk"][1])
FLIPPED_WITH, FLIPPED_WITHOUT = norms(FLIPPED)
SPECTRAL = [
    PRINTED := Claim(
        id="S-v1-remark-spectral", title="smaller entries make a smaller spectral norm",
        locations=(
            version_1(
                183, "Sect. 3.3, after Theorem 3.4",
                "element-wise translates into a bound on the spectral norm",
            ),
            version_1(183, "Sect. 3.3, after Theorem 3.4", "(and therefore an improvement"),
        ),
        says=FLIPPED_WITH < FLIPPED_WITHOUT,
        hypotheses=(ACROSS, *smaller(FLIPPED)), form=Form.READING, expected=REFUTED,
        attack=(in_directions((1, 0, 0), (1, 0, 0)),),
        remark="A and B are the Hessians with and without the layer. The loss is chosen: (‖d‖² - (1"
        " + κ)/m ⟨d, ŷ⟩²)/2 for a deviation d from ŷ.",
    ),
    PRINTED.corrected(
        title="smaller entries make a smaller form of the absolute values",
        says=form_of(*(a for a, _ in ENTRIES.values())) <= form_of(B_II, B_IK, B_KK),
        hypotheses=SMALLER, attack=(),
        because=sum(
            weight / (2 * absolute(b)) * term
            for weight, (a, b), h in zip(
                (number(1), 2 * bound, bound**2), ENTRIES.values(), SMALLER, strict=True
            )
            for term in (h.slack, (absolute(b) - a) ** 2)
        ),
        remark="So the norm of A is at most that of the matrix of |B_ik|; weights of other signs"
        " are inputs of other signs. The Frobenius norm shrinks too, entry by entry.",
    ),
    PRINTED.corrected(
        "root-of-n", title="the form of the absolute values against the spectral norm",
        says=form_of(*map(absolute, DIFFERENTIATED.values())) ** 2
        <= 2 * ((1 + bound**2) * norms(ENTRIES)[1]) ** 2,
        hypotheses=(), attack=(),
        because=TRACE * (1 + bound**2) ** 2 * sqrt(GAP) ** 2
        + 2 * (B_II * bound - B_IK) ** 2
        + (B_II * bound**2 - B_KK) ** 2
        + 2 * bound**2 * (B_IK * bound - B_KK) ** 2,
        remark="So the norm with the layer is at most √n times that without, here with n = 2"
        " weights. Equality at Hadamard matrices.",
    ),
]  # fmt: skip

CLAIMS = with_hints([*IDENTITY, *LIPSCHITZ, *NO_GRADIENT, *SPECTRAL])
