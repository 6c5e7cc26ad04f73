r"""What the first version writes by weights, in letters of one unit's batch.

The unit's output is :math:`y = \sum_i W_{ij} x_i + b`, so :math:`\partial/\partial W_{ij}` of a
function of y is its derivative along :math:`x_i`, a vector of the batch.

The layer of this text has no gamma and beta.  They are given to the loss,
:math:`\mathcal L(\hat y) = L(\gamma\hat y + \beta)`, which loses nothing: its gradient at
:math:`\hat y` is :math:`\gamma g` and its Hessian :math:`\gamma^2 H`.

:math:`\alpha_{ij}` is defined as :math:`\langle x_i, z_j\rangle` in the appendix, called a
correlation, and used as :math:`\langle x_i, \hat y_j\rangle` in every proof; each entry writes out
which it takes.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from theory.batchnorm import centre
from theory.claim import Hypothesis
from theory.language.expression import Expression, Letter, along, equal, gradient, named, number
from theory.language.letters import number_of, vector_of
from theory.language.operations import absolute, average, centred, dot, norm2, sqrt
from theory.language.values import Values
from theory.statement import assume
from theory.unit import H, L, Lhat, beta, bound, gamma, m, normalize, one, sigma, variable, y, yhat
from theory.unit import g as gradient_at_z

x_i = vector_of("x_i", "x_i", "direction")
x_k = vector_of("x_k", "x_k", "other_direction")

g = named(r"\nabla\mathcal L(\hat y)", gamma * gradient_at_z)
r""":math:`\partial\mathcal L/\partial\hat y`, at the layer's output."""
g_at_y = named(r"\nabla\mathcal L(y)", gradient(L(gamma * variable + beta * one), variable, at=y))
"""The same of the network without the layer, whose outputs are y."""
OUTPUT_SLOPE = named(r"\frac{\partial y_j}{\partial W_{ij}}", along(variable, variable, x_i, at=y))
SLOPE = named(r"\frac{\partial\hat y_j}{\partial W_{ij}}", along(normalize(y), y, x_i))
"""By differentiation of the network, like the two below."""
SLOPE_K = named(r"\frac{\partial\hat y_j}{\partial W_{kj}}", along(normalize(y), y, x_k))
any_epsilon = number_of("varepsilon", r"\varepsilon", "bound", r"\varepsilon > 0")
TWO_EPSILONS = "ε is the text's number, ϵ the layer's."
"""A remark on statements that have both."""
LOSS, NORMALIZED_LOSS = Letter("L", r"\mathcal L"), Letter("Lhat", r"\hat{\mathcal L}")
"""Names of functions, for display."""


def by_weights(names: str, body: Expression, function: Letter = NORMALIZED_LOSS) -> Expression:
    r"""Return a derivative by one weight or two, as :math:`\partial_{ij}\hat L` and the like."""
    weights = " ".join(rf"\partial W_{{{{{name}}}}}" for name in names.split())
    top = r"\partial" if " " not in names else r"\partial^2"
    return named(rf"\frac{{{{{top}}}}}{{{{{weights}}}}} {{0:atom}}", body, function)


DL = by_weights("ij", along(Lhat(y), y, x_i))
DL_K = by_weights("kj", along(Lhat(y), y, x_k))


def second_derivative(
    f: Callable[[Expression], Expression], x: Expression, x_k: Expression, at: Expression = y
) -> Expression:
    """Return the second derivative of a function along two vectors, at the batch if not said."""
    return dot(x, along(gradient(f(variable), variable), variable, x_k, at=at))


ENTRY = by_weights("ij kj", second_derivative(Lhat, x_i, x_k))
"""An entry of the Hessian of one unit."""


def hessian(x: Expression) -> Expression:
    r"""Return :math:`\nabla^2\mathcal L(\hat y)\,x`, the loss's own Hessian applied to a vector."""
    return named(r"\nabla^2\mathcal L(\hat y)\,{0:atom}", gamma**2 * H(x), x)


def bracket(x: Expression) -> Expression:
    r"""Return :math:`x - \frac{\alpha}m\hat y`, what the proofs make of an input."""
    return x - dot(x, yhat) / m * yhat


def lengths(x: Expression, y: Expression) -> Expression:
    """Return the product of two norms, as one square root."""
    return sqrt(norm2(x) * norm2(y))


def cosine(x: Expression, y: Expression) -> Expression:
    """Return the absolute value of the cosine of two vectors."""
    return named(r"|\cos({0}, {1})|", absolute(dot(x, y)) / lengths(x, y), x, y)


def corr(x: Expression, y: Expression) -> Expression:
    """Return the correlation coefficient of two batches."""
    x_c, y_c = centred(x), centred(y)
    return named(r"\operatorname{{corr}}({0}, {1})", dot(x_c, y_c) / lengths(x_c, y_c), x, y)


def corr_size(x: Expression, y: Expression) -> Expression:
    """Return its absolute value."""
    x_c, y_c = centred(x), centred(y)
    value = absolute(dot(x_c, y_c)) / lengths(x_c, y_c)
    return named(r"|\operatorname{{corr}}({0}, {1})|", value, x, y)


def below(latex: str, upper: Expression, domain: str) -> Letter:
    """Return a letter for any number between zero and an upper bound."""
    share = upper * (1 / (1 + bound))
    return Letter(latex.strip("\\"), latex, value=lambda unit: Values(unit)[share], domain=domain)


def tenfold(case: Any) -> Any:
    """Multiply the batch by ten, which loses nothing: y is any batch."""
    return replace(case, y=10 * case.y)


X_I_CENTRED = assume(
    equal(average(x_i), 0), impose=lambda case: replace(case, direction=centre(case.direction))
)
"""Used throughout; the text says it of z in Fact C.2, and of the inputs in Lemma 3.3, as "the setup
of Theorem 3.2"."""
X_K_CENTRED = assume(
    equal(average(x_k), 0),
    impose=lambda case: replace(case, other_direction=centre(case.other_direction)),
)
CENTRED = (X_I_CENTRED, X_K_CENTRED)
SPREAD_OUTPUT: Hypothesis = assume(sigma**2 >= number(1))
